package mcpsrv

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/orderedjson"
	"tooldex/tool"
	"tooldex/validate"
)

// The names of the server's own tools.
const (
	searchName     = "search_tools"
	describeName   = "get_tool_description"
	listName       = "list_available_tools"
	categoriesName = "list_tool_categories"
	invokeName     = "invoke_tool"
	loadName       = "load_server_tools"
)

// isMetaToolName reports whether one of the server's own tools has this name, which an upstream's tool then cannot
// have.
func isMetaToolName(name string) bool {
	switch name {
	case searchName, describeName, listName, categoriesName, invokeName, loadName, proposeName, writeName, readResultName, scriptName:
		return true
	}
	return false
}

// clientName returns the name under which clients call a tool: the exposed one, or the one with its server if one of
// our own tools has that.
func clientName(exposed, server, name string) string {
	if isMetaToolName(exposed) {
		return tool.ExposedNames([]*tool.Tool{{Server: server, Name: name}}, tool.DefaultTemplate)[0]
	}
	return exposed
}

// metaTool is one of the server's own tools.
type metaTool struct {
	wireTool
	// aliases maps other spellings of parameters, folded, to the right ones. They are understood but not listed.
	aliases map[string]string
	// brief is how lazy mode lists the tool, where stubs already say what there is; the zero value leaves it out. The
	// parameters that it leaves out work there, too.
	brief wireTool
	// only is the one mode in which the tool is listed; "" means every mode that lists the server's own tools.
	only Mode
	// handle receives arguments that fit the schema. It is nil for invoke_tool, which reads its own.
	handle func(s *Server, ctx context.Context, req *mcp.CallToolRequest, args json.RawMessage) (*rawResult, error)
}

// isListed reports whether a mode lists the tool. Every mode answers calls of it.
func (m metaTool) isListed(mode Mode) bool {
	if mode == Lazy {
		return m.brief.Name != ""
	}
	return m.only == "" || m.only == mode
}

// forMode returns the tool as a mode lists it. summary says what can be found.
func (m metaTool) forMode(mode Mode, summary string) wireTool {
	if mode == Lazy {
		return m.brief
	}
	w := m.wireTool
	if m.Name == searchName {
		use := "Call what is found with " + invokeName + ". "
		if mode == Dynamic {
			use = "What is found joins your list of tools; call it there, or with " + invokeName + ". "
		}
		w.Description += use + summary
	}
	return w
}

