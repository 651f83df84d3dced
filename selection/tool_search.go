package selection

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tooldex/internal/orderedjson"
	"tooldex/tool"
)

// Execution says who searches for tools that the Responses API loads on demand.
type Execution string

// The executions. The zero value means that the model cannot search for tools.
const (
	ServerSearch Execution = "server" // OpenAI searches the deferred tools of the request
	ClientSearch Execution = "client" // the model emits a tool_search_call, and its client sends that here
)

// ToolSearchCall is a tool_search_call of the Responses API, as a model emits it for the tool that ClientSearch
// declares. Only CallID and Arguments count; the other fields are there so that the item can be passed on as it came.
type ToolSearchCall struct {
	Type      string          `json:"type,omitempty"`
	ID        string          `json:"id,omitempty"`
	CallID    string          `json:"call_id"`
	Execution string          `json:"execution,omitempty"`
	Status    string          `json:"status,omitempty"`
	CreatedBy string          `json:"created_by,omitempty"`
	Arguments json.RawMessage `json:"arguments" jsonschema:"an object with the query, or its JSON as a string"`
}

// ToolSearchOutput answers a ToolSearchCall: the item to append to the input of the next request.
type ToolSearchOutput struct {
	Type      string            `json:"type"`
	Execution Execution         `json:"execution"`
	CallID    string            `json:"call_id"`
	Status    string            `json:"status"`
	Tools     []json.RawMessage `json:"tools"`
}

// The tools that let a model of the Responses API search.
const (
	hostedSearchTool = `{"type":"tool_search"}`
	clientSearchTool = `{"type":"tool_search","execution":"client",` +
		`"description":"Find the tools that the task needs.","parameters":{"type":"object","properties":` +
		`{"query":{"type":"string","description":"what the tools should do, in plain words"}},` +
		`"required":["query"],"additionalProperties":false}}`
)

// query returns what a model searches for. The error is of code Invalid.
func (c *ToolSearchCall) query() (string, error) {
	raw := c.Arguments
	var quoted string
	if json.Unmarshal(raw, &quoted) == nil {
		raw = json.RawMessage(quoted)
	}
	var a struct {
		Query string `json:"query"`
	}
	if err := json.Unmarshal(raw, &a); err != nil || strings.TrimSpace(a.Query) == "" {
		return "", invalidPreference("toolSearchCall", `has no arguments like {"query": "what the tools should do"}`)
	}
	if c.CallID == "" || len(c.CallID) > maxNameLength {
		return "", invalidPreference("toolSearchCall", "has no call_id of at most 400 characters")
	}
	return a.Query, nil
}

// namespaceSize is the largest number of functions of a namespace: OpenAI recommends fewer than ten.
const namespaceSize = 9

// maxNamespaceText bounds the description of a namespace, in characters. Models read all of them.
const maxNamespaceText = 300

var notPlain = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// groupTools returns the written tools of a selection in namespaces of the Responses API, by server, with at most
// namespaceSize functions each. Servers come in the order of their first tool. Functions keep the names that calls use.
func groupTools(set *tool.Set, selected []Selected, written []json.RawMessage) []json.RawMessage {
	var servers []string
	byServer := map[string][]int{}
	for i, s := range selected {
		server := s.ID.Server()
		if byServer[server] == nil {
			servers = append(servers, server)
		}
		byServer[server] = append(byServer[server], i)
	}
	out := make([]json.RawMessage, 0, len(servers))
	taken := map[string]bool{}
	for _, server := range servers {
		for part := range slices.Chunk(byServer[server], namespaceSize) {
			names, functions := make([]string, len(part)), make([]json.RawMessage, len(part))
			for i, at := range part {
				names[i], functions[i] = selected[at].ID.Name(), written[at]
			}
			t, _ := set.Get(selected[part[0]].ID)
			out = append(out, orderedjson.Encode(struct {
				Type        string            `json:"type"`
				Name        string            `json:"name"`
				Description string            `json:"description"`
				Tools       []json.RawMessage `json:"tools"`
			}{"namespace", freeName(server, taken), namespaceText(server, t, names), functions}))
		}
	}
	return out
}

// freeName returns a name for a namespace of a server that no other one has, and takes it.
func freeName(server string, taken map[string]bool) string {
	base := strings.Trim(notPlain.ReplaceAllString(server, "_"), "_")
	if base == "" {
		base = "tools"
	}
	base = base[:min(len(base), maxName-4)]
	name := base
	for n := 2; taken[name]; n++ {
		name = fmt.Sprintf("%s_%d", base, n)
	}
	taken[name] = true
	return name
}

// namespaceText describes a namespace: what the server says of itself, and which tools are there.
func namespaceText(server string, t *tool.Tool, names []string) string {
	about := "Tools of " + server
	if t != nil && t.ServerText != "" {
		about = shortenText(strings.Join(strings.Fields(t.ServerText), " "), maxNamespaceText/2)
	}
	return shortenText(about+": "+strings.Join(names, ", "), maxNamespaceText)
}
