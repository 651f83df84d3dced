package mcpsrv

import (
	"bytes"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
)

// syncHeaderTools has the SDK check, over HTTP, the headers in which clients of the stateless protocol repeat arguments
// whose schema says x-mcp-header. The SDK does so for the tools that it knows, so it is told of these, where they are
// listed: who was not shown the schema cannot know of the header. They are never listed or called by the SDK, since
// intercept answers before it.
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

// addHeaderTool reports whether the SDK takes the schema. It panics at one that it cannot use.
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
