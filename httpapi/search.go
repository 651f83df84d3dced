package httpapi

import (
	"fmt"
	"slices"

	"github.com/labstack/echo/v4"

	"tooldex/tool"
)

// searchRequest is the body of POST /search.
type searchRequest struct {
	Query    stringList  `json:"query,omitempty" jsonschema:"one need in plain words, or a list of needs"`
	Q        stringList  `json:"q,omitempty" jsonschema:"the same as query"`
	Limit    int         `json:"limit,omitempty" jsonschema:"how many tools at most, 1 to 100; 5 if left out"`
	Detail   tool.Detail `json:"detail,omitempty" jsonschema:"how much of each tool: name, summary, signature or schema; summary if left out"`
	Mode     tool.Mode   `json:"mode,omitempty" jsonschema:"hybrid, keyword or semantic; hybrid if left out"`
	Server   stringList  `json:"server,omitempty" jsonschema:"only tools of these servers"`
	Category stringList  `json:"category,omitempty" jsonschema:"only tools of these categories"`
	ReadOnly bool        `json:"read_only,omitempty" jsonschema:"only tools that change nothing"`
	Explain  bool        `json:"explain,omitempty" jsonschema:"explain each score"`
	Trial    bool        `json:"trial,omitempty" jsonschema:"a test: the search is not counted, and nothing is learned from it"`
}

// toQuery checks a request and turns it into a query.
func (r searchRequest) toQuery() (tool.Query, error) {
	if len(r.Query) == 0 {
		r.Query = r.Q
	}
	q := tool.Query{
		Limit: r.Limit, Detail: r.Detail, Mode: r.Mode, Explain: r.Explain, Trial: r.Trial,
		Filter: tool.Filter{Servers: r.Server, Categories: r.Category, ReadOnly: r.ReadOnly},
	}
	switch {
	case len(r.Query) == 0 || slices.Contains(r.Query, ""):
		return q, invalidField("query", "is empty")
	case r.Limit < 0 || r.Limit > tool.MaxLimit:
		return q, invalidField("limit", fmt.Sprintf("is not from 1 to %d", tool.MaxLimit))
	}
	if len(r.Query) == 1 {
		q.Text = r.Query[0]
	} else {
		q.Texts = r.Query
	}
	return q, q.Validate()
}

// searchParams describes the query of GET /search, which searchQuery reads.
var searchParams = []param{
	{name: "q", list: true, text: "one need in plain words; given several times, several needs; this or query is required"},
	{name: "query", list: true, text: "the same as q"},
	{name: "limit", kind: "integer", text: "how many tools at most, 1 to 100; 5 if left out"},
	{name: "detail", text: "how much of each tool; summary if left out", values: []any{
		"name", "summary", "signature",
		"schema",
	}},
	{name: "mode", text: "hybrid if left out", values: []any{"hybrid", "keyword", "semantic"}},
	{name: "server", list: true, text: "only tools of these servers"},
	{name: "category", list: true, text: "only tools of these categories"},
	{name: "read_only", kind: "boolean", text: "only tools that change nothing"},
	{name: "explain", kind: "boolean", text: "explain each score"},
	{name: "trial", kind: "boolean", text: "a test: the search is not counted, and nothing is learned from it"},
}

// searchQuery reads the parameters of GET /search.
func searchQuery(c echo.Context) (searchRequest, error) {
	v := readQuery(c)
	r := searchRequest{
		Query: v.list("query"), Q: v.list("q"), Limit: v.number("limit"), Detail: tool.Detail(v.text("detail")),
		Mode:   tool.Mode(v.text("mode")),
		Server: v.list("server"), Category: v.list("category"), ReadOnly: v.flag("read_only"),
		Explain: v.flag("explain"), Trial: v.flag("trial"),
	}
	return r, v.done()
}

// getSearch answers GET /search.
func (s *Server) getSearch(c echo.Context) error {
	r, err := searchQuery(c)
	if err != nil {
		return err
	}
	return s.runSearch(c, r)
}

// postSearch answers POST /search.
func (s *Server) postSearch(c echo.Context) error {
	var r searchRequest
	if err := readBody(c, &r); err != nil {
		return err
	}
	return s.runSearch(c, r)
}

// runSearch answers a search, and reports it to the Learner unless it is a trial.
func (s *Server) runSearch(c echo.Context, r searchRequest) error {
	q, err := r.toQuery()
	if err != nil {
		return err
	}
	res, err := s.o.Searcher.Search(c.Request().Context(), q)
	if err != nil {
		return err
	}
	if !r.Trial {
		s.recordSearch(c, res)
	}
	return writeJSON(c, res)
}
