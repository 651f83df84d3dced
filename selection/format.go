package selection

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"tooldex/internal/orderedjson"
	"tooldex/tool"
)

// allFormats lists the formats that tools can be written in.
func allFormats() []Format {
	return []Format{FormatMCP, FormatAnthropic, FormatOpenAI, FormatResponses, FormatGemini}
}

// writtenTool is a tool in the form of one provider.
type writtenTool struct {
	JSON    json.RawMessage
	Name    string            // as it stands in JSON
	Renamed map[string]string // parameters whose names the provider refuses, by their new names; nil if there are none
}

// writeTool writes a tool, which clients know as exposed, in a provider's form, and checks it against the provider's
// rules. The error is of code Invalid and names the rule that the tool cannot be made to keep.
func writeTool(t *tool.Tool, exposed string, f Format) (writtenTool, error) {
	out := writtenTool{Name: exposed}
	description := tool.WithCaution(t.Warning, cmp.Or(t.Description, t.Summary, t.Title, t.Name))
	// Each format gets the schema in the form that its provider accepts: Anthropic takes most of JSON Schema but
	// restricts the names of parameters, OpenAI requires items in every array, and Gemini takes a subset of OpenAPI
	// without references.
	root := rootSchema(t.InputSchema)
	var body orderedjson.Tree
	switch f {
	case FormatAnthropic:
		var schema orderedjson.Tree
		schema, out.Renamed = renameParameters(repairSchema(flattenRoot(root)))
		body = orderedjson.Tree{
			{Key: "name", Value: exposed},
			{Key: "description", Value: description},
			{Key: "input_schema", Value: schema},
		}
	case FormatOpenAI, FormatResponses:
		schema, _ := withTypeLists(repairSchema(flattenRoot(root))).(orderedjson.Tree)
		function := orderedjson.Tree{
			{Key: "name", Value: exposed},
			{Key: "description", Value: shortenText(description, maxOpenAIDescription)},
			{Key: "parameters", Value: schema},
		}
		if f == FormatOpenAI {
			body = orderedjson.Tree{{Key: "type", Value: "function"}, {Key: "function", Value: function}}
		} else { // there strict is the default, which few schemas keep
			body = append(append(orderedjson.Tree{{Key: "type", Value: "function"}}, function...),
				orderedjson.Member[any]{Key: "strict", Value: false})
		}
	case FormatGemini:
		// Names that clients see may begin with a digit or a hyphen, which Gemini refuses.
		if c := exposed[0]; c == '-' || c >= '0' && c <= '9' {
			out.Name = "_" + exposed
		}
		body = orderedjson.Tree{
			{Key: "name", Value: shortenText(out.Name, maxName)},
			{Key: "description", Value: description},
		}
		// A function without parameters must not have the field, hence the second result.
		if schema, ok := (&geminiWriter{root: flattenRoot(root), left: maxSchemas}).rootParameters(); ok {
			body = append(body, orderedjson.Member[any]{Key: "parameters", Value: schema})
		}
	default:
		body = mcpTool(t, exposed, root)
	}
	out.JSON = orderedjson.Append(nil, body)
	// Every tool is checked, since schemas come from servers, and a provider may refuse a whole request for one bad
	// tool. The caller leaves out what fails.
	if err := verifyTool(f, out.JSON); err != nil {
		return out, fmt.Errorf("write %s: %w", t.ID(), err)
	}
	return out, nil
}

// mcpTool returns a tool as tools/list has it, with the schemas of its server.
func mcpTool(t *tool.Tool, exposed string, root orderedjson.Tree) orderedjson.Tree {
	body := orderedjson.Tree{{Key: "name", Value: exposed}}
	if t.Title != "" {
		body = append(body, orderedjson.Member[any]{Key: "title", Value: t.Title})
	}
	if description := tool.WithCaution(t.Warning, t.Description); description != "" {
		body = append(body, orderedjson.Member[any]{Key: "description", Value: description})
	}
	body = append(body, orderedjson.Member[any]{Key: "inputSchema", Value: root})
	if out, err := orderedjson.Parse(t.OutputSchema); err == nil {
		body = append(body, orderedjson.Member[any]{Key: "outputSchema", Value: out})
	}
	if t.Annotations != nil {
		if raw, err := json.Marshal(t.Annotations); err == nil {
			body = append(body, orderedjson.Member[any]{Key: "annotations", Value: json.RawMessage(raw)})
		}
	}
	return body
}

