package httpapi

import (
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"tooldex/audit"
	"tooldex/tool"
)

// Records reads the record of calls and changes. *audit.Log is one.
type Records interface {
	// Recent returns the last records that pass the filter, at most so many, oldest first, that are later than the one
	// with the Seq after, and the Seq of the last record of all.
	Recent(f audit.Filter, most int, after uint64) ([]audit.Record, uint64, error)
}

// recordList is the answer of /api/audit.
type recordList struct {
	Records []audit.Record `json:"records" jsonschema:"oldest first; without arguments, even where these are kept"`
	Last    uint64         `json:"last" jsonschema:"the number of the last record of all; as after it asks for what comes next"`
}

// How many records one answer holds.
const (
	defaultRecords = 100
	maxRecords     = 1000
)

const auditPath = "/api/audit"

// auditParams are the parameters of /api/audit.
var auditParams = []param{
	{name: "since", text: "records from this time on, as 2026-11-20T15:04:05Z"},
	{name: "tool", text: "records of this tool, as server/name; * stands for any part of a name"},
	{name: "outcome", text: "calls that ended so", values: outcomeValues()},
	{name: "kind", text: "records of this kind: call, begin, change, start, stop"},
	{name: "client", text: "records of this program, or of this token"},
	{name: "after", text: "only records with a higher number; 0 for all", kind: "integer"},
	{name: "limit", text: "how many records at most, the last ones; 100 if left out, 1000 at most", kind: "integer"},
}

func outcomeValues() []any {
	var out []any
	for _, o := range audit.Outcomes() {
		out = append(out, o)
	}
	return out
}

// getRecords answers GET /api/audit.
func (s *Server) getRecords(c echo.Context) error {
	v := readQuery(c)
	f := audit.Filter{
		Tool: v.text("tool"), Outcome: audit.Outcome(v.text("outcome")), Kind: audit.Kind(v.text("kind")),
		Client: v.text("client"),
	}
	since, after, limit := v.text("since"), v.number("after"), v.number("limit")
	if since != "" {
		var err error
		if f.Since, err = time.Parse(time.RFC3339, since); err != nil {
			v.setError("since", "is not a time such as 2026-11-20T15:04:05Z")
		}
	}
	switch {
	case f.Check() != nil:
		v.setError("tool", "is not a pattern")
	case f.Outcome != "" && !slices.Contains(audit.Outcomes(), f.Outcome):
		v.setError("outcome", "is not one of those that calls have")
	case after < 0 || limit < 0 || limit > maxRecords:
		v.setError("limit or after", "is out of range")
	}
	if err := v.done(); err != nil {
		return err
	}
	if s.o.Records == nil {
		return &tool.Error{
			Code: tool.NotFound, Op: "audit", Msg: "no record of calls can be read here",
			Hint: "it needs audit.on, and a token without a profile",
		}
	}
	if limit == 0 {
		limit = defaultRecords
	}
	list, last, err := s.o.Records.Recent(f, limit, uint64(after))
	if err != nil {
		return &tool.Error{Code: tool.Internal, Op: "audit", Msg: "the audit log cannot be read", Err: err}
	}
	for i := range list {
		list[i].Given = nil // arguments may hold secrets
	}
	return writeJSON(c, recordList{orEmpty(list), last})
}
