package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // registers the format
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// about is what packages say of the program.
const (
	about     = "Find the right tool for an agent among those of many MCP servers"
	licenceID = "Apache-2.0"
)

// semantic matches a version that every packager accepts.
var semantic = regexp.MustCompile(`^v?(\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?)$`)

// packageVersion returns a version as packages need it: numbers first, so that 0.0.0-VERSION stands for the version of
// a build without a tag.
func packageVersion(version string) string {
	if m := semantic.FindStringSubmatch(version); m != nil {
		return m[1]
	}
	return "0.0.0-" + strings.Trim(regexp.MustCompile(`[^0-9A-Za-z]+`).ReplaceAllString(version, "-"), "-")
}

// systemPath returns where a file of an archive lies when a package of the format has installed it, "" for nowhere.
func systemPath(format, name string) string {
	zsh := "/usr/share/zsh/site-functions/_tooldex"
	if format == "deb" {
		zsh = "/usr/share/zsh/vendor-completions/_tooldex"
	}
	switch name {
	case "tooldex":
		return "/usr/bin/tooldex"
	case "tooldex.service":
		return "/usr/lib/systemd/system/tooldex.service"
	case "completions/tooldex.bash":
		return "/usr/share/bash-completion/completions/tooldex"
	case "completions/tooldex.fish":
		return "/usr/share/fish/vendor_completions.d/tooldex.fish"
	case "completions/tooldex.zsh":
		return zsh
	case "completions/tooldex.powershell":
		return ""
	case "LICENSE":
		if format == "deb" {
			return "/usr/share/doc/tooldex/copyright" // where Debian looks for it
		}
	}
	return "/usr/share/doc/tooldex/" + name
}

// writePackages writes packages for Debian and for Red Hat into out, with the files of the archive.
func (s source) writePackages(p platform, work, out, name string, archive []entry, at time.Time) error {
	for _, format := range []string{"deb", "rpm"} {
		var contents files.Contents
		for _, f := range archive {
			to := systemPath(format, f.name)
			if to == "" {
				continue
			}
			if f.name == "tooldex.service" {
				f.data = bytes.ReplaceAll(f.data, []byte("/usr/local/bin/"), []byte("/usr/bin/"))
			}
			from := filepath.Join(work, format, filepath.FromSlash(to))
			if err := os.MkdirAll(filepath.Dir(from), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(from, f.data, f.mode); err != nil {
				return err
			}
			contents = append(contents, &files.Content{
				Source: from, Destination: to, FileInfo: &files.ContentFileInfo{Mode: f.mode, MTime: at},
			})
		}
		info := nfpm.WithDefaults(&nfpm.Info{
			Name: "tooldex", Arch: p.arch, Platform: p.os, Version: packageVersion(s.version), Section: "utils",
			Priority: "optional", Maintainer: "the tooldex developers <tooldex@localhost>", Description: about,
			License: licenceID, MTime: at, DisableGlobbing: true,
			Overridables: nfpm.Overridables{Contents: contents, RPM: nfpm.RPM{BuildHost: "localhost", Group: "Applications"}},
		})
		packager, err := nfpm.Get(format)
		if err != nil {
			return err
		}
		if err := nfpm.PrepareForPackager(info, format); err != nil {
			return fmt.Errorf("package %s: %w", format, err)
		}
		var b bytes.Buffer
		if err := packager.Package(info, &b); err != nil {
			return fmt.Errorf("package %s: %w", format, err)
		}
		if err := os.WriteFile(filepath.Join(out, name+"."+format), b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}
