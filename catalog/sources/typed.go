package sources

import (
	"fmt"
	"slices"
	"strings"

	"tooldex/upstream"
)

// NewServer returns a server as a person typed it: a name, then a URL or a command with its arguments. The form of the
// second word decides which of the two it is, as long as transport, which may be "", does not contradict it. The error
// is Invalid.
func NewServer(transport string, typed []string) (upstream.Server, error) {
	if len(typed) < 2 {
		return upstream.Server{}, badServers("nothing says how to reach "+typed[0], "add a url, -- and a command, or "+
			"@registry to the name", nil)
	}
	s := upstream.Server{Name: typed[0], Transport: upstream.Transport(transport)}
	if transport != "" &&
		!slices.Contains([]upstream.Transport{upstream.Stdio, upstream.HTTP, upstream.SSE}, s.Transport) {
		return s, badServers(fmt.Sprintf("unknown transport %q", transport), "use stdio, http or sse", nil)
	}
	isURL := strings.HasPrefix(typed[1], "http://") || strings.HasPrefix(typed[1], "https://")
	switch {
	case isURL && s.Transport != upstream.Stdio:
		s.URL = typed[1]
		if len(typed) > 2 {
			return s, badServers(fmt.Sprintf("%q follows the url", typed[2]), "a server at a url takes no arguments", nil)
		}
	case s.Transport == upstream.HTTP || s.Transport == upstream.SSE:
		return s, badServers(fmt.Sprintf("%q is not a url", typed[1]), "give http:// or https://, or leave "+
			"--transport out for a command", nil)
	default:
		s.Command, s.Args = typed[1], slices.Concat(typed[2:]) // nil for none, as it is stored
	}
	return s, nil
}

// ParsePairs splits words at the first sep into names and values; what is said in errors, which are Invalid. With the
// separator =, a word without a value, as in -e VAR, refers to the variable of that name in the environment of tooldex.
// The result is nil if there are no words.
func ParsePairs(words []string, sep, what string) (map[string]string, error) {
	if len(words) == 0 {
		return nil, nil
	}
	out := make(map[string]string, len(words))
	for _, w := range words {
		key, value, ok := strings.Cut(w, sep)
		key = strings.TrimSpace(key)
		switch {
		case key == "" || !ok && sep != "=":
			return nil, badServers(fmt.Sprintf("%s %q has no name", what, w), "give NAME"+sep+"VALUE", nil)
		case !ok:
			value = "${" + key + "}"
		}
		out[key] = strings.TrimSpace(value)
	}
	return out, nil
}
