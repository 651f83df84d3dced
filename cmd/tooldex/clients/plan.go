package clients

import (
	"errors"
	"path/filepath"
	"reflect"
	"slices"
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
	StateStays    = "stays"          // it does not start here, and stays with the client; Found.Why says why
	StateSelf     = "tooldex itself" // asking it for its tools would never end
)

// Found is a server of a client's file, and what an import does with it.
type Found struct {
	Server string   `json:"server"`
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
				list[i].State, list[i].Why = StateStays, err.Error()
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

// Plan returns what an import does with the servers of some files, and the servers to store. Of several with one name
// the first counts, and later ones differ or are known; with replace it wins over a stored one. Plan changes nothing.
// The servers of readable files are returned together with the joined errors of the others.
func Plan(docs []*Document, stored []upstream.Server, replace bool) ([]Found, []upstream.Server, error) {
	have, fresh := map[string]upstream.Server{}, map[string]bool{}
	for _, s := range stored {
		have[s.Name] = s
	}
	list := []Found{}
	var servers []upstream.Server
	var errs error
	for _, d := range docs {
		entries, err := d.Servers()
		errs = errors.Join(errs, err)
		for _, e := range entries {
			one := Found{
				Server: e.Name, Client: d.Client, File: d.Path, State: StateNew, Target: config.ServerTarget(e.Server),
				Lost: e.Lost, Entry: e,
			}
			same, known := have[e.Name]
			switch {
			case e.Err != nil:
				one.State, one.Why = StateUnusable, e.Err.Error()
			case config.IsTooldex(e.Server):
				one.State = StateSelf
			case known && reflect.DeepEqual(same, e.Server):
				one.State = StateKnown
			case known && replace && !fresh[e.Name]:
				one.State = StateReplaced
			case known:
				one.State = StateDiffers
			}
			if one.State == StateNew || one.State == StateReplaced {
				have[e.Name], fresh[e.Name] = e.Server, true
				servers = append(servers, e.Server)
			}
			list = append(list, one)
		}
	}
	return list, servers, errs
}
