package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"tooldex/catalog/sources"
	"tooldex/internal/sanitize"
	"tooldex/tool"
	"tooldex/upstream"
)

// file is the content of one configuration file.
type file struct {
	values   map[string]any    // by the keys of settings
	lines    map[string]int    // of all keys, by their path
	servers  []upstream.Server // sorted by name
	profiles map[string]Profile
}

// readFile reads the file. One that was not asked for may be missing.
func (l *Loader) readFile() (*file, error) {
	if l.path == "" {
		return &file{}, nil
	}
	b, err := readBounded(l.path)
	if errors.Is(err, fs.ErrNotExist) && !l.explicit {
		return &file{}, nil
	}
	if err != nil {
		return nil, unreadable("read configuration", l.path, err)
	}
	return parseFile(l.path, b, l.o.Getenv)
}

// maxFileSize bounds what is read of a file that people write by hand, in bytes.
const maxFileSize = 16 << 20

// readBounded is os.ReadFile for such a file.
func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, maxFileSize+1))
	if err == nil && len(b) > maxFileSize {
		err = fmt.Errorf("it has more than %d MiB", maxFileSize>>20)
	}
	return b, err
}

// unreadable is the error of a file that cannot be read.
func unreadable(op, path string, err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return &tool.Error{
		Code: tool.Invalid, Op: op, Msg: "file " + path + " cannot be read",
		Hint: "check the path and the file's permissions", Err: err,
	}
}

// parseFile reads a configuration: a tooldex.yaml, or the file of a client, of which only the servers count. Servers
// that are tooldex itself are left out. The errors are Invalid and name the place.
func parseFile(path string, b []byte, getenv func(string) string) (*file, error) {
	var out *file
	var err error
	if isOwnFormat(path, b) {
		out, err = parseOwnFormat(path, b, getenv)
	} else {
		out, err = parseClientFormat(path, b)
	}
	if err != nil {
		return nil, err
	}
	out.servers = slices.DeleteFunc(out.servers, IsTooldex)
	return out, nil
}

// IsTooldex reports whether a server is tooldex itself: asking it for its tools would never end.
func IsTooldex(s upstream.Server) bool {
	name := s.Command[strings.LastIndexAny(s.Command, `/\`)+1:]
	rest, ok := strings.CutPrefix(strings.TrimSuffix(name, ".exe"), "tooldex")
	return ok && (rest == "" || rest[0] == '-' || rest[0] == '_') && slices.Contains(s.Args, "serve")
}

// isOwnFormat reports whether a file is a tooldex.yaml, rather than that of a client, which is JSON or TOML.
func isOwnFormat(path string, b []byte) bool {
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

func parseClientFormat(path string, b []byte) (*file, error) {
	parse := sources.ParseServers
	if strings.EqualFold(filepath.Ext(path), ".toml") {
		parse = sources.ParseCodex
	}
	servers, err := parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return &file{servers: servers}, nil
}

func parseOwnFormat(path string, b []byte, getenv func(string) string) (*file, error) {
	out := &file{values: map[string]any{}, lines: map[string]int{}}
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
		return nil, invalidFile(path, "is not YAML: "+sanitize.YAMLMistake(err),
			"see https://yaml.org, or quote what has colons")
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return out, nil
	}
	c := &checker{file: filepath.Base(path), lines: out.lines}
	if err := c.check(doc.Content[0], Schema(), ""); err != nil {
		return nil, err
	}
	if err := doc.Decode(&tree); err != nil {
		return nil, invalidFile(path, sanitize.YAMLMistake(err), "tooldex config schema describes the file")
	}
	out.takeSettings(tree.Rest, filepath.Dir(path), getenv)
	if tree.Servers != nil && tree.MCPServers != nil {
		return nil, invalidFile(path, "has servers and mcpServers", "put all of them under servers")
	}
	if tree.MCPServers != nil {
		tree.Servers = tree.MCPServers
	}
	if out.servers, err = parseServers(tree.Servers); err != nil {
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

// takeSettings keeps the values of settings, by their keys. Relative paths begin at dir.
func (f *file) takeSettings(tree map[string]any, dir string, getenv func(string) string) {
	for _, s := range Settings() {
		var v any = tree
		for step := range strings.SplitSeq(s.Key, ".") {
			m, _ := v.(map[string]any)
			v = m[step]
		}
		switch typed := v.(type) {
		case nil:
			continue
		case []any:
			texts := make([]string, len(typed))
			for i, e := range typed {
				texts[i] = fmt.Sprint(e)
			}
			v = texts
		case string:
			if s.path && typed != "" {
				v = resolvePath(dir, typed, getenv)
			}
		}
		f.values[s.Key] = v
	}
}

// resolvePath makes a path of a file absolute: "~" is the home directory, and others begin at the file's folder.
func resolvePath(dir, path string, getenv func(string) string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) {
		if home := HomeDir(getenv); home != "" {
			return filepath.Join(home, rest)
		}
	}
	if !filepath.IsAbs(path) {
		return filepath.Join(dir, path)
	}
	return path
}

// parseServers reads servers in the form in which clients write them.
func parseServers(servers map[string]any) ([]upstream.Server, error) {
	if servers == nil {
		return nil, nil
	}
	b, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		return nil, &tool.Error{
			Code: tool.Invalid, Op: "read configuration", Msg: "the servers cannot be read",
			Hint: "use texts as keys", Err: err,
		}
	}
	return sources.ParseServers(b)
}

func invalidFile(path, msg, hint string) error {
	return &tool.Error{Code: tool.Invalid, Op: "read configuration", Msg: filepath.Base(path) + " " + msg, Hint: hint}
}
