package selection

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"tooldex/tool"
)

// Formats lists the formats that tools can be written in.
func Formats() []Format {
	return []Format{
		FormatMCP, FormatAnthropic, FormatOpenAI, FormatResponses,
		FormatGemini,
	}
}

// Written is a tool in the form of one provider.
type Written struct {
	JSON    json.RawMessage
	Name    string            // as it stands in JSON
	Renamed map[string]string // parameters whose names the provider refuses, by their new names; nil if there are none
}

// Write writes a tool, which clients know as exposed, in a provider's form, and checks it against the provider's rules.
// The error is of code Invalid and tells which rule the tool cannot be made to keep.
func Write(t *tool.Tool, exposed string, f Format) (Written, error) {
	out := Written{Name: exposed}
	description := tool.WithCaution(t.Warning, cmp.Or(t.Description, t.Summary, t.Title, t.Name))
	root := rootSchema(t.InputSchema)
	var body object
	switch f {
	case FormatAnthropic:
		var schema object
		schema, out.Renamed = renamed(mended(flatRoot(root)))
		body = object{{"name", exposed}, {"description", description}, {"input_schema", schema}}
	case FormatOpenAI, FormatResponses:
		schema, _ := listed(mended(flatRoot(root))).(object)
		function := object{
			{"name", exposed},
			{"description", shortened(description, maxOpenAIDescription)},
			{"parameters", schema},
		}
		if f == FormatOpenAI {
			body = object{{"type", "function"}, {"function", function}}
		} else { // there strict is the default, which few schemas keep
			body = append(append(object{{"type", "function"}}, function...), member{"strict", false})
		}
	case FormatGemini:
		if c := exposed[0]; c == '-' || c >= '0' && c <= '9' {
			out.Name = "_" + exposed
		}
		body = object{{"name", shortened(out.Name, maxName)}, {"description", description}}
		if schema, ok := (&gemini{root: flatRoot(root), left: maxSchemas}).parameters(); ok {
			body = append(body, member{"parameters", schema})
		}
	default:
		body = mcpTool(t, exposed, root)
	}
	out.JSON = write(nil, body)
	if err := Verify(f, out.JSON); err != nil {
		return out, fmt.Errorf("write %s: %w", t.ID(), err)
	}
	return out, nil
}

// mcpTool is a tool as a tools/list has it. Its schemas are those of the server.
func mcpTool(t *tool.Tool, exposed string, root object) object {
	body := object{{"name", exposed}}
	if t.Title != "" {
		body = append(body, member{"title", t.Title})
	}
	if description := tool.WithCaution(t.Warning, t.Description); description != "" {
		body = append(body, member{"description", description})
	}
	body = append(body, member{"inputSchema", root})
	if out, err := parse(t.OutputSchema); err == nil {
		body = append(body, member{"outputSchema", out})
	}
	if t.Annotations != nil {
		if raw, err := json.Marshal(t.Annotations); err == nil {
			body = append(body, member{"annotations", json.RawMessage(raw)})
		}
	}
	return body
}

// What providers bound.
const (
	maxName              = 64
	maxOpenAIDescription = 1024
)

var parameterName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// renamed gives the parameters whose names the Messages API refuses others that it takes.
func renamed(root object) (object, map[string]string) {
	properties, _ := root.get("properties").(object)
	var names map[string]string
	out := make(object, len(properties))
	for i, p := range properties {
		out[i] = p
		if parameterName.MatchString(p.key) {
			continue
		}
		key := portableName(p.key)
		for n := 2; properties.has(key) || names[key] != ""; n++ {
			key = fmt.Sprintf("%.60s_%d", portableName(p.key), n)
		}
		if names == nil {
			names = map[string]string{}
		}
		names[key] = p.key
		out[i].key = key
	}
	if names == nil {
		return root, nil
	}
	required := texts(root.get("required"))
	for key, own := range names {
		for i, r := range required {
			if r == own {
				required[i] = key
			}
		}
	}
	return withRequired(root.with("properties", out), out, required), names
}

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

// listed says of every array what it holds, and writes schemas that are true or false as objects.
func listed(v any) any {
	o, ok := v.(object)
	if !ok {
		return v
	}
	if o.get("type") == "array" && !o.has("items") {
		tuple, _ := o.get("prefixItems").([]any)
		o = o.without("prefixItems").with("items", alternatives(tuple))
	}
	out := make(object, len(o))
	for i, m := range o {
		out[i] = member{m.key, listedMember(m)}
	}
	return out
}

func listedMember(m member) any {
	schemaOf := func(v any) any {
		if _, ok := v.(bool); ok {
			return object{}
		}
		return listed(v)
	}
	switch in := m.value.(type) {
	case object:
		for _, named := range namedSchema {
			if m.key == named {
				out := make(object, len(in))
				for i, p := range in {
					out[i] = member{p.key, schemaOf(p.value)}
				}
				return out
			}
		}
		for _, one := range oneSchema {
			if m.key == one {
				return listed(in)
			}
		}
	case []any:
		for _, many := range manySchemas {
			if m.key == many {
				out := make([]any, len(in))
				for i, e := range in {
					out[i] = schemaOf(e)
				}
				return out
			}
		}
	case bool:
		if m.key == "items" {
			return object{}
		}
	}
	return m.value
}

// shortened cuts a text at a word.
func shortened(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	cut := string([]rune(s)[:most-1])
	if i := strings.LastIndexAny(cut, " \n"); i > len(cut)/2 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " \n,.;:") + "…"
}

// deferred marks a tool of the Messages API as one that is loaded when a search for tools refers to it.
func deferred(raw json.RawMessage) json.RawMessage {
	return append(raw[:len(raw)-1:len(raw)-1], `,"defer_loading":true}`...)
}
