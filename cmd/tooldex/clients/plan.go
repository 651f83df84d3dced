package clients

import (
	"errors"
	"path/filepath"
	"reflect"
	"strings"

	"tooldex/config"
	"tooldex/upstream"
)

// What an import does with a server that was found in a client's file.
const (
	StateNew      = "new"
	StateKnown    = "known"    // it is stored already, configured alike
	StateReplaced = "replaced" // it replaces the stored one
	StateDiffers  = "differs"  // the stored one of that name is configured otherwise, and stays
	StateUnusable = "unusable"
	StateSelf     = "tooldex itself"
)

// Found is a server of a client's file.
type Found struct {
	Server string   `json:"server"`
	Client string   `json:"client"`
	File   string   `json:"file"`
	State  string   `json:"state"`
	Target string   `json:"target,omitempty"`
	Why    string   `json:"why,omitempty"`  // it is unusable
	Lost   []string `json:"lost,omitempty"` // keys that will have no effect

	Entry Entry `json:"-"`
}

// AnyFile describes a file that may hold servers in the form of any client.
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

// Plan returns what an import does with the servers of some files, and those that it stores. Of several with one name the
// first counts. Servers come with the error of files that cannot be read.
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
