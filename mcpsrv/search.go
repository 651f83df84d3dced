package mcpsrv

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/orderedjson"
	"tooldex/internal/sanitize"
	"tooldex/tool"
)

// searchArgs are the arguments of search_tools. The zero value of each but Query means its default; see the schema of
// search_tools. Structured asks for structuredContent beside the text.
type searchArgs struct {
	Query    stringList  `json:"query"`
	Limit    int         `json:"limit"`
	Detail   tool.Detail `json:"detail"`
	Server   stringList  `json:"server"`
	Category stringList  `json:"category"`
	ReadOnly bool        `json:"read_only"`
	Explain  bool        `json:"explain"`

	Structured bool `json:"structured"`
}

// searchTools answers search_tools. In dynamic mode the tools it found join the session's list.
func (s *Server) searchTools(ctx context.Context, req *mcp.CallToolRequest, raw json.RawMessage) (*rawResult, error) {
	a, err := decodeArguments[searchArgs](raw)
	if err != nil {
		return nil, err
	}
	q := tool.Query{
		Limit: a.Limit, Detail: a.Detail, Explain: a.Explain, Session: req.Session.ID(),
		Profile: s.o.Profile,
		Filter:  tool.Filter{Servers: a.Server, Categories: a.Category, ReadOnly: a.ReadOnly},
	}
	if err := checkLimit(a.Limit, tool.MaxLimit); err != nil {
		return nil, err
	}
	// A model needs the signature for its call, and a second request would cost more than the signature.
	if q.Detail == "" {
		q.Detail = tool.DetailSignature
	}
	if len(a.Query) == 1 {
		q.Text = a.Query[0]
	} else {
		q.Texts = a.Query
	}
	res, err := s.o.Searcher.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	// Both come after the search: the session's list changes, and calls that follow count as evidence for this search.
	s.enableFound(ctx, req, res)
	s.recordSearch(req, res)
	facts := object{{Key: "tooldex/search", Value: searchFacts(res)}}.Bytes()
	if refs := s.referTo(req, res); refs != nil {
		return &rawResult{raw: object{{Key: "content", Value: refs}, {Key: keyMeta, Value: facts}}.Bytes()}, nil
	}
	return ownResult(req, a.Structured, searchText(res, q.Detail), structuredHits(res), facts), nil
}

// searchFacts returns, as JSON for _meta, the parts of an answer that are for a program and not for the model.
func searchFacts(res *tool.Result) json.RawMessage {
	type scored struct {
		ID      tool.ID `json:"id"`
		Score   float64 `json:"score"`
		Confirm bool    `json:"confirm,omitempty"`
	}
	facts := struct {
		Confident bool     `json:"confident"`
		Tokens    int      `json:"tokens"`
		Degraded  string   `json:"degraded,omitempty"`
		Tools     []scored `json:"tools"`
	}{res.Confident, res.Tokens, res.Degraded, make([]scored, 0, len(res.Tools))}
	for _, h := range res.Tools {
		facts.Tools = append(facts.Tools, scored{h.ID, h.Score, h.Confirm})
	}
	return orderedjson.Encode(facts)
}

// searchText writes an answer for a model: a few lines for each tool, without keys, quotes or braces to pay for.
func searchText(res *tool.Result, detail tool.Detail) string {
	var b strings.Builder
	if res.Degraded != "" {
		fmt.Fprintf(&b, "Searched by words only: %s\n", oneLine(res.Degraded))
	}
	if len(res.Groups) == 0 {
		writeHits(&b, res.Tools, res.Confident, res.Advice, detail)
	}
	for _, g := range res.Groups {
		fmt.Fprintf(&b, "# %s\n", oneLine(g.Query))
		writeHits(&b, g.Tools, g.Confident, g.Advice, detail)
	}
	writeSkills(&b, res.Skills)
	return strings.TrimRight(b.String(), "\n")
}

// writeHits writes the tools of one need, after advice if none of them fits.
func writeHits(b *strings.Builder, hits []tool.Hit, confident bool, advice *tool.Advice, detail tool.Detail) {
	if !confident || len(hits) == 0 {
		b.WriteString(adviceText(false, advice))
		if len(hits) == 0 {
			b.WriteByte('\n')
			return
		}
		b.WriteString(" Nearest:\n")
	}
	for i := range hits {
		writeHit(b, &hits[i], detail)
	}
}

