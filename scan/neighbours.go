package scan

import (
	"slices"
	"strings"

	"tooldex/tool"
)

// neighbours indexes the tools of all servers by what their names look like. Only add changes it.
type neighbours struct {
	names   map[string]*namesakes // by folded name
	looks   map[string][]string   // folded names, by their appearance
	joined  map[string]ref        // by server and name, folded together, as in github_create_issue
	shapes  map[string][]string   // folded names, by shape; only those of leastShape bytes and more
	servers map[string][]string   // names of servers as they are, by appearance of the folded name
	lower   map[string][]string   // the same, by the name in lower case
	slips   map[string][]string   // folded names of servers, by themselves and by what each is without one byte
	// server is the server of the tool that was added last, and folded its folded name: the tools of a server mostly
	// follow each other.
	server, folded string
}

// namesakes are the tools of one folded name, which many servers may have.
type namesakes struct {
	refs      []ref
	servers   map[string]bool // of refs; nil while they are few
	spellings []string        // of the name
}

// fewNamesakes is how many namesakes are looked through one by one. Most names are those of one tool.
const fewNamesakes = 8

// add adds a tool.
func (s *namesakes) add(r ref) {
	s.refs = append(s.refs, r)
	switch {
	case s.servers != nil:
		s.servers[r.server] = true
	case len(s.refs) > fewNamesakes:
		s.servers = make(map[string]bool, 2*fewNamesakes)
		for _, r := range s.refs {
			s.servers[r.server] = true
		}
	}
}

// has reports whether one of the tools is of a server.
func (s *namesakes) has(server string) bool {
	if s.servers != nil {
		return s.servers[server]
	}
	return slices.ContainsFunc(s.refs, func(r ref) bool { return r.server == server })
}

// ref names a tool.
type ref struct{ server, name string }

// String returns the tool's ID.
func (r ref) String() string { return r.server + "/" + r.name }

// newNeighbours returns the names of the known tools, indexed in every way in which they are compared.
func newNeighbours(known []*tool.Tool) neighbours {
	n := neighbours{
		names: make(map[string]*namesakes, len(known)), looks: make(map[string][]string, len(known)),
		joined: make(map[string]ref, len(known)), shapes: map[string][]string{}, servers: map[string][]string{},
		lower: map[string][]string{}, slips: map[string][]string{},
	}
	n.add(known)
	return n
}

// add adds tools that are not known yet.
func (n *neighbours) add(tools []*tool.Tool) {
	for _, t := range tools {
		if n.server != t.Server || n.folded == "" {
			n.noteServer(t.Server)
		}
		r, f := ref{t.Server, t.Name}, tool.Fold(t.Name)
		same := n.names[f]
		if same == nil {
			same = &namesakes{}
			n.names[f] = same
		}
		same.add(r)
		n.joined[n.folded+f] = r
		if slices.Contains(same.spellings, t.Name) { // another spelling of a known name may look otherwise
			continue
		}
		same.spellings = append(same.spellings, t.Name)
		for _, look := range nameAppearances(t.Name) {
			if !slices.Contains(n.looks[look], f) {
				n.looks[look] = append(n.looks[look], f)
			}
		}
		if len(f) >= leastShape {
			if s := nameShape(t.Name); !slices.Contains(n.shapes[s], f) {
				n.shapes[s] = append(n.shapes[s], f)
			}
		}
	}
}

// noteServer enters the server of a tool, unless it is there.
func (n *neighbours) noteServer(server string) {
	n.server, n.folded = server, tool.Fold(server)
	for i, a := range nameAppearances(server) {
		if slices.Contains(n.servers[a], server) {
			continue
		}
		n.servers[a] = append(n.servers[a], server)
		if i == 0 {
			low := strings.ToLower(server)
			n.lower[low] = append(n.lower[low], server)
			n.addServer(n.folded)
		}
	}
}

// addServer enters the folded name of a server in slips, unless it is there.
func (n *neighbours) addServer(server string) {
	if slices.Contains(n.slips[server], server) {
		return
	}
	n.slips[server] = append(n.slips[server], server)
	for i := range len(server) {
		short := server[:i] + server[i+1:]
		if list := n.slips[short]; len(list) == 0 || list[len(list)-1] != server { // a double letter gives it twice
			n.slips[short] = append(list, server)
		}
	}
}

// leastShape is the least length of a folded name for which a slip is suspicious: short names differ by one letter by
// chance.
const leastShape = 9

