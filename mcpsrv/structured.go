package mcpsrv

import (
	"cmp"
	"encoding/json"

	"tooldex/internal/orderedjson"
	"tooldex/internal/sanitize"
	"tooldex/tool"
)

// structuredRevision is the first revision of the protocol whose results have structuredContent.
const structuredRevision = "2025-06-18"

// structuredKey is the argument by which a program asks the tools with an output schema for structuredContent. No
// listing has it, since it is not for models.
const structuredKey = "structured"

// ownResult returns the result of one of our own tools: its text, and value as structuredContent if the client's
// revision has that, and either the client asked for it or it costs a model no more than the text. facts is for _meta;
// nil if there are none.
func ownResult(r clientRequest, asked bool, text string, value any, facts json.RawMessage) *rawResult {
	out := object{{Key: "content", Value: textContent(text)}}
	if r.ProtocolVersion() >= structuredRevision {
		if raw := orderedjson.Encode(value); asked || len(raw) <= len(text) {
			out = append(out, member{Key: "structuredContent", Value: raw})
		}
	}
	if facts != nil {
		out = append(out, member{Key: keyMeta, Value: facts})
	}
	return &rawResult{raw: out.Bytes()}
}

// structuredTool is a tool in structuredContent. Score is set in searches alone.
type structuredTool struct {
	Name       string          `json:"name"`
	Server     string          `json:"server"`
	Summary    string          `json:"summary"`
	Category   string          `json:"category"`
	Enabled    bool            `json:"enabled"`
	Deprecated string          `json:"deprecated,omitempty"`
	Warning    string          `json:"warning,omitempty"`
	Score      *float64        `json:"score,omitempty"`
	Signature  string          `json:"signature,omitempty"`
	Input      json.RawMessage `json:"inputSchema,omitempty"`
	Output     json.RawMessage `json:"outputSchema,omitempty"`
	Confirm    bool            `json:"confirm,omitempty"`
}

// structuredList is what list_available_tools returns.
type structuredList struct {
	Tools      []structuredTool `json:"tools"`
	Total      int              `json:"total"`
	NextCursor string           `json:"nextCursor,omitempty"`
}

// structuredSearch is what search_tools returns.
type structuredSearch struct {
	Tools     []structuredTool  `json:"tools"`
	Total     int               `json:"total"`
	Confident bool              `json:"confident"`
	Advice    string            `json:"advice,omitempty"`
	Groups    []structuredGroup `json:"groups,omitempty"`
	Degraded  string            `json:"degraded,omitempty"`
	Skills    []tool.Skill      `json:"skills,omitempty"`
}

// structuredGroup is the part of a search that answers one of several needs. Tools are names.
type structuredGroup struct {
	Query     string   `json:"query"`
	Tools     []string `json:"tools"`
	Confident bool     `json:"confident"`
	Advice    string   `json:"advice,omitempty"`
}

// structuredCategories is what list_tool_categories returns.
type structuredCategories struct {
	Categories []tool.Count `json:"categories"`
	Servers    []tool.Count `json:"servers"`
	Total      int          `json:"total"`
	// About holds what servers say of themselves, by server.
	About map[string]string `json:"about,omitempty"`
}

