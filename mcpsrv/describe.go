package mcpsrv

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/orderedjson"
	"tooldex/internal/sanitize"
	"tooldex/tool"
)

// describeArgs are the arguments of get_tool_description.
type describeArgs struct {
	Name       stringList `json:"name"`
	Examples   *bool      `json:"include_examples"` // nil means true
	Utterances bool       `json:"utterances"`
}

// Bounds of one answer. Real tools stay far below; a five-megabyte description must not reach a model.
const (
	maxDescribed   = 20
	maxDescription = 20_000 // bytes
)

// describeTools answers get_tool_description for 1 to maxDescribed names. Names that resolve to nothing are listed in
// the answer; it is a tool error only if none resolves.
func (s *Server) describeTools(ctx context.Context, _ *mcp.CallToolRequest, raw json.RawMessage) (*rawResult, error) {
	a, err := decodeArguments[describeArgs](raw)
	if err != nil {
		return nil, err
	}
	if len(a.Name) == 0 || len(a.Name) > maxDescribed {
		return nil, &tool.Error{Code: tool.Invalid, Op: "describe", Msg: fmt.Sprintf("name holds %d names",
			len(a.Name)), Hint: fmt.Sprintf("give 1 to %d", maxDescribed)}
	}
	set := s.currentSet()
	var b strings.Builder
	var failed error
	found := 0
	for _, name := range a.Name {
		if ok, err := s.describeSkill(&b, name); ok {
			if err == nil {
				found++
				b.WriteByte('\n')
			} else {
				failed = err
				b.WriteString(errorText(err, "") + "\n\n")
			}
			continue
		}
		t, err := s.resolveTool(set, name)
		if err != nil {
			// A wrong name does not spoil the answer about the others; its error is part of the text.
			failed = err
			b.WriteString(errorText(err, "") + "\n\n")
			continue
		}
		found++
		if a.Examples != nil && !*a.Examples {
			plain := *t
			plain.Examples = nil
			t = &plain
		}
		// What depends on the server's options and on searches is added here, so that describeTool depends on the tool
		// alone.
		describeTool(&b, set, t, listedName(set, t))
		if s.needsConfirmation(t) {
			b.WriteString("A person has to confirm each call of it.\n")
		}
		if related := s.relatedNames(ctx, set, t); len(related) > 0 {
			b.WriteString("Related: " + strings.Join(related, ", ") + "\n")
		}
		if a.Utterances {
			describeUtterances(&b, t)
		}
		b.WriteByte('\n')
	}
	if found == 0 && len(a.Name) == 1 {
		return nil, failed
	}
	text := strings.TrimRight(b.String(), "\n")
	if found == 0 {
		return errorResult(text), nil
	}
	return textResult(text), nil
}

// describeTool writes all that a model needs to call t. name is the one to call it by. Texts of the server are bounded,
// and put on one line unless they are the description. The order is that in which a model needs the parts: what it is,
// whether to be careful, what it does, how to call it.
func describeTool(b *strings.Builder, set *tool.Set, t *tool.Tool, name string) {
	fmt.Fprintf(b, "# %s (%s", name, t.Server)
	if t.Category != "" {
		b.WriteString(", " + oneLine(t.Category))
	}
	b.WriteByte(')')
	if facts := callFacts(t); facts != "" {
		b.WriteString(" " + facts)
	}
	b.WriteByte('\n')
	if caution := tool.WithCaution(t.Warning, ""); caution != "" {
		b.WriteString(caution + "\n")
	}
	if text := strings.TrimSpace(t.Description); text != "" {
		b.WriteString(sanitize.Clip(text, maxDescription) + "\n")
	} else if t.Summary != "" {
		b.WriteString(oneLine(t.Summary) + "\n")
	}
	describeParameters(b, t)
	if len(t.OutputSchema) > 0 {
		b.WriteString("Structured result: " + sanitize.Clip(orderedjson.Compact(t.OutputSchema), maxDescription/4) +
			"\n")
	}
	for i, e := range t.Examples {
		if i == 0 {
			b.WriteString("Examples:\n")
		}
		b.WriteString("- " + oneLine(e.Description))
		if len(e.Invocation) > 0 {
			b.WriteString(": " + orderedjson.Compact(e.Invocation))
		}
		if e.Output != "" {
			b.WriteString(" -> " + oneLine(e.Output))
		}
		b.WriteByte('\n')
	}
}

// needsConfirmation reports whether a person has to confirm each call of t.
func (s *Server) needsConfirmation(t *tool.Tool) bool { return s.o.Confirms != nil && s.o.Confirms(t) }

