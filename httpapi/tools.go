package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	quickjson "github.com/segmentio/encoding/json"

	"tooldex/internal/limit"
	"tooldex/metrics"
	"tooldex/tool"
	"tooldex/upstream"
	"tooldex/validate"
)

// toolItem is a tool in a list.
type toolItem struct {
	ID         tool.ID `json:"id"`
	Name       string  `json:"name"`
	Server     string  `json:"server"`
	Exposed    string  `json:"exposed" jsonschema:"the name under which MCP clients may call it"`
	Title      string  `json:"title,omitempty"`
	Summary    string  `json:"summary,omitempty"`
	Category   string  `json:"category,omitempty"`
	Derived    bool    `json:"categoryDerived,omitempty" jsonschema:"the category is not declared, but that of the kinds of tools that it resembles"`
	Tokens     int     `json:"tokens" jsonschema:"what it costs in a plain tools/list"`
	ReadOnly   bool    `json:"readOnly,omitempty"`
	Disabled   bool    `json:"disabled,omitempty"`
	Deprecated string  `json:"deprecated,omitempty"`
	Warning    string  `json:"warning,omitempty" jsonschema:"why it looks suspicious"`
	Confirm    bool    `json:"confirm,omitempty" jsonschema:"a call of it needs to be confirmed by a person"`
	Always     bool    `json:"alwaysInclude,omitempty" jsonschema:"every client is shown it in full, and every selection has it"`
	toolUse
}

// toolUse is how much a tool is used.
type toolUse struct {
	Uses     int64      `json:"uses,omitempty" jsonschema:"how often it was called"`
	LastUsed *time.Time `json:"lastUsed,omitempty" jsonschema:"when it was called last"`
}

// describeUse returns u as it is reported.
func describeUse(u metrics.Use) toolUse {
	out := toolUse{Uses: u.Calls}
	if !u.Last.IsZero() {
		out.LastUsed = &u.Last
	}
	return out
}

// toolList is a page of tools, by ID.
type toolList struct {
	Tools      []toolItem `json:"tools"`
	Total      int        `json:"total" jsonschema:"how many tools pass the filters, on all pages"`
	NextCursor string     `json:"nextCursor,omitempty" jsonschema:"for the next page; absent on the last"`
}

// toolPage is everything about one tool.
type toolPage struct {
	ID         tool.ID          `json:"id"`
	Exposed    string           `json:"exposed" jsonschema:"the name under which MCP clients may call it"`
	Signature  string           `json:"signature"`
	Tokens     int              `json:"tokens" jsonschema:"what it costs in a plain tools/list"`
	Confirm    bool             `json:"confirm,omitempty" jsonschema:"a call of it needs to be confirmed by a person"`
	Warning    string           `json:"warning,omitempty" jsonschema:"why it looks suspicious"`
	Parameters []tool.Parameter `json:"parameters"`
	toolUse
	tool.Tool
}

// categoryList counts the enabled tools of each category and server.
type categoryList struct {
	Categories []tool.Count `json:"categories"`
	Servers    []tool.Count `json:"servers"`
}

// serverList is the state of the upstream servers.
type serverList struct {
	Servers []upstream.Status `json:"servers"`
}

// callRequest is the body of a call.
type callRequest struct {
	Arguments json.RawMessage `json:"arguments,omitempty" jsonschema:"an object, as the tool's input schema has it; {} if left out"`
	Meta      json.RawMessage `json:"_meta,omitempty" jsonschema:"an object that is passed on to the upstream"`
	Confirm   bool            `json:"confirm,omitempty" jsonschema:"a person has confirmed this call; without it, calls that need confirmation are refused with status 409"`
}

// Page sizes of the list of tools.
const (
	defaultPage = 100
	maxPage     = 1000
)

var listParams = []param{
	{name: "limit", kind: "integer", text: fmt.Sprintf("how many tools at most, 1 to %d; %d if left out", maxPage,
		defaultPage)},
	{name: "cursor", text: "nextCursor of the page before"},
	{name: "server", list: true, text: "only tools of these servers"},
	{name: "category", list: true, text: "only tools of these categories; other are those without one"},
	{name: "read_only", kind: "boolean", text: "only tools that change nothing"},
	{name: "include_disabled", kind: "boolean", text: "disabled tools too"},
}

// currentSet returns the tools of this moment. It is never nil.
func (s *Server) currentSet() *tool.Set {
	if set := s.o.Catalog.Set(); set != nil {
		return set
	}
	return tool.NewSet(nil, "")
}

