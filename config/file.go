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

	"go.yaml.in/yaml/v3"

	"tooldex/catalog/sources"
	"tooldex/internal/sanitize"
	"tooldex/tool"
	"tooldex/upstream"
)

// file is the content of one configuration file. It is not changed after it was read. All is nil for no file.
type file struct {
	values   map[string]any    // as YAML decodes them, lists as []string; by the keys of settings
	lines    map[string]int    // of all keys, by their path; nil for the file of a client
	servers  []upstream.Server // sorted by name
	profiles map[string]Profile
}

// readFile reads the file. A missing file is an error only if its path was given explicitly.
func (l *Loader) readFile() (*file, error) {
	if l.path == "" {
		return &file{}, nil
	}
	b, err := readBounded(l.path)
	if errors.Is(err, fs.ErrNotExist) && !l.explicit {
		return &file{}, nil
	}
	if err != nil {
		return nil, unreadableFile("read configuration", l.path, err)
	}
	return parseFile(l.path, b, l.o.Getenv)
}

// maxFileSize bounds files that people write by hand, in bytes.
const maxFileSize = 16 << 20

// readBounded is os.ReadFile, with an error for a file of more than maxFileSize bytes.
func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	// One byte more than allowed shows that the file is too large, without trusting the size that the file system
	// reports.
	b, err := io.ReadAll(io.LimitReader(f, maxFileSize+1))
	if err == nil && len(b) > maxFileSize {
		err = fmt.Errorf("it has more than %d MiB", maxFileSize>>20)
	}
	return b, err
}

// unreadableFile returns the Invalid error for a file that cannot be read. The path in err is dropped, since the
// message names it.
func unreadableFile(op, path string, err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return &tool.Error{
		Code: tool.Invalid, Op: op, Msg: "file " + path + " cannot be read",
		Hint: "check the path and the file's permissions", Err: err,
	}
}

// parseFile parses a tooldex.yaml, or the file of a client, of which only the servers count. Servers that are tooldex
// itself are left out. Errors are Invalid and name the file, and the line where it is known.
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
	// The file of a client that is connected has tooldex in it.
	out.servers = slices.DeleteFunc(out.servers, IsTooldex)
	return out, nil
}

// IsTooldex reports whether a server is tooldex itself, by the name of its program, which may have a suffix such as
// -dev, and the argument serve. Asking it for its tools would never end.
func IsTooldex(s upstream.Server) bool {
	name := s.Command[strings.LastIndexAny(s.Command, `/\`)+1:]
	rest, ok := strings.CutPrefix(strings.TrimSuffix(name, ".exe"), "tooldex")
	return ok && (rest == "" || rest[0] == '-' || rest[0] == '_') && slices.Contains(s.Args, "serve")
}

// isOwnFormat reports whether a file is a tooldex.yaml, rather than that of a client, which is JSON or TOML. The
// extension decides, and without a known one the first character.
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

// parseClientFormat reads the servers of a client's file. The extension .toml means the form of Codex.
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

// parseOwnFormat parses a tooldex.yaml in these steps: YAML, the schema, the settings, the servers, the profiles. The
// check against the schema comes before decoding into types, since it names the line of a mistake.
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
		err = doc.Decode(&any) // rejects exploding aliases and duplicate keys
	}
	if err != nil {
		return nil, invalidFile(path, "is not YAML: "+sanitize.YAMLMistake(err),
			"see https://yaml.org, or quote what has colons")
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return out, nil
	}
	// The check also records the line of each key, which Origin reports later.
	c := &checker{file: filepath.Base(path), lines: out.lines}
	if err := c.checkNode(doc.Content[0], Schema(), ""); err != nil {
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
		// A file of profiles has the same form, so both go through one parser.
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

// takeSettings stores the values of settings by their keys. Relative paths are relative to dir, the folder of the file.
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
				if s.path && texts[i] != "" {
					texts[i] = resolvePath(dir, texts[i], getenv)
				}
			}
			v = texts
		// Other texts keep their form: assignValue checks them as it does variables and flags.
		case string:
			if s.path && typed != "" {
				v = resolvePath(dir, typed, getenv)
			}
		}
		f.values[s.Key] = v
	}
}

// resolvePath resolves a path in a file: a leading "~" is the home directory, and a relative path is relative to dir.
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

// parseServers parses servers in the form in which clients write them, by way of JSON, which is what package sources
// reads.
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

// invalidFile returns the Invalid error for a mistake in a file as a whole, which has no line.
func invalidFile(path, msg, hint string) error {
	return &tool.Error{Code: tool.Invalid, Op: "read configuration", Msg: filepath.Base(path) + " " + msg, Hint: hint}
}