// Bounds that providers set.
const (
	maxName              = 64
	maxOpenAIDescription = 1024
)

var parameterName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// renameParameters renames the parameters whose names the Messages API refuses. It returns the original names by the
// new ones, nil if nothing was renamed.
func renameParameters(root orderedjson.Tree) (orderedjson.Tree, map[string]string) {
	properties, _ := root.Get("properties").(orderedjson.Tree)
	var names map[string]string
	out := make(orderedjson.Tree, len(properties))
	for i, p := range properties {
		out[i] = p
		if parameterName.MatchString(p.Key) {
			continue
		}
		key := portableName(p.Key)
		// A new name must differ from the original names and from the other new ones. 60 characters leave room for a
		// number.
		for n := 2; properties.Has(key) || names[key] != ""; n++ {
			key = fmt.Sprintf("%.60s_%d", portableName(p.Key), n)
		}
		if names == nil {
			names = map[string]string{}
		}
		names[key] = p.Key
		out[i].Key = key
	}
	if names == nil {
		return root, nil
	}
	// The list of required parameters refers to the new names, too.
	required := orderedjson.Strings(root.Get("required"))
	for key, own := range names {
		for i, r := range required {
			if r == own {
				required[i] = key
			}
		}
	}
	return withRequired(root.With("properties", out), out, required), names
}

// portableName replaces the characters that providers refuse in a parameter's name by underscores.
func portableName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && parameterName.MatchString(string(r)) {
			return r
		}
		return '_'
	}, s)
	if s == "" {
		return "_"
	}
	return s[:min(len(s), maxName)]
}

// withTypeLists returns a schema in which every array states its items and true and false are written as objects.
func withTypeLists(v any) any {
	o, ok := v.(orderedjson.Tree)
	if !ok {
		return v
	}
	// The schemas of a tuple become alternatives for every item, so that each array of the original stays valid.
	if o.Get("type") == "array" && !o.Has("items") {
		tuple, _ := o.Get("prefixItems").([]any)
		o = o.Without("prefixItems").With("items", joinAlternatives(tuple))
	}
	out := make(orderedjson.Tree, len(o))
	for i, m := range o {
		out[i] = orderedjson.Member[any]{Key: m.Key, Value: memberWithTypeList(m)}
	}
	return out
}

// memberWithTypeList returns the value of a member of a schema with withTypeLists applied to the schemas in it.
func memberWithTypeList(m orderedjson.Member[any]) any {
	schemaOf := func(v any) any {
		if _, ok := v.(bool); ok {
			return orderedjson.Tree{}
		}
		return withTypeLists(v)
	}
	switch in := m.Value.(type) {
	case orderedjson.Tree:
		for _, named := range namedSchema {
			if m.Key == named {
				out := make(orderedjson.Tree, len(in))
				for i, p := range in {
					out[i] = orderedjson.Member[any]{Key: p.Key, Value: schemaOf(p.Value)}
				}
				return out
			}
		}
		for _, one := range oneSchema {
			if m.Key == one {
				return withTypeLists(in)
			}
		}
	case []any:
		for _, many := range manySchemas {
			if m.Key == many {
				out := make([]any, len(in))
				for i, e := range in {
					out[i] = schemaOf(e)
				}
				return out
			}
		}
	case bool:
		if m.Key == "items" {
			return orderedjson.Tree{}
		}
	}
	return m.Value
}

// shortenText cuts s to at most `most` characters, at the end of a word where that does not cost half of it.
func shortenText(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	cut := string([]rune(s)[:most-1])
	if i := strings.LastIndexAny(cut, " \n"); i > len(cut)/2 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " \n,.;:") + "…"
}

// markDeferred returns a copy of a tool of the Messages API or the Responses API, marked to be loaded only when a search refers to it.
func markDeferred(raw json.RawMessage) json.RawMessage {
	return append(raw[:len(raw)-1:len(raw)-1], `,"defer_loading":true}`...)
}
