package clients

import (
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"tooldex/config"
	"tooldex/upstream"
)

// The states of a server that was found in a client's file: what an import does with it. Only new and replaced servers
// are stored.
const (
	StateNew      = "new"
	StateKnown    = "known"          // it is stored already, configured alike
	StateReplaced = "replaced"       // it replaces the stored one
	StateDiffers  = "differs"        // the stored one of that name is configured otherwise, and stays
	StateUnusable = "unusable"       // Found.Why says why
	StateStays    = "stays"          // it stays with the client; Found.Why says why
	StateSelf     = "tooldex itself" // asking it for its tools would never end
)

// Found is a server of a client's file, and what an import does with it.
type Found struct {
	Server string   `json:"server"`
	As     string   `json:"as,omitempty"` // its name in tooldex, if that is another
	Client string   `json:"client"`
	File   string   `json:"file"`
	State  string   `json:"state"`            // one of the states above
	Target string   `json:"target,omitempty"` // the command line or the URL
	Why    string   `json:"why,omitempty"`    // why it is unusable, or stays
	Lost   []string `json:"lost,omitempty"`   // keys of the entry that will have no effect

	Entry Entry `json:"-"`
}

// KeepFailed marks the servers of a plan that do not start here, by the reasons in failed, as staying with the client,
// and returns those of servers that are left to store.
func KeepFailed(list []Found, servers []upstream.Server, failed map[string]error) []upstream.Server {
	for i, f := range list {
		switch f.State {
		case StateNew, StateReplaced, StateKnown:
			if err := failed[f.Entry.Server.Name]; err != nil {
				list[i].State, list[i].Why = StateStays, "it does not start here: "+err.Error()
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(servers), func(s upstream.Server) bool { return failed[s.Name] != nil })
}

// Movable returns the entries that leave the client's file: those that tooldex has, and tooldex itself.
func Movable(list []Found) []Entry {
	var out []Entry
	for _, f := range list {
		switch f.State {
		case StateNew, StateReplaced, StateKnown, StateSelf:
			out = append(out, f.Entry)
		}
	}
	return out
}

// KnownServers returns those of a plan that are stored already, configured alike.
func KnownServers(list []Found) []upstream.Server {
	var out []upstream.Server
	for _, f := range list {
		if f.State == StateKnown {
			out = append(out, f.Entry.Server)
		}
	}
	return out
}

// AnyFile describes a file that may hold servers in the form of any client, by the extension TOML or JSON. Its Client
// is the base name of the path.
func AnyFile(path string) File {
	if strings.EqualFold(filepath.Ext(path), ".toml") {
		return File{
			Client: filepath.Base(path), Path: path, Format: TOML,
			Sections: [][]string{{"mcp_servers"}},
		}
	}
	return File{Client: filepath.Base(path), Path: path, Sections: [][]string{
		{"mcpServers"},
		{"servers"},
		{"mcp", "servers"},
	}}
}

// PlanOptions says what happens to the servers of a plan.
type PlanOptions struct {
	Replace bool // they win over stored servers of the same name
	// Moving means that they leave the clients' files: filters of tools are kept, so that what cannot be kept stays,
	// and a server whose name a stored one has gets another name.
	Moving bool
}

// Plan returns what an import does with the servers of some files, and the servers to store. Of several with one name
// that are configured otherwise, the first keeps it, and the later ones have the client's name added. Plan changes
// nothing. The servers of readable files are returned together with the joined errors of the others.
func Plan(docs []*Document, stored []upstream.Server, o PlanOptions) ([]Found, []upstream.Server, error) {
	p := planner{o: o, have: map[string]upstream.Server{}, met: map[string]bool{}, fresh: map[string]bool{}}
	for _, s := range stored {
		p.have[s.Name] = s
	}
	list := []Found{}
	var servers []upstream.Server
	var errs error
	for _, d := range docs {
		entries, err := d.Servers()
		errs = errors.Join(errs, err)
		for _, e := range entries {
			one := p.place(d, e)
			if one.State == StateNew || one.State == StateReplaced {
				servers = append(servers, one.Entry.Server)
			}
			list = append(list, one)
		}
	}
	return list, servers, errs
}

// planner decides about one server after the other.
type planner struct {
	o          PlanOptions
	have       map[string]upstream.Server // by name
	met, fresh map[string]bool            // names of servers of the plan, and of those that it stores
}

// place decides about a server.
func (p planner) place(d *Document, e Entry) Found {
	out := Found{
		Server: e.Name, Client: d.Client, File: d.Path, Target: config.ServerTarget(e.Server), Lost: e.Lost, Entry: e,
	}
	if !p.o.Moving {
		out.Lost = slices.Sorted(slices.Values(slices.Concat(e.Lost, e.Filter.Keys)))
	}
	switch {
	case e.Err != nil:
		out.State, out.Why = StateUnusable, e.Err.Error()
		return out
	case config.IsTooldex(e.Server):
		out.State = StateSelf
		return out
	case p.o.Moving && e.Stays != "":
		out.State, out.Why = StateStays, e.Stays
		return out
	}
	out.State = p.state(&out.Entry.Server, d.Client)
	if name := out.Entry.Server.Name; name != e.Name {
		out.As = name
	}
	if name := out.Entry.Server.Name; out.State != StateDiffers {
		p.met[name] = true
		if out.State != StateKnown {
			p.have[name], p.fresh[name] = out.Entry.Server, true
		}
	}
	return out
}

// state returns what becomes of a server that can be used, and gives it another name if its own is taken.
func (p planner) state(s *upstream.Server, client string) string {
	wanted := s.Name
	for n := 1; ; n++ {
		same, known := p.have[s.Name]
		switch {
		case !known:
			return StateNew
		case reflect.DeepEqual(same, *s):
			return StateKnown
		case p.o.Replace && !p.fresh[s.Name]:
			return StateReplaced
		case !p.o.Moving && !p.met[s.Name]:
			s.Name = wanted
			return StateDiffers
		}
		s.Name = wanted + "-" + safeName(strings.TrimSuffix(client, filepath.Ext(client)))
		if n > 1 {
			s.Name += "-" + strconv.Itoa(n)
		}
	}
}
