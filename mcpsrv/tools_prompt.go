package mcpsrv

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
)

// promptName is the prompt that lists the tools in prose.
const promptName = "available_tools"

// Prompt describes the tools of a catalogue in prose, for a system prompt: the server's own in full, those that pass
// filter in one line each, and how to get the rest. The same set and filter give the same text.
func Prompt(set *tool.Set, filter tool.Filter) string {
	var b strings.Builder
	b.WriteString("You have these tools:\n\n")
	for _, m := range metaTools() {
		if m.only != "" {
			continue
		}
		w := m.forMode(Search, "")
		own := &tool.Tool{
			Server: "tooldex", Name: w.Name, Description: w.Description, InputSchema: w.InputSchema,
			Annotations: w.Annotations,
		}
		describeTool(&b, set, own, w.Name)
		b.WriteByte('\n')
	}
	var lines strings.Builder
	total, server := 0, ""
	for _, t := range set.All() {
		if !filter.Match(t) {
			continue
		}
		total++
		if t.Server != server {
			server = t.Server
			fmt.Fprintf(&lines, "\n## %s\n", oneLine(server))
		}
		lines.WriteString("- " + listedName(set, t) + listSummary(t) + "\n")
	}
	if total == 0 {
		return b.String() + "There are no further tools.\n"
	}
	fmt.Fprintf(&b, "And %d more, of which you see one line each. %s describes any of them, %s calls it, %s finds it "+
		"by what it does.\n", total, describeName, invokeName, searchName)
	return b.String() + lines.String()
}

// addPrompt registers Prompt, and EnrichPrompt if there is an Enricher.
func (s *Server) addPrompt() {
	s.mcp.AddPrompt(&mcp.Prompt{
		Name: promptName, Title: "Available tools",
		Description: "The list of tools in prose, for a system prompt.",
		Arguments:   []*mcp.PromptArgument{{Name: "server", Description: "only the tools of this server"}},
	}, s.toolsPrompt)
	if s.o.Enricher != nil {
		s.addEnrichPrompt()
	}
}

// toolsPrompt answers prompts/get for available_tools.
func (s *Server) toolsPrompt(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	filter := tool.Filter{}
	if server := req.Params.Arguments["server"]; server != "" {
		filter.Servers = []string{server}
	}
	return &mcp.GetPromptResult{
		Description: "The tools available now.",
		Messages:    []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: Prompt(s.currentSet(), filter)}}},
	}, nil
}
