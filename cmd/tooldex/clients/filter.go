package clients

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"tooldex/config"
)

// Filter says which tools of a server its client shows. The zero Filter shows all.
type Filter struct {
	// Only holds the names of the tools that are shown, Hidden those of tools that are not; a star stands for any
	// characters. An empty Only shows all.
	Only, Hidden []string
	Keys         []string // of the server's entry, by which it says so
}

// none reports whether the filter shows every tool.
func (f Filter) none() bool { return len(f.Only)+len(f.Hidden) == 0 }

// The keys by which clients' entries list the tools that are shown, and those that are hidden.
var (
	onlyKeys   = []string{"enabled_tools", "enabledTools", "includeTools", "include_tools", "available_tools", "tools"}
	hiddenKeys = []string{"disabled_tools", "disabledTools", "excludeTools", "exclude_tools"}
)

// entryFilter returns the filter that a server's entry has. The error is for one that cannot be understood.
func (d Dialect) entryFilter(value any) (Filter, error) {
	m, _ := value.(map[string]any)
	var out Filter
	for _, key := range slices.Concat(onlyKeys, hiddenKeys) {
		given, ok := m[key]
		if !ok {
			continue
		}
		if given == nil {
			out.Keys = append(out.Keys, key)
			continue
		}
		names, isList := textList(given)
		if !isList && key == "tools" { // what Codex calls so has settings of single tools
			continue
		} else if !isList {
			return out, errors.New(key + " is not a list of tools")
		}
		out.Keys = append(out.Keys, key)
		for i, name := range names { // Gemini allows name(arguments)
			names[i], _, _ = strings.Cut(name, "(")
		}
		switch {
		case slices.Contains(hiddenKeys, key):
			out.Hidden = append(out.Hidden, names...)
		case len(names) > 0:
			out.Only = append(out.Only, names...)
		case d != Goose: // to which an empty list means all
			out.Hidden = append(out.Hidden, "*")
		}
	}
	return out, nil
}

// textList returns a list of texts, and false for anything else. The caller owns the list.
func textList(value any) ([]string, bool) {
	items, ok := value.([]any)
	out := make([]string, 0, len(items))
	for _, item := range items {
		text, isText := item.(string)
		ok = ok && isText
		out = append(out, text)
	}
	return out, ok
}

// separateFilter adds to f what the client says of a server's tools elsewhere than in its entry: in its permissions, or
// for opencode in its list of tools. The error is for what a filter cannot say.
func (d *Document) separateFilter(tree map[string]any, server string, f *Filter) error {
	for _, rule := range d.Denied {
		rest, ok := strings.CutPrefix(rule, "mcp__"+safeName(server))
		if ok && rest == "" {
			f.Hidden = append(f.Hidden, "*")
		} else if name, ok := strings.CutPrefix(rest, "__"); ok && name != "" {
			f.Hidden = append(f.Hidden, name)
		}
	}
	if d.Dialect != OpenCode {
		return nil
	}
	prefix := safeName(server) + "_"
	elsewhere := errors.New("the file's tools say what a profile of tooldex cannot: which agents have its tools")
	for _, section := range []string{"agent", "mode"} {
		agents, _ := tree[section].(map[string]any)
		for _, agent := range agents {
			tools, _ := childOf(agent, "tools").(map[string]any)
			for pattern := range tools {
				if concernsTools(pattern, prefix) {
					return elsewhere
				}
			}
		}
	}
	shown := false
	tools, _ := tree["tools"].(map[string]any)
	for _, pattern := range sortedKeys(tools) {
		name, ok := strings.CutPrefix(pattern, prefix)
		switch {
		case !concernsTools(pattern, prefix):
		case tools[pattern] != false:
			shown = true
		case ok:
			f.Hidden = append(f.Hidden, name)
		default: // a star stands for a part of the server's name, too
			f.Hidden = append(f.Hidden, pattern[strings.IndexByte(pattern, '*'):])
		}
	}
	if shown && len(f.Hidden) > 0 {
		return elsewhere
	}
	return nil
}

// concernsTools reports whether a pattern of opencode is about tools whose names begin with prefix. A star alone, which
// is about tooldex's tools as well, does not count.
func concernsTools(pattern, prefix string) bool {
	literal, _, starred := strings.Cut(pattern, "*")
	return pattern != "*" &&
		(strings.HasPrefix(pattern, prefix) || starred && strings.HasPrefix(prefix, literal) && literal != "")
}

var unsafeInName = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// safeName returns a server's name as clients write it into the names of its tools.
func safeName(server string) string { return unsafeInName.ReplaceAllString(server, "_") }

// readDenied returns the rules of permissions.deny of the files that exist. The error is Invalid.
func readDenied(paths []string) ([]string, error) {
	var out []string
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var file struct {
			Permissions struct {
				Deny []string `json:"deny"`
			} `json:"permissions"`
		}
		if err == nil {
			err = json.Unmarshal(jsonPlain(text), &file)
		}
		if err != nil {
			return nil, readError(path, err)
		}
		out = append(out, file.Permissions.Deny...)
	}
	return out, nil
}

// ProfileChange is what connecting a client changes in its profile, which keeps its filters of tools.
type ProfileChange struct {
	Name   string          `json:"name"`
	Before *config.Profile `json:"before"` // nil: there was none
}

// addFilter adds the filter of a server to a profile, in place of what the profile has for it.
func addFilter(p config.Profile, server string, f Filter) config.Profile {
	others := func(patterns []string) []string {
		return slices.DeleteFunc(slices.Clone(patterns), func(pattern string) bool {
			name, _, _ := strings.Cut(pattern, "/")
			return name == server
		})
	}
	p.Tools, p.Hidden = others(p.Tools), others(p.Hidden)
	for _, name := range f.Only {
		p.Tools = append(p.Tools, server+"/"+name)
	}
	for _, name := range f.Hidden {
		p.Hidden = append(p.Hidden, server+"/"+name)
	}
	return p
}