// callFacts returns, in brackets, what a caller must know before calling: disabled, deprecated, read-only or
// destructive. It is "" if none applies.
func callFacts(t *tool.Tool) string {
	var facts []string
	if t.Disabled {
		facts = append(facts, "disabled")
	}
	if t.Deprecated != "" {
		facts = append(facts, deprecatedMark(t.Deprecated))
	}
	if a := t.Annotations; a != nil {
		switch {
		case t.ReadOnly():
			facts = append(facts, "read-only")
		case a.DestructiveHint != nil && *a.DestructiveHint:
			facts = append(facts, "destructive")
		}
	}
	if len(facts) == 0 {
		return ""
	}
	return "[" + strings.Join(facts, "; ") + "]"
}

// describeParameters writes one line for each parameter, and the schema of those that one line cannot describe. The
// shared definitions follow if any of these refers to them.
func describeParameters(b *strings.Builder, t *tool.Tool) {
	params := t.Parameters()
	if len(t.InputSchema) > 0 && !json.Valid(t.InputSchema) {
		b.WriteString("Its schema cannot be read.\n")
		return
	}
	if len(params) == 0 {
		b.WriteString("No parameters.\n")
		return
	}
	b.WriteString("Parameters:\n")
	var schema struct {
		Properties  map[string]json.RawMessage `json:"properties"`
		Defs        json.RawMessage            `json:"$defs"`
		Definitions json.RawMessage            `json:"definitions"`
	}
	// A schema that yields parameters can be read. If only its properties cannot, no nested shapes are shown.
	_ = json.Unmarshal(t.InputSchema, &schema)
	refers := false
	for _, p := range params {
		fmt.Fprintf(b, "- %s: %s", p.Name, parameterType(p))
		if p.Required {
			b.WriteString(", required")
		}
		if len(p.Default) > 0 {
			b.WriteString(", default " + orderedjson.Compact(p.Default))
		}
		if p.Description != "" {
			b.WriteString(". " + oneLine(p.Description))
		}
		b.WriteByte('\n')
		if shape := schema.Properties[p.Name]; hasNestedShape(shape) {
			b.WriteString("  " + sanitize.Clip(orderedjson.Compact(shape), maxDescription/4) + "\n")
			refers = refers || bytes.Contains(shape, []byte(`"$ref"`))
		}
	}
	// A schema that refers to definitions is useless without them. They are shown once, after all parameters.
	for _, defs := range []member{{Key: "$defs", Value: schema.Defs}, {Key: "definitions", Value: schema.Definitions}} {
		if refers && len(defs.Value) > 0 {
			b.WriteString("where " + defs.Key + " " + sanitize.Clip(orderedjson.Compact(defs.Value), maxDescription/4) +
				"\n")
		}
	}
}

// parameterType spells out all values of an enum, which a signature shortens.
func parameterType(p tool.Parameter) string {
	if len(p.Enum) == 0 {
		return p.Type
	}
	values := make([]string, len(p.Enum))
	for i, v := range p.Enum {
		values[i] = orderedjson.Compact(v)
	}
	return strings.Join(values, "|")
}

// hasNestedShape reports whether a parameter's schema has a structure that a type name does not show.
func hasNestedShape(shape json.RawMessage) bool {
	return bytes.Contains(shape, []byte(`"properties"`)) || bytes.Contains(shape, []byte(`"$ref"`))
}

// maxNearest is how many tools are named as related if the author named none.
const maxNearest = 3

// relatedNames returns the names of the tools that the author of t declared as related, or else of those nearest in
// meaning. If these cannot be found now, it returns nothing rather than failing the description.
func (s *Server) relatedNames(ctx context.Context, set *tool.Set, t *tool.Tool) []string {
	related := t.Related
	if len(related) == 0 && s.o.Related != nil {
		near, err := s.o.Related.Related(ctx, t.ID(), maxNearest)
		if err != nil {
			s.o.Logger.Warn("the nearest tools could not be found", "tool", t.ID(), "error", err)
		}
		related = near
	}
	var names []string
	for _, id := range related {
		if r, ok := set.Get(id); ok && !r.Disabled {
			names = append(names, listedName(set, r))
		}
	}
	return names
}

// describeUtterances writes the requests that find t, with their sources.
func describeUtterances(b *strings.Builder, t *tool.Tool) {
	for i, u := range t.Utterances {
		if i == 0 {
			b.WriteString("Found by:\n")
		}
		b.WriteString("- " + oneLine(u.Text))
		if u.From != "" {
			fmt.Fprintf(b, " (%s)", u.From)
		}
		b.WriteByte('\n')
	}
}
