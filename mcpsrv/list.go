package mcpsrv

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/sanitize"
	"tooldex/tool"
	"tooldex/validate"
)

// listArgs are the arguments of list_available_tools. Cursor is the ID after which the page begins; "" for the first
// page.
type listArgs struct {
	Category        stringList `json:"category"`
	Server          stringList `json:"server"`
	IncludeDisabled bool       `json:"include_disabled"`
	Limit           int        `json:"limit"`
	Cursor          tool.ID    `json:"cursor"`
	Structured      bool       `json:"structured"`
}

// Page sizes of list_available_tools.
const (
	defaultPage = 50
	maxPage     = 1000
)

// checkLimit returns an Invalid error for a limit that is out of bounds. Zero means the default. The bounds are those
// of the same request over HTTP.
func checkLimit(limit, most int) error {
	if limit >= 0 && limit <= most {
		return nil
	}
	return &tool.Error{
		Code: tool.Invalid, Op: "check limit", Msg: fmt.Sprintf("limit is %d, and not from 1 to %d", limit, most),
		Hint: "leave it out for the default",
	}
}

// listCatalogue answers list_available_tools, page by page in the order of IDs. A cursor is the ID of the last tool
// shown, so it stays valid when the catalogue changes, and needs no session. The count in the answer is that of all
// pages.
func (s *Server) listCatalogue(_ context.Context, req *mcp.CallToolRequest, raw json.RawMessage) (*rawResult, error) {
	a, err := decodeArguments[listArgs](raw)
	if err != nil {
		return nil, err
	}
	if err := checkLimit(a.Limit, maxPage); err != nil {
		return nil, err
	}
	limit := cmp.Or(a.Limit, defaultPage)
	filter := tool.Filter{Servers: a.Server, Categories: a.Category, Disabled: a.IncludeDisabled}
	set := s.currentSet()
	if err := validate.FilterNames(set, &filter, nil); err != nil {
		return nil, err
	}
	var lines strings.Builder
	shown, after := 0, 0
	out := structuredList{Tools: []structuredTool{}}
	var last tool.ID
	// All tools are visited even after the page is full, for the total and the number of the remaining ones.
	for _, t := range set.All() {
		if !filter.Match(t) {
			continue
		}
		out.Total++
		switch id := t.ID(); {
		case a.Cursor != "" && id <= a.Cursor:
		case shown == limit:
			after++
		default:
			shown++
			last = id
			lines.WriteString(listedName(set, t) + listSummary(t) + "\n")
			out.Tools = append(out.Tools, s.structuredTool(set, t))
		}
	}
	text := fmt.Sprintf("%d tools\n%s", out.Total, lines.String())
	switch out.Total {
	case 0:
		text = "No tools. " + categoriesName + " lists the categories and servers."
	case 1:
		text = "1 tool\n" + lines.String()
	}
	if after > 0 {
		text += fmt.Sprintf("%d more; cursor: %s", after, last)
		out.NextCursor = string(last)
	}
	return ownResult(req, a.Structured, strings.TrimRight(text, "\n"), out, nil), nil
}

// listSummary returns what follows a tool's name in a list: its summary, its state, and a warning.
func listSummary(t *tool.Tool) string {
	var b strings.Builder
	if text := oneLine(cmp.Or(t.Summary, sanitize.DeriveSummary(t.Description))); text != "" {
		b.WriteString(": " + text)
	}
	if t.Disabled {
		b.WriteString(" [disabled]")
	}
	if t.Deprecated != "" {
		b.WriteString(" [" + deprecatedMark(t.Deprecated) + "]")
	}
	if caution := tool.WithCaution(t.Warning, ""); caution != "" {
		b.WriteString("\n  " + caution)
	}
	return b.String()
}

// maxDeprecated bounds what a list says of a deprecated tool, in bytes.
const maxDeprecated = 80

// deprecatedMark returns the mark of a deprecated tool in a list: with what to use instead, if that is known.
func deprecatedMark(text string) string {
	if text == "deprecated" {
		return text
	}
	return "deprecated: " + sanitize.Clip(oneLine(text), maxDeprecated)
}

// categoriesLabel returns what stands before the categories of a set: whether some are derived.
func categoriesLabel(set *tool.Set) string {
	if slices.ContainsFunc(set.All(), func(t *tool.Tool) bool { return t.CategoryDerived && !t.Disabled }) {
		return "Categories (derived where servers declare none)"
	}
	return "Categories"
}

// listCategories answers list_tool_categories.
func (s *Server) listCategories(_ context.Context, req *mcp.CallToolRequest, raw json.RawMessage) (*rawResult, error) {
	a, err := decodeArguments[struct {
		Structured bool `json:"structured"`
	}](raw)
	if err != nil {
		return nil, err
	}
	set := s.currentSet()
	out := structuredCategories{Categories: set.Categories(), Servers: set.Servers()}
	for _, c := range out.Servers {
		out.Total += c.Tools
	}
	var b strings.Builder
	for _, part := range []struct {
		label string
		list  []tool.Count
	}{{categoriesLabel(set), out.Categories}, {"Servers", out.Servers}} {
		b.WriteString(part.label + ":")
		for i, c := range part.list {
			fmt.Fprintf(&b, "%s %s %d", []string{"", ","}[min(i, 1)], oneLine(c.Name), c.Tools)
		}
		b.WriteByte('\n')
	}
	out.About = serverTexts(set)
	if len(out.About) > 0 {
		b.WriteString("What servers say of themselves:\n")
	}
	for _, c := range out.Servers {
		if text := out.About[c.Name]; text != "" {
			b.WriteString("- " + oneLine(c.Name) + ": " + text + "\n")
		}
	}
	return ownResult(req, a.Structured, strings.TrimRight(b.String(), "\n"), out, nil), nil
}

// The most bytes of a server's own text in list_tool_categories, and of all of them together.
const (
	maxServerText  = 240
	maxServerTexts = 6000
)

// serverTexts returns what the servers of a set say of themselves, each on one line, as far as there is room.
func serverTexts(set *tool.Set) map[string]string {
	out, left, last := map[string]string{}, maxServerTexts, ""
	for _, t := range set.All() {
		if t.Disabled || t.ServerText == "" || t.Server == last {
			continue
		}
		// tools are sorted by server, so this finds the first tool of each
		last = t.Server
		text := sanitize.Clip(oneLine(t.ServerText), min(maxServerText, left))
		if left -= len(text); left <= 0 {
			break
		}
		out[t.Server] = text
	}
	return out
}
