package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// The npm package tooldex has a launcher alone. The program for a platform is in a package of its own, of which npm
// installs the one that fits, without a script.

//go:embed launcher.js
var launcher []byte

// npmManifest is a package.json.
type npmManifest struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Description string            `json:"description"`
	Licence     string            `json:"license"`
	Bin         map[string]string `json:"bin,omitempty"`
	OS          []string          `json:"os,omitempty"`
	CPU         []string          `json:"cpu,omitempty"`
	Engines     map[string]string `json:"engines,omitempty"`
	Optional    map[string]string `json:"optionalDependencies,omitempty"`
}

// npmName returns the name of the package with the program for p, and npm's names of its system and processor.
func npmName(p platform) (name, system, processor string) {
	system, processor = p.os, p.arch
	if system == "windows" {
		system = "win32"
	}
	if processor == "amd64" {
		processor = "x64"
	}
	return "tooldex-" + system + "-" + processor, system, processor
}

// writeNPMProgram writes the package with the program for p into out.
func (s source) writeNPMProgram(p platform, out string, archive []entry, at time.Time) error {
	name, system, processor := npmName(p)
	var has []entry
	for _, f := range archive {
		switch f.name {
		case p.program():
			f.name = "bin/" + f.name
		case "LICENSE", "NOTICE", "THIRD_PARTY":
		default:
			continue
		}
		has = append(has, f)
	}
	return s.writeNPM(out, npmManifest{
		Name: name, Description: about + ", for " + p.String(), OS: []string{system}, CPU: []string{processor},
	}, has, at)
}

// writeNPMLauncher writes the package tooldex into out, which asks for those of ps.
func (s source) writeNPMLauncher(out string, at time.Time, ps ...platform) error {
	m := npmManifest{
		Name: "tooldex", Description: about, Bin: map[string]string{"tooldex": "launcher.js"},
		Engines: map[string]string{"node": ">=18"}, Optional: map[string]string{},
	}
	for _, p := range ps {
		name, _, _ := npmName(p)
		m.Optional[name] = packageVersion(s.version)
	}
	has := []entry{{"launcher.js", 0o755, launcher}}
	for _, name := range []string{"LICENSE", "README.md"} {
		text, err := os.ReadFile(filepath.Join(s.dir, name))
		if err != nil {
			return err
		}
		has = append(has, entry{name, 0o644, text})
	}
	return s.writeNPM(out, m, has, at)
}

// writeNPM writes a package as "npm pack" names it.
func (s source) writeNPM(out string, m npmManifest, has []entry, at time.Time) error {
	m.Version, m.Licence = packageVersion(s.version), licenceID
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	all := []entry{{"package/package.json", 0o644, append(text, '\n')}}
	for _, f := range has {
		f.name = path.Join("package", f.name)
		all = append(all, f)
	}
	var b bytes.Buffer
	if err := writeTar(&b, all, at); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, strings.Join([]string{m.Name, m.Version}, "-")+".tgz"), b.Bytes(), 0o644)
}
