package mcpsrv

import (
	"context"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/orderedjson"
	"tooldex/tool"
)

// tools/list takes a query, as SEP-1821 drafts it, filter.namePatterns, as SEP-2564 does, and an entity tag. None is
// part of the protocol, so the server announces them as an experimental capability of its own, under this key.
const listQueryKey = "tooldex/toolsList"

// listCapability returns the experimental capability. A model never reads it.
func listCapability() map[string]any {
	return map[string]any{
		listQueryKey: map[string]any{"query": true, "filter": []string{"namePatterns"}, "ifNoneMatch": true},
	}
}

// Bounds of a query of tools/list. maxMatches is how many tools a query lists.
const (
	maxPatterns = 100
	maxPattern  = 200 // bytes
	maxMatches  = 20
)

// listQuery restricts tools/list. Its zero value matches nothing: listQueryOf returns nil where nothing is asked.
type listQuery struct {
	text     string
	patterns []string // of names, as path.Match has them; nil for all names
}

// listQueryOf returns the query of a request, nil if it has none. The error is of code Invalid.
func listQueryOf(req *mcp.ListToolsRequest) (*listQuery, error) {
	if req.Params == nil {
		return nil, nil
	}
	text, hasText := req.Params.Meta[queryKey]
	filter, hasFilter := req.Params.Meta[filterKey]
	if !hasText && !hasFilter {
		return nil, nil
	}
	q := &listQuery{}
	if hasText {
		var ok bool
		if q.text, ok = text.(string); !ok || q.text == "" {
			return nil, invalidListing("query is not a text, or empty")
		}
	}
	if !hasFilter {
		return q, nil
	}
	fields, ok := filter.(map[string]any)
	if !ok {
		return nil, invalidListing("filter is not an object")
	}
	for name, value := range fields {
		list, ok := value.([]any)
		switch {
		case name != "namePatterns":
			return nil, invalidListing("filter has a field other than namePatterns")
		case !ok || len(list) == 0 || len(list) > maxPatterns:
			return nil, invalidListing("filter.namePatterns is not a list of 1 to 100 patterns")
		}
		for _, one := range list {
			pattern, ok := one.(string)
			if _, err := path.Match(pattern, ""); !ok || err != nil || len(pattern) > maxPattern {
				return nil, invalidListing("filter.namePatterns has something that is no pattern of at most 200 bytes")
			}
			q.patterns = append(q.patterns, pattern)
		}
	}
	return q, nil
}

// invalidListing returns the Invalid error for a listing that cannot be made.
func invalidListing(msg string) error {
	return &tool.Error{
		Code: tool.Invalid, Op: "list tools", Msg: msg,
		Hint: `give "query": "what the tools do" or "filter": {"namePatterns": ["name_*"]}`,
	}
}

// matchesName reports whether a name matches one of the patterns, or there are none.
func (q *listQuery) matchesName(name string) bool {
	return q.patterns == nil || slices.ContainsFunc(q.patterns, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}

// listMatching returns the tools that a query asks for, in full, in every mode. Those for a text come best first, at
// most maxMatches, and none where no tool fits. Without a text they are all tools with a matching name: first those of
// the client's own listing, which has the server's own tools, then the others.
func (s *Server) listMatching(ctx context.Context, req *mcp.ListToolsRequest, q *listQuery) ([]entry, error) {
	set := s.currentSet()
	if q.text != "" {
		return s.listFound(ctx, req, set, q)
	}
	own := s.listingFor(req)
	var out []entry
	at := map[string]int{} // places in out, by name
	for _, e := range own.entries {
		if q.matchesName(e.key) {
			at[e.key] = len(out)
			out = append(out, e)
		}
	}
	for _, t := range set.All() {
		name := listedName(set, t)
		if t.Disabled || !q.matchesName(name) {
			continue
		}
		full := entry{name, orderedjson.Encode(fullTool(set, t))}
		if i, listed := at[name]; listed { // it may be a stub there
			out[i] = full
		} else {
			out = append(out, full)
		}
	}
	return out, nil
}

// listFound returns the tools that a search finds.
func (s *Server) listFound(ctx context.Context, req *mcp.ListToolsRequest, set *tool.Set, q *listQuery) ([]entry, error) {
	limit := maxMatches
	if q.patterns != nil {
		limit = tool.MaxLimit
	}
	res, err := s.o.Searcher.Search(ctx, tool.Query{
		Text: q.text, Limit: limit, Detail: tool.DetailName, Session: req.Session.ID(), Profile: s.o.Profile,
	})
	if err != nil || !res.Confident {
		return nil, err
	}
	var out []entry
	for i := range res.Tools {
		t, ok := set.Get(res.Tools[i].ID)
		if ok && !t.Disabled && q.matchesName(listedName(set, t)) && len(out) < maxMatches {
			out = append(out, entry{listedName(set, t), orderedjson.Encode(fullTool(set, t))})
		}
	}
	return out, nil
}

// referencesKey is the experimental capability by which a client declares that it reads tool_reference blocks, and
// loads the tools that they name from its tools/list.
const referencesKey = "tooldex/toolReferences"

// referTo returns the content of a search's answer as tool_reference blocks, or nil where text serves better: for
// clients that do not know them, for tools that the client has not listed, and where no tool fits.
func (s *Server) referTo(req *mcp.CallToolRequest, res *tool.Result) json.RawMessage {
	c := req.ClientCapabilities()
	if c == nil || c.Experimental[referencesKey] == nil || !res.Confident || len(res.Tools) == 0 {
		return nil
	}
	set := s.currentSet()
	mode := s.modeOf(req, set)
	var own []tool.ID
	if mode == Dynamic {
		own, _ = s.sessionTools(req.Session, set)
	}
	type reference struct {
		Type string `json:"type"`
		Name string `json:"tool_name,omitempty"`
		Text string `json:"text,omitempty"`
	}
	out := make([]reference, len(res.Tools))
	for i := range res.Tools {
		h := &res.Tools[i]
		if mode != Lazy && mode != Full && !slices.Contains(own, h.ID) && !s.isAlwaysListed(set, h.ID) {
			return nil
		}
		out[i] = reference{Type: "tool_reference", Name: clientName(h.Exposed, h.Server, h.Name)}
	}
	if len(res.Skills) > 0 {
		var b strings.Builder
		writeSkills(&b, res.Skills)
		out = append(out, reference{Type: "text", Text: strings.TrimRight(b.String(), "\n")})
	}
	return orderedjson.Encode(out)
}