// metaTools defines the server's own tools. Every client pays for each word in every session: a test bounds them all
// together to 1,000 tokens.
func metaTools() []metaTool {
	reads, yes, no := readsOnly(), true, false
	return []metaTool{
		{
			wireTool: wireTool{
				Name: searchName, Title: "Search tools", Annotations: reads,
				Description: "Find tools by what they do. Say the need in plain words, any language; several needs as a list. ",
				InputSchema: json.RawMessage(`{"type":"object","properties":{` +
					`"query":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}],` +
					`"description":"a need, or several"},` +
					`"limit":{"type":"integer","default":5,"description":"shared by several needs"},` +
					`"detail":{"type":"string","enum":["name","summary","signature","schema"],"default":"signature","description":"how much of each"},` +
					`"server":` + onlyThese("servers") + `,"category":` + onlyThese("categories") + `,` +
					`"read_only":{"type":"boolean","description":"only tools that change nothing"},` +
					`"explain":{"type":"boolean","description":"say why each was found"}},"required":["query"]}`),
			},
			aliases: map[string]string{
				"queries": "query", "q": "query", "text": "query", "servers": "server",
				"categories": "category", "readonly": "read_only",
			},
			brief:  briefTool(searchName, "Find tools by what they do, in plain words.", `"query":{"type":"string"}`, "query"),
			handle: (*Server).searchTools,
		},
		{
			wireTool: wireTool{
				Name: describeName, Title: "Describe tools", Annotations: reads,
				Description: "Everything about one tool or several: parameters, examples, related tools.",
				InputSchema: json.RawMessage(`{"type":"object","properties":{"name":` + stringsSchema + `,` +
					`"include_examples":{"type":"boolean","default":true},` +
					`"utterances":{"type":"boolean","description":"also the requests that find it"}},"required":["name"]}`),
			},
			aliases: map[string]string{
				"names": "name", "tool": "name", "tools": "name", "toolname": "name", "toolnames": "name",
				"examples": "include_examples", "includeexamples": "include_examples",
			},
			brief:  briefTool(describeName, "The parameters of tools.", `"name":`+stringsSchema, "name"),
			handle: (*Server).describeTools,
		},
		{
			wireTool: wireTool{
				Name: listName, Title: "List tools", Annotations: reads,
				Description: "Names and summaries, page by page. " + searchName + " is the quicker way to a tool.",
				InputSchema: json.RawMessage(`{"type":"object","properties":{"category":` + stringsSchema +
					`,"server":` + stringsSchema + `,` +
					`"include_disabled":{"type":"boolean"},"limit":{"type":"integer","default":50},` +
					`"cursor":{"type":"string","description":"from the page before"}}}`),
			},
			aliases: map[string]string{
				"servers": "server", "categories": "category",
				"includedisabled": "include_disabled", "nextcursor": "cursor",
			},
			handle: (*Server).listCatalogue,
		},
		{
			wireTool: wireTool{
				Name: categoriesName, Title: "List categories", Annotations: reads,
				Description: "Categories and servers with their numbers of tools.", InputSchema: objectSchema,
			},
			handle: (*Server).listCategories,
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
		loadTool(), proposeTool(), writeTool(), readResultTool(),
	}
}

// loadTool defines the tool that adds the tools of a server to a session's list.
func loadTool() metaTool {
	return metaTool{
		wireTool: wireTool{
			Name: loadName, Title: "Load a server's tools", Annotations: readsOnly(),
			Description: "Add the tools of one server to your list, as if all had been found.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"server":{"type":"string"}},"required":["server"]}`),
		},
		aliases: map[string]string{"name": "server", "servername": "server"},
		only:    Dynamic,
		handle:  (*Server).loadServerTools,
	}
}

// briefTool returns a tool of ours that changes nothing, with one required parameter and no more text than needed.
func briefTool(name, description, parameter, required string) wireTool {
	yes := true
	return wireTool{
		Name: name, Description: description, Annotations: &tool.Annotations{ReadOnlyHint: &yes},
		InputSchema: json.RawMessage(`{"type":"object","properties":{` + parameter + `},"required":["` + required + `"]}`),
	}
}

// readsOnly are the annotations of tools that change nothing and reach no other system.
func readsOnly() *tool.Annotations {
	yes, no := true, false
	return &tool.Annotations{ReadOnlyHint: &yes, OpenWorldHint: &no}
}

// onlyThese is the schema of a list of names that narrow a search.
func onlyThese(what string) string {
	return `{"type":"array","items":{"type":"string"},"description":"only these ` + what + `"}`
}

const stringsSchema = `{"type":"array","items":{"type":"string"}}`

// ownPrefixes are the ways in which clients put this server's name before the name of a tool.
var ownPrefixes = [...]string{"mcp__tooldex__", "mcp_tooldex_", "tooldex__", "tooldex/", "tooldex:", "tooldex."}

// trimOwnPrefix returns name without this server's own, and whether it had that.
func trimOwnPrefix(name string) (string, bool) {
	for _, prefix := range ownPrefixes {
		if bare, ok := strings.CutPrefix(name, prefix); ok {
			return bare, true
		}
	}
	return name, false
}

// metaTool returns the server's own tool of that name. It accepts the name with this server's before it.
func (s *Server) metaTool(name string) (metaTool, bool) {
	bare, _ := trimOwnPrefix(name)
	for _, m := range s.meta {
		if name == m.Name || bare == m.Name {
			return m, true
		}
	}
	return metaTool{}, false
}

// resolveTool finds a tool as [tool.Set.Resolve] does, and accepts this server's name before the tool's.
func (s *Server) resolveTool(set *tool.Set, name string) (*tool.Tool, error) {
	t, err := set.Resolve(name)
	if bare, ok := trimOwnPrefix(name); ok && tool.CodeOf(err) == tool.NotFound {
		return set.Resolve(bare)
	}
	return t, err
}

// callMeta runs one of the server's own tools other than invoke_tool.
func (s *Server) callMeta(ctx context.Context, req *mcp.CallToolRequest, m metaTool,
	args json.RawMessage,
) (*rawResult, error) {
	args, err := objectArguments(args)
	if err == nil {
		args = m.renameAliases(args)
		args, err = s.checkMeta(m, args)
	}
	if err == nil {
		err = m.refuseUnknown(args)
	}
	if err != nil {
		return nil, err
	}
	return m.handle(s, ctx, req, args)
}

// checkMeta returns arguments that fit the schema of one of the server's own tools. The Caller, which checks those of
// all others, never sees these.
func (s *Server) checkMeta(m metaTool, args json.RawMessage) (json.RawMessage, error) {
	schema := s.o.Schemas.Of(m.Name, m.InputSchema)
	args, fits := forgiveSpelling(schema, m.InputSchema, args)
	if fits {
		return args, nil
	}
	err := schema.CheckArguments(m.Name, args)
	var wrong *tool.Error
	if errors.As(err, &wrong) {
		err = showSchema(wrong, m.Name, m.InputSchema)
	}
	return args, err
}

// refuseUnknown returns an Invalid error for parameters that the tool does not have. Its schema does not forbid them,
// since every client would pay for that.
func (m metaTool) refuseUnknown(args json.RawMessage) error {
	if outputSchema(m.Name) != nil {
		if o, err := orderedjson.ParseObject(args); err == nil {
			args = o.Without(structuredKey).Bytes()
		}
	}
	unknown := validate.Unknown(m.InputSchema, args)
	if unknown == "" {
		return nil
	}
	return showSchema(&tool.Error{
		Code: tool.Invalid, Op: "call", Msg: "arguments of " + m.Name + " do not fit: " + unknown,
		Hint: "leave out what is not known",
	}, m.Name, m.InputSchema)
}

// renameAliases renames parameters in other spellings, unless the right one is there too.
func (m metaTool) renameAliases(args json.RawMessage) json.RawMessage {
	o, err := orderedjson.ParseObject(args)
	if err != nil {
		return args
	}
	changed := false
	for i := range o {
		to, ok := m.aliases[foldKey(o[i].Key)]
		if _, taken := o.Lookup(to); ok && !taken {
			o[i].Key, changed = to, true
		}
	}
	if !changed {
		return args
	}
	return o.Bytes()
}

// decodeArguments decodes arguments that fit a schema of ours. It fails only for a number that is out of range.
func decodeArguments[T any](args json.RawMessage) (T, error) {
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
	if string(b) == "null" {
		*l = nil
		return nil
	}
	if json.Unmarshal(b, &one) != nil {
		return json.Unmarshal(b, (*[]string)(l))
	}
	if strings.HasPrefix(one, "[") && json.Unmarshal([]byte(one), (*[]string)(l)) == nil {
		return nil
	}
	*l = []string{one}
	return nil
}
