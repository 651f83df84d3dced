package mcpsrv

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/sanitize"
	"tooldex/tool"
)

// enableFound adds what a search found to the list of the client that searched, in dynamic mode: at most maxFound
// tools. Of a need that probably no tool fits it adds nothing.
func (s *Server) enableFound(ctx context.Context, req *mcp.CallToolRequest, res *tool.Result) {
	set := s.currentSet()
	if s.modeOf(req, set) != Dynamic {
		return
	}
	fits := make(map[tool.ID]bool)
	for _, g := range res.Groups {
		for i := range g.Tools {
			if g.Confident {
				fits[g.Tools[i].ID] = true
			}
		}
	}
	var ids []tool.ID
	for i := range res.Tools {
		id := res.Tools[i].ID
		// With several needs, each has its own confidence; with one, the result has it.
		if len(res.Groups) == 0 && !res.Confident || len(res.Groups) > 0 && !fits[id] {
			continue
		}
		if t, ok := set.Get(id); ok && !t.Disabled && !s.isAlwaysListed(set, id) && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	s.enableTools(ctx, req.Session, ids[:min(len(ids), maxFound)])
}

// loadArgs are the arguments of load_server_tools.
type loadArgs struct {
	Server string `json:"server"`
}

// loadServerTools adds all tools of one server to the client's list, as many as the list may hold.
func (s *Server) loadServerTools(ctx context.Context, req *mcp.CallToolRequest,
	raw json.RawMessage,
) (*rawResult, error) {
	a, err := decodeArguments[loadArgs](raw)
	if err != nil {
		return nil, err
	}
	set := s.currentSet()
	if s.modeOf(req, set) != Dynamic {
		return nil, &tool.Error{
			Code: tool.Invalid, Op: "load", Msg: "your list of tools is fixed",
			Hint: searchName + " finds tools, and " + invokeName + " calls them",
		}
	}
	var ids []tool.ID
	for _, t := range set.All() {
		if t.Server == a.Server && !t.Disabled && !s.isAlwaysListed(set, t.ID()) {
			ids = append(ids, t.ID())
		}
	}
	if len(ids) == 0 {
		return nil, noneToLoad(set, a.Server)
	}
	loaded := ids[:min(len(ids), s.o.limits.enabled)]
	s.enableTools(ctx, req.Session, loaded)
	if len(loaded) < len(ids) {
		return textResult(fmt.Sprintf("%d of the %d tools of %s are in your list now, the most that fit. %s finds the "+
			"others.", len(loaded), len(ids), a.Server, searchName)), nil
	}
	return textResult(fmt.Sprintf("The %d tools of %s are in your list now.", len(ids), a.Server)), nil
}

// noneToLoad returns why there is nothing to load: the server is unknown, or all its tools are listed anyway.
func noneToLoad(set *tool.Set, name string) error {
	var names []string
	for _, c := range set.Servers() {
		names = append(names, oneLine(c.Name))
		if c.Name == name {
			return &tool.Error{Code: tool.Invalid, Op: "load", Msg: "all tools of " + name +
				" are in your list already", Hint: "call them"}
		}
	}
	return &tool.Error{
		Code: tool.NotFound, Op: "load", Msg: fmt.Sprintf("no server is named %q, or all its tools are disabled", name),
		Hint: "the servers are " + sanitize.Clip(strings.Join(names, ", "), maxSummary),
	}
}