// listTools answers GET /api/tools, in the order of IDs. A cursor is the ID of the last tool shown, so it stays valid
// when tools change.
func (s *Server) listTools(c echo.Context) error {
	v := readQuery(c)
	size, cursor := v.number("limit"), tool.ID(v.text("cursor"))
	filter := tool.Filter{
		Servers: v.list("server"), Categories: v.list("category"), ReadOnly: v.flag("read_only"),
		Disabled: v.flag("include_disabled"),
	}
	if err := v.done(); err != nil {
		return err
	}
	switch {
	case size < 0 || size > maxPage:
		return invalidField("limit", fmt.Sprintf("is not from 1 to %d", maxPage))
	case size == 0:
		size = defaultPage
	}
	uses, err := s.toolUses(c.Request().Context())
	if err != nil {
		return err
	}
	set, always := s.currentSet(), s.alwaysIncluded()
	if err := validate.FilterNames(set, &filter, nil); err != nil {
		return err
	}
	list := toolList{Tools: []toolItem{}}
	for _, t := range set.All() {
		if !filter.Match(t) {
			continue
		}
		list.Total++
		switch {
		case t.ID() <= cursor:
		case len(list.Tools) == size:
			list.NextCursor = string(list.Tools[size-1].ID)
		default:
			item := s.itemOf(set, t)
			item.Always, item.toolUse = t.Always || always[t.ID()], describeUse(uses[t.ID()])
			list.Tools = append(list.Tools, item)
		}
	}
	return writeJSON(c, list)
}

// alwaysIncluded returns the tools that settings and preferences always include; nil for none.
func (s *Server) alwaysIncluded() map[tool.ID]bool {
	if s.o.Always == nil {
		return nil
	}
	return s.o.Always()
}

// itemOf returns a tool as it is listed, without its use.
func (s *Server) itemOf(set *tool.Set, t *tool.Tool) toolItem {
	return toolItem{
		ID: t.ID(), Name: t.Name, Server: t.Server, Exposed: set.Exposed(t.ID()), Title: t.Title, Summary: t.Summary,
		Category: t.Category, Derived: t.CategoryDerived, Tokens: t.Tokens(), ReadOnly: t.ReadOnly(), Disabled: t.Disabled,
		Deprecated: t.Deprecated, Warning: t.Warning, Confirm: s.needsConfirmation(t),
	}
}

// Paths of one tool. The ID may be escaped into one segment (server%2Fname) or stand as it is.
const (
	toolsPath  = "/api/tools/"
	callSuffix = "/call"
)

// resolvePath returns the tool that a path names. call says that the path is that of its calls.
func (s *Server) resolvePath(c echo.Context, call bool) (*tool.Set, *tool.Tool, error) {
	path := strings.TrimPrefix(c.Request().URL.EscapedPath(), toolsPath)
	if call {
		path = strings.TrimSuffix(path, callSuffix)
	}
	name, err := url.PathUnescape(path)
	if err != nil {
		return nil, nil, invalidField("the id", "is not escaped correctly")
	}
	set := s.currentSet()
	t, err := set.Resolve(name)
	return set, t, err
}

// getTool answers GET /api/tools/{id}.
func (s *Server) getTool(c echo.Context) error {
	if err := readQuery(c).done(); err != nil {
		return err
	}
	set, t, err := s.resolvePath(c, false)
	if err != nil {
		return err
	}
	uses, err := s.toolUses(c.Request().Context())
	if err != nil {
		return err
	}
	page := toolPage{
		ID: t.ID(), Exposed: set.Exposed(t.ID()), Signature: t.Signature(), Tokens: t.Tokens(),
		Confirm: s.needsConfirmation(t), Warning: t.Warning, Parameters: t.Parameters(), Tool: *t,
		toolUse: describeUse(uses[t.ID()]),
	}
	page.Always = t.Always || s.alwaysIncluded()[t.ID()]
	if page.Parameters == nil {
		page.Parameters = []tool.Parameter{}
	}
	page.Related = slices.DeleteFunc(slices.Clone(page.Related), func(id tool.ID) bool { // a related tool may be hidden here
		_, ok := set.Get(id)
		return !ok
	})
	for _, raw := range []*json.RawMessage{&page.InputSchema, &page.OutputSchema, &page.Meta, &page.Icons} {
		if len(*raw) > 0 && !json.Valid(*raw) { // it would spoil the whole answer
			*raw = nil
		}
	}
	return writeJSON(c, page)
}