// The schemas of structuredContent. tools/list leaves them out: they would cost every client some 400 tokens.
const (
	toolOutput = `{"type":"object","properties":{` +
		`"name":{"type":"string","description":"to call it by"},"server":{"type":"string"},` +
		`"summary":{"type":"string"},"category":{"type":"string","description":"other for none"},` +
		`"enabled":{"type":"boolean"},` +
		`"deprecated":{"type":"string","description":"why it should not be used"},` +
		`"warning":{"type":"string","description":"why it looks suspicious"},` +
		`"score":{"type":"number","description":"the probability that it serves"},` +
		`"signature":{"type":"string"},"inputSchema":{},"outputSchema":{},` +
		`"confirm":{"type":"boolean","description":"a person confirms each call"}},` +
		`"required":["name","server","summary","category","enabled"]}`
	countsOutput = `{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},` +
		`"tools":{"type":"integer"}},"required":["name","tools"]}}`
	listOutput = `{"type":"object","properties":{"tools":{"type":"array","items":` + toolOutput + `},` +
		`"total":{"type":"integer","description":"tools on all pages"},` +
		`"nextCursor":{"type":"string","description":"for the next page; absent on the last"}},` +
		`"required":["tools","total"]}`
	searchOutput = `{"type":"object","properties":{"tools":{"type":"array","items":` + toolOutput + `},` +
		`"total":{"type":"integer","description":"tools found"},` +
		`"confident":{"type":"boolean","description":"false: probably no tool does this"},` +
		`"advice":{"type":"string","description":"what to try where no tool fits"},` +
		`"groups":{"type":"array","description":"of several needs, the names of the tools of each",` +
		`"items":{"type":"object","properties":{"query":{"type":"string"},` +
		`"tools":{"type":"array","items":{"type":"string"}},"confident":{"type":"boolean"},"advice":{"type":"string"}},` +
		`"required":["query","tools","confident"]}},` +
		`"degraded":{"type":"string","description":"why only words were searched"},` +
		`"skills":{"type":"array","description":"instructions that serve, which are read and not called",` +
		`"items":{"type":"object","properties":{"name":{"type":"string"},"uri":{"type":"string"},` +
		`"description":{"type":"string"},"warning":{"type":"string"},"score":{"type":"number"}},` +
		`"required":["name","uri"]}}},` +
		`"required":["tools","total","confident"]}`
	categoriesOutput = `{"type":"object","properties":{"categories":` + countsOutput + `,"servers":` + countsOutput +
		`,"total":{"type":"integer","description":"enabled tools"},` +
		`"about":{"type":"object","additionalProperties":{"type":"string"},` +
		`"description":"what servers say of themselves, by server"}},"required":["categories","servers","total"]}`
)

// outputSchema returns the schema of structuredContent of one of our own tools, nil for those without.
func outputSchema(name string) json.RawMessage {
	switch name {
	case searchName:
		return json.RawMessage(searchOutput)
	case listName:
		return json.RawMessage(listOutput)
	case categoriesName:
		return json.RawMessage(categoriesOutput)
	}
	return nil
}

// structuredTool returns a tool of the catalogue.
func (s *Server) structuredTool(set *tool.Set, t *tool.Tool) structuredTool {
	return structuredTool{
		Name: listedName(set, t), Server: t.Server, Category: cmp.Or(t.Category, "other"), Enabled: !t.Disabled,
		Summary:    oneLine(cmp.Or(t.Summary, sanitize.DeriveSummary(t.Description))),
		Deprecated: t.Deprecated, Warning: t.Warning, Confirm: s.needsConfirmation(t),
	}
}

// structuredHits returns the answer of a search.
func structuredHits(res *tool.Result) structuredSearch {
	out := structuredSearch{
		Tools: make([]structuredTool, 0, len(res.Tools)), Total: len(res.Tools), Confident: res.Confident,
		Degraded: res.Degraded, Skills: res.Skills, Advice: adviceText(res.Confident || len(res.Groups) > 0, res.Advice),
	}
	for i := range res.Tools {
		h := &res.Tools[i]
		one := structuredTool{
			Name: clientName(h.Exposed, h.Server, h.Name), Server: h.Server, Summary: oneLine(h.Summary),
			Category: cmp.Or(h.Category, "other"), Enabled: h.Tool == nil || !h.Tool.Disabled,
			Deprecated: h.Deprecated, Warning: h.Warning, Score: &h.Score, Signature: h.Signature, Confirm: h.Confirm,
		}
		if h.Schema != nil {
			one.Input = orderedjson.Encode(h.Schema)
		}
		if h.Output != nil {
			one.Output = orderedjson.Encode(h.Output)
		}
		out.Tools = append(out.Tools, one)
	}
	for i := range res.Groups {
		g := &res.Groups[i]
		group := structuredGroup{
			Query: g.Query, Tools: make([]string, 0, len(g.Tools)), Confident: g.Confident,
			Advice: adviceText(g.Confident, g.Advice),
		}
		for j := range g.Tools {
			group.Tools = append(group.Tools, clientName(g.Tools[j].Exposed, g.Tools[j].Server, g.Tools[j].Name))
		}
		out.Groups = append(out.Groups, group)
	}
	return out
}