// nameShape returns what stays the same when two letters of a name are swapped or a double one is written once: the
// distinct letters of each word, sorted. Names of the same shape are candidates for slip.
func nameShape(name string) string {
	words := strings.Fields(strings.ToLower(spacedName(name)))
	for i, w := range words {
		letters := []rune(w)
		slices.Sort(letters)
		words[i] = string(slices.Compact(letters))
	}
	return strings.Join(words, " ")
}

// hasTool reports whether a server has a tool of this folded name.
func (n *neighbours) hasTool(server, folded string) bool {
	same := n.names[folded]
	return same != nil && same.has(server)
}

// checkNames checks the names of the tool and its server: for hidden characters, mixed scripts, and other tools' or
// servers' names that they resemble. A pair of which one server has both names is not reported.
func (w *work) checkNames() {
	t, n := w.t, &w.s.near
	for _, s := range []struct{ field, name string }{{"server", t.Server}, {"name", t.Name}} {
		if !hasUnusualByte(s.name) {
			continue
		}
		if tr := countHidden(s.name); tr.isSuspicious() {
			w.addFinding("hidden", s.field, s.name)
		}
		if hasMixedScript(s.name) {
			w.addFinding("mixed", s.field, s.name)
		}
	}
	server, f := tool.Fold(t.Server), tool.Fold(t.Name)
	var alike []string
	for _, a := range nameAppearances(t.Server) {
		alike = append(alike, n.servers[a]...)
	}
	if i := slices.IndexFunc(alike, func(o string) bool { return tool.Fold(o) != server }); i >= 0 {
		w.addFinding("lookalike", "server", t.Server+" looks like "+alike[i])
	} else if other := n.closeServer(server); other != "" {
		w.addFinding("similar", "server", t.Server+" is almost "+other)
	}
	for _, a := range nameAppearances(t.Name) {
		for _, o := range n.looks[a] {
			if r, ok := n.stranger(t.Server, f, o); ok {
				w.addFinding("lookalike", "name", t.Name+" looks like "+r.String())
				return
			}
		}
	}
	if r, ok := n.joined[f]; ok && r.server != t.Server && !strings.Contains(server, tool.Fold(r.server)) {
		w.addFinding("impersonates", "name", t.Name+" reads as "+r.String())
		return
	}
	if len(f) < leastShape {
		return
	}
	for _, o := range n.shapes[nameShape(t.Name)] {
		if !isSlip(f, o) {
			continue
		}
		if r, ok := n.stranger(t.Server, f, o); ok {
			w.addFinding("similar", "name", t.Name+" is almost "+r.String())
			return
		}
	}
}

// stranger returns a tool of the folded name other on a server that has no tool of the name folded, for a server that
// has the latter only.
func (n *neighbours) stranger(server, folded, other string) (ref, bool) {
	if other == folded || n.hasTool(server, other) {
		return ref{}, false
	}
	for _, r := range n.names[other].refs {
		if r.server != server && !n.hasTool(r.server, folded) {
			return r, true
		}
	}
	return ref{}, false
}

// hasMixedScript reports whether a word of a name has letters of another script that look like Latin ones among Latin
// ones.
func hasMixedScript(name string) bool {
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool {
		return r == '_' || r == '-' || r == ' ' || r == '.'
	}) {
		if mixesScripts(word) {
			return true
		}
	}
	return false
}

// closeServer returns a known server whose folded name is that of server but for one letter, "" if there is none. Names
// that differ in a digit are versions of one server, and names below six bytes are too short to judge.
func (n *neighbours) closeServer(server string) string {
	if len(server) < 6 {
		return ""
	}
	closest, own := "", digitsOf(server)
	for i := range len(server) + 1 {
		short := server
		if i < len(server) {
			short = server[:i] + server[i+1:]
		}
		for _, other := range n.slips[short] {
			if other != server && (closest == "" || other < closest) && isSlip(server, other) && digitsOf(other) == own {
				closest = other
			}
		}
	}
	return closest
}

// digitsOf returns the ASCII digits of s.
func digitsOf(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, s)
}

// isSlip reports whether one letter changed, added or left out, or two letters swapped, make a out of b. A letter more
// at the end does not count, since it makes a plural. It compares bytes.
func isSlip(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	i := 0
	for i < len(b) && a[i] == b[i] {
		i++
	}
	switch len(a) - len(b) {
	case 0:
		return i < len(b) && (a[i+1:] == b[i+1:] || i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] &&
			a[i+2:] == b[i+2:])
	case 1:
		return i < len(b) && a[i+1:] == b[i:]
	}
	return false
}