// writeResult answers with the result of a call. The middleware that compresses buffers what is written until there is
// enough to compress, and keeps its buffers. So the first part that is written is small.
func writeResult(c echo.Context, raw json.RawMessage) error {
	if !strings.Contains(c.Request().Header.Get(echo.HeaderAcceptEncoding), "gzip") {
		return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, raw)
	}
	w := c.Response()
	w.Header().Set(echo.HeaderContentType, echo.MIMEApplicationJSON)
	w.WriteHeader(http.StatusOK)
	first := min(len(raw), 4<<10)
	if _, err := w.Write(raw[:first]); err != nil || first == len(raw) {
		return err
	}
	_, err := w.Write(raw[first:])
	return err
}

// writingCounts is how long a result counts among the messages in memory while it is written. After that it counts
// among the answers that clients have not read alone: a client that does not read keeps no room from others.
const writingCounts = 5 * time.Second

// callTool answers POST /api/tools/{id}/call. A refusal before the Caller is reported to the auditor; the Caller
// records the rest.
func (s *Server) callTool(c echo.Context) error {
	if !strings.HasSuffix(c.Request().URL.EscapedPath(), callSuffix) {
		c.Response().Header().Set(echo.HeaderAllow, http.MethodGet)
		return echo.ErrMethodNotAllowed
	}
	_, t, unknown := s.resolvePath(c, true)
	var r callRequest
	if err := readBody(c, &r); err != nil && unknown == nil {
		return err
	}
	if unknown != nil {
		s.recordRefusal(c, strings.TrimSuffix(strings.TrimPrefix(c.Request().URL.Path, toolsPath), callSuffix),
			tool.Call{Arguments: r.Arguments}, unknown)
		return unknown
	}
	for name, raw := range map[string]json.RawMessage{"arguments": r.Arguments, "_meta": r.Meta} {
		if len(raw) > 0 && raw[0] != '{' && string(raw) != "null" {
			return invalidField(name, "is not an object")
		}
	}
	if t.Disabled {
		err := &tool.Error{Code: tool.Denied, Op: "call", Msg: string(t.ID()) + " is disabled"}
		s.recordRefusal(c, t.Name, tool.Call{ID: t.ID(), Arguments: r.Arguments}, err)
		return err
	}
	if len(r.Arguments) == 0 || string(r.Arguments) == "null" {
		r.Arguments = json.RawMessage("{}")
	}
	if string(r.Meta) == "null" {
		r.Meta = nil
	}
	ctx, end := limit.WithHold(c.Request().Context())
	defer end()
	res, err := s.o.Caller.Call(ctx, tool.Call{
		ID: t.ID(), Arguments: r.Arguments, Meta: r.Meta,
		Who: s.askerOf(c), Confirmed: r.Confirm,
	})
	if err != nil {
		return err
	}
	if !quickjson.Valid(res.Raw) {
		return &tool.Error{Code: tool.Unavailable, Op: "call", Msg: "the answer of " + string(t.ID()) + " is not JSON"}
	}
	s.recordCall(c, t.ID(), res)
	defer time.AfterFunc(writingCounts, end).Stop()
	return writeResult(c, res.Raw)
}

// listCategories answers GET /api/tools/categories.
func (s *Server) listCategories(c echo.Context) error {
	if err := readQuery(c).done(); err != nil {
		return err
	}
	set := s.currentSet()
	return writeJSON(c, categoryList{Categories: set.Categories(), Servers: set.Servers()})
}

// listServers answers GET /api/servers: the servers that the gateway knows, and those that only the catalogue does.
func (s *Server) listServers(c echo.Context) error {
	if err := readQuery(c).done(); err != nil {
		return err
	}
	list := serverList{Servers: []upstream.Status{}}
	seen := map[string]int{}
	if s.o.Upstreams != nil {
		for _, status := range s.o.Upstreams.Status() {
			seen[status.Server] = len(list.Servers)
			list.Servers = append(list.Servers, status)
		}
	}
	// A server that has not run cannot count its tools; the catalogue can.
	for _, n := range s.currentSet().Servers() {
		if i, ok := seen[n.Name]; ok {
			list.Servers[i].Tools = n.Tools
			continue
		}
		list.Servers = append(list.Servers, upstream.Status{Server: n.Name, State: upstream.Known, Tools: n.Tools})
	}
	return writeJSON(c, list)
}
