package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"tooldex/catalog/sources"
	"tooldex/tool"
)

// configFile is what one file says.
type configFile struct {
	values   map[string]any // by the keys of settings
	lines    map[string]int // of all keys, by their path
	servers  []tool.Server  // by name
	profiles map[string]profile
}

// parseConfig reads a configuration: a tooldex.yaml, or the file of a client, of which only the servers count. Servers
// that are tooldex itself are left out. The errors are Invalid and name the place.
func parseConfig(path string, b []byte, getenv func(string) string) (*configFile, error) {
	var out *configFile
	var err error
	if isOwnConfig(path, b) {
		out, err = parseOwnConfig(path, b, getenv)
	} else {
		out, err = parseClientConfig(path, b)
	}
	if err != nil {
		return nil, err
	}
	kept := out.servers[:0]
	for _, s := range out.servers {
		if !isOurselves(s) {
			kept = append(kept, s)
		}
	}
	out.servers = kept
	return out, nil
}

// isOwnConfig tells tooldex.yaml from the files of clients, which are JSON or TOML.
func isOwnConfig(path string, b []byte) bool {
	switch base := strings.ToLower(filepath.Base(path)); filepath.Ext(base) {
	case ".yaml", ".yml":
		return true
	case ".json":
		return base == "tooldex.json"
	case ".jsonc", ".toml":
		return false
	}
	start := bytes.TrimLeft(bytes.TrimPrefix(b, []byte("\ufeff")), " \t\r\n")
	return len(start) == 0 || start[0] != '{' && start[0] != '/'
}

func parseClientConfig(path string, b []byte) (*configFile, error) {
	parse := sources.ParseServers
	if strings.EqualFold(filepath.Ext(path), ".toml") {
		parse = sources.ParseCodex
	}
	servers, err := parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return &configFile{servers: servers}, nil
}

func parseOwnConfig(path string, b []byte, getenv func(string) string) (*configFile, error) {
	out := &configFile{values: map[string]any{}, lines: map[string]int{}}
	var doc yaml.Node
	var tree struct {
		Servers    map[string]any       `yaml:"servers"`
		MCPServers map[string]any       `yaml:"mcpServers"`
		Profiles   map[string]yaml.Node `yaml:"profiles"`
		Rest       map[string]any       `yaml:",inline"`
	}
	dec := yaml.NewDecoder(bytes.NewReader(b))
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) { // only comments
		return out, nil
	}
	if err == nil {
		var any any
		err = doc.Decode(&any) // refuses what grows without bounds, or has a key twice
	}
	if err != nil {
		return nil, badConfig(path, "is not YAML: "+tool.YAMLMistake(err),
			"see https://yaml.org, or quote what has colons")
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return out, nil
	}
	c := &checker{file: filepath.Base(path), lines: out.lines}
	if err := c.check(doc.Content[0], configSchema(), ""); err != nil {
		return nil, err
	}
	if err := doc.Decode(&tree); err != nil {
		return nil, badConfig(path, tool.YAMLMistake(err), "tooldex config schema describes the file")
	}
	out.settle(tree.Rest, filepath.Dir(path), getenv)
	if tree.Servers != nil && tree.MCPServers != nil {
		return nil, badConfig(path, "has servers and mcpServers", "put all of them under servers")
	}
	if tree.MCPServers != nil {
		tree.Servers = tree.MCPServers
	}
	if out.servers, err = configServers(tree.Servers); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	if len(tree.Profiles) > 0 {
		text, err := yaml.Marshal(map[string]any{"profiles": tree.Profiles})
		if err == nil {
			out.profiles, err = parseProfiles(text)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
	}
	return out, nil
}

// settle takes the settings over from what was read, by their keys. Paths are made those seen from the file's folder.
func (f *configFile) settle(tree map[string]any, dir string, getenv func(string) string) {
	for _, s := range settings() {
		var v any = tree
		for step := range strings.SplitSeq(s.key, ".") {
			m, _ := v.(map[string]any)
			v = m[step]
		}
		switch v := v.(type) {
		case nil:
		case []any:
			texts := make([]string, len(v))
			for i, e := range v {
				texts[i] = fmt.Sprint(e)
			}
			f.values[s.key] = texts
		case string:
			if s.path && v != "" {
				v = seenFrom(dir, v, getenv)
			}
			f.values[s.key] = v
		case float64:
			f.values[s.key] = strconv.FormatFloat(v, 'g', -1, 64)
		default:
			f.values[s.key] = v
		}
	}
}

// seenFrom makes a path of a file absolute: "~" is the home directory, and others begin at the file's folder.
func seenFrom(dir, path string, getenv func(string) string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) {
		if home := homeDir(getenv); home != "" {
			return filepath.Join(home, rest)
		}
	}
	if !filepath.IsAbs(path) {
		return filepath.Join(dir, path)
	}
	return path
}

// configServers reads servers as the catalogue does.
func configServers(servers map[string]any) ([]tool.Server, error) {
	if servers == nil {
		return nil, nil
	}
	b, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		return nil, &tool.Error{
			Code: tool.Invalid, Op: "read configuration", Msg: "the servers cannot be read",
			Hint: "keys are texts", Err: err,
		}
	}
	return sources.ParseServers(b)
}

func badConfig(path, msg, hint string) error {
	return &tool.Error{Code: tool.Invalid, Op: "read configuration", Msg: filepath.Base(path) + " " + msg, Hint: hint}
}
