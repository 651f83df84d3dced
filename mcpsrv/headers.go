package mcpsrv

import (
	"bytes"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
)

// syncHeaderTools registers with the SDK the tools whose schemas say x-mcp-header, so that it checks over HTTP the
// headers in which clients of the stateless protocol repeat arguments. It registers only tools that are listed: a
// client that was not shown the schema cannot know of the header. The SDK never lists or calls them, because
// interceptRequest answers first.
func (s *Server) syncHeaderTools(set *tool.Set) {
	wanted := map[string]json.RawMessage{}
	if s.live.Load().catalogueMode(set) == Full {
		for _, t := range set.All() {
			if !t.Disabled && bytes.Contains(t.InputSchema, []byte(`"x-mcp-header"`)) {
				wanted[listedName(set, t)] = t.InputSchema
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, old := range s.headerTools {
		if !bytes.Equal(wanted[name], old) {
			s.mcp.RemoveTools(name)
			delete(s.headerTools, name)
		}
	}
	for name, schema := range wanted {
		if s.headerTools[name] == nil && s.addHeaderTool(name, schema) {
			s.headerTools[name] = schema
		}
	}
}

// addHeaderTool reports whether the SDK accepts the schema. The SDK panics at one that it cannot use.
func (s *Server) addHeaderTool(name string, schema json.RawMessage) (ok bool) {
	defer func() {
		if why := recover(); why != nil {
			s.o.Logger.Warn("headers of a tool cannot be checked", "tool", name, "why", why)
			ok = false
		}
	}()
	s.mcp.AddTool(&mcp.Tool{Name: name, InputSchema: schema}, nil)
	return true
}
