package mcpsrv

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
)

// The names of the server's own tools.
const (
	searchName     = "search_tools"
	describeName   = "get_tool_description"
	listName       = "list_available_tools"
	categoriesName = "list_tool_categories"
	invokeName     = "invoke_tool"
)

// isOwn reports whether a name is that of one of the server's own tools, which an upstream's tool then cannot have.
func isOwn(name string) bool {
	switch name {
	case searchName, describeName, listName, categoriesName, invokeName:
		return true
	}
	return false
}

// clientName is the name under which clients call a tool: the exposed one, or one with its server where that is taken.
func clientName(exposed, server, name string) string {
	if isOwn(exposed) {
		return tool.ExposedNames([]*tool.Tool{{Server: server, Name: name}}, tool.DefaultTemplate)[0]
	}
	return exposed
}

// metaTool is one of the server's own tools.
type metaTool struct {
	wireTool
	// aliases are other spellings of parameters, folded, that are understood though not shown.
	aliases map[string]string
	// handle gets arguments that fit the schema. It is nil for invoke_tool, which reads its own.
	handle func(ctx context.Context, req *mcp.CallToolRequest, args json.RawMessage) (*rawResult, error)
}

// metaTools defines the server's own tools. Every word here is paid for by every client in every session: a test holds
// them all together to 1,000 tokens.
func (s *Server) metaTools() []metaTool {
	yes, no := true, false
	reads := &tool.Annotations{ReadOnlyHint: &yes, OpenWorldHint: &no}
	return []metaTool{
		{
			wireTool: wireTool{
				Name: searchName, Title: "Search tools", Annotations: reads,
				Description: "Find tools by what they do. Say the need in plain words, any language; several needs as a list. " +
					"Call what is found with " + invokeName + ".",
				InputSchema: json.RawMessage(`{"type":"object","properties":{` +
					`"query":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]},` +
					`"limit":{"type":"integer","default":5},` +
					`"detail":{"type":"string","enum":["name","summary","signature","schema"],"default":"signature"},` +
					`"server":` + stringsSchema + `,"category":` + stringsSchema + `,` +
					`"read_only":{"type":"boolean","description":"only tools that change nothing"},` +
					`"explain":{"type":"boolean","description":"say why each was found"}},"required":["query"]}`),
			},
			aliases: map[string]string{"queries": "query", "q": "query", "text": "query", "servers": "server", "categories": "category", "readonly": "read_only"},
			handle:  s.search,
		},
		{
			wireTool: wireTool{
				Name: describeName, Title: "Describe tools", Annotations: reads,
				Description: "Everything about one tool or several: parameters, examples, related tools.",
				InputSchema: json.RawMessage(`{"type":"object","properties":{"name":` + stringsSchema + `,` +
					`"utterances":{"type":"boolean","description":"also the requests that find it"}},"required":["name"]}`),
			},
			aliases: map[string]string{"names": "name", "tool": "name", "tools": "name", "toolname": "name", "toolnames": "name"},
			handle:  s.describe,
		},
		{
			wireTool: wireTool{
				Name: listName, Title: "List tools", Annotations: reads,
				Description: "Names and summaries, page by page. " + searchName + " is the quicker way to a tool.",
				InputSchema: json.RawMessage(`{"type":"object","properties":{"category":` + stringsSchema + `,"server":` + stringsSchema + `,` +
					`"include_disabled":{"type":"boolean"},"limit":{"type":"integer","default":50},` +
					`"cursor":{"type":"string","description":"from the page before"}}}`),
			},
			aliases: map[string]string{"servers": "server", "categories": "category", "includedisabled": "include_disabled", "nextcursor": "cursor"},
			handle:  s.list,
		},
		{
			wireTool: wireTool{
				Name: categoriesName, Title: "List categories", Annotations: reads,
				Description: "Categories and servers with their numbers of tools.", InputSchema: objectSchema,
			},
			handle: s.categories,
		},
		{
			wireTool: wireTool{
				Name: invokeName, Title: "Call a tool",
				Annotations: &tool.Annotations{ReadOnlyHint: &no, DestructiveHint: &yes, OpenWorldHint: &yes},
				Description: "Call any tool by name. Arguments are checked first; if they do not fit, the answer holds the schema.",
				InputSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"},` +
					`"arguments":{"type":"object","description":"as the tool's schema has them"}},"required":["name"]}`),
			},
		},
	}
}

const stringsSchema = `{"type":"array","items":{"type":"string"}}`

// metaTool finds one of the server's own tools by name, also as clients decorate it with this server's.
func (s *Server) metaTool(name string) (metaTool, bool) {
	for _, m := range s.meta {
		if name == m.Name {
			return m, true
		}
		for _, prefix := range []string{"mcp__tooldex__", "mcp_tooldex_", "tooldex__", "tooldex/", "tooldex:", "tooldex."} {
			if strings.HasPrefix(name, prefix) && name[len(prefix):] == m.Name {
				return m, true
			}
		}
	}
	return metaTool{}, false
}

// callMeta runs one of the server's own tools other than invoke_tool.
func (s *Server) callMeta(ctx context.Context, req *mcp.CallToolRequest, m metaTool, args json.RawMessage) (*rawResult, error) {
	args, err := asObject(args)
	if err == nil {
		args = m.canonical(args)
		args, err = s.checkers.fit(m.Name, m.InputSchema, args)
	}
	if err != nil {
		return nil, err
	}
	return m.handle(ctx, req, args)
}

// canonical renames parameters in other spellings, unless the right one is there too.
func (m metaTool) canonical(args json.RawMessage) json.RawMessage {
	o, err := parseObject(args)
	if err != nil {
		return args
	}
	changed := false
	for i := range o {
		to, ok := m.aliases[fold(o[i].key)]
		if _, taken := o.get(to); ok && !taken {
			o[i].key, changed = to, true
		}
	}
	if !changed {
		return args
	}
	return o.bytes()
}

// decode reads arguments that fit a schema of ours; what is still wrong then is a number out of all bounds.
func decode[T any](args json.RawMessage) (T, error) {
	var v T
	err := json.Unmarshal(args, &v)
	if err == nil {
		return v, nil
	}
	what := "arguments"
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		what = wrong.Field
	}
	return v, &tool.Error{Code: tool.Invalid, Op: "decode arguments", Msg: what + " cannot be read", Err: err}
}

// stringList is one string or several.
type stringList []string

// UnmarshalJSON reads a string, a list, or a list that a model has put into a string.
func (l *stringList) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) != nil {
		return json.Unmarshal(b, (*[]string)(l))
	}
	if strings.HasPrefix(one, "[") && json.Unmarshal([]byte(one), (*[]string)(l)) == nil {
		return nil
	}
	*l = []string{one}
	return nil
}