// adviceText says that no tool fits, and what to try; "" for an answer that is confident. It does not repeat what the
// message contains already.
func adviceText(confident bool, a *tool.Advice) string {
	if confident {
		return ""
	}
	if a == nil {
		return "Probably no tool here does this."
	}
	var b strings.Builder
	if a.Message == "" {
		b.WriteString("Probably no tool here does this.")
	}
	b.WriteString(oneLine(a.Message))
	for _, part := range []struct {
		label string
		list  []string
	}{{"Not understood", a.NotUnderstood}, {"Servers that would", a.Kinds}, {"Nearest categories", a.Categories}} {
		if len(part.list) > 0 && !strings.Contains(a.Message, part.list[0]) {
			fmt.Fprintf(&b, " %s: %s.", part.label, oneLine(strings.Join(part.list, ", ")))
		}
	}
	for _, u := range a.Excluded {
		b.WriteString(" " + oneLine(u.Text))
	}
	return b.String()
}

// sameElsewhere returns the names of the same tool on other servers, as clients call it there, or "".
func sameElsewhere(h *tool.Hit) string {
	if len(h.Duplicates) == 0 || len(h.Duplicates) != len(h.Also) {
		return ""
	}
	names := make([]string, len(h.Duplicates))
	for i, id := range h.Duplicates {
		names[i] = clientName(h.Also[i], id.Server(), id.Name())
	}
	return " also " + strings.Join(names, ", ")
}

// maxSignature bounds a signature in an answer, in bytes: a tool with fifty parameters must not crowd out the others.
const maxSignature = 400

// writeHit writes one tool, under the name to call it by. Every text of a server is put on one line. The format is made
// for few tokens: one line with name, signature, summary, server, category and score.
func writeHit(b *strings.Builder, h *tool.Hit, detail tool.Detail) {
	b.WriteString("- " + clientName(h.Exposed, h.Server, h.Name))
	// the signature begins with the tool's own name, which the name for clients replaces
	if params, ok := strings.CutPrefix(h.Signature, h.Name); ok && h.Signature != "" {
		b.WriteString(sanitize.Clip(params, maxSignature))
	}
	if detail == tool.DetailName {
		fmt.Fprintf(b, " %s%s%s\n", formatScore(h.Score), callRisks(h), sameElsewhere(h))
	} else {
		b.WriteString(": " + oneLine(h.Summary) + " [" + h.Server)
		if h.Category != "" {
			b.WriteString(", " + oneLine(h.Category))
		}
		b.WriteString(", " + formatScore(h.Score) + callRisks(h) + "]" + sameElsewhere(h) + "\n")
	}
	if caution := tool.WithCaution(h.Warning, ""); caution != "" {
		b.WriteString("  " + caution + "\n")
	}
	if h.Schema != nil {
		b.WriteString("  input: " + orderedjson.Compact(orderedjson.Encode(h.Schema)) + "\n")
	}
	if h.Output != nil {
		b.WriteString("  output: " + orderedjson.Compact(orderedjson.Encode(h.Output)) + "\n")
	}
	if e := h.Explain; e != nil {
		fmt.Fprintf(b, "  why: words %.2f, meaning %.2f (weight %.2f), together %.2f", e.Keyword, e.Semantic, e.Weight,
			e.Fused)
		for i, l := range e.Borrowed {
			b.WriteString([]string{", like ", ", "}[min(i, 1)] + oneLine(l.Archetype) + " " + formatScore(l.Weight))
		}
		b.WriteByte('\n')
	}
}

// formatScore writes a score with two decimals.
func formatScore(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }

// callRisks returns why a call of the tool may fail, wait or be better made to another tool, or "".
func callRisks(h *tool.Hit) string {
	text := ""
	if h.Deprecated != "" {
		text = ", " + deprecatedMark(h.Deprecated)
	}
	if h.Confirm {
		text += ", a person confirms each call"
	}
	if h.Failed {
		text += ", its server does not run now"
	}
	return text
}
