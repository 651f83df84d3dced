package scan

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"tooldex/tool"
)

// Difference returns what a model can read that differs between two forms of a tool, sorted by field. The texts are
// whole, and may contain invisible characters: pass them through [Visible] before they are shown.
func Difference(was, now *tool.Tool) []Change {
	before, after := fieldsOf(was), fieldsOf(now)
	all := maps.Clone(before)
	maps.Copy(all, after)
	var out []Change
	for _, f := range slices.Sorted(maps.Keys(all)) {
		if before[f] != after[f] {
			out = append(out, Change{Field: f, Was: before[f], Now: after[f]})
		}
	}
	return out
}

// fieldsOf lists the texts and hints of a tool by field; absent and empty ones are left out.
func fieldsOf(t *tool.Tool) map[string]string {
	out := map[string]string{}
	put := func(field, s string) {
		if s != "" {
			out[field] = s
		}
	}
	put("title", t.Title)
	put("description", t.Description)
	for _, e := range t.Examples {
		put("examples", strings.TrimSpace(out["examples"]+" "+e.Description+" "+string(e.Invocation)+" "+e.Output))
	}
	if t.Annotations != nil {
		put("annotations.title", t.Annotations.Title)
		for name, hint := range annotationHints(t.Annotations) {
			if hint != nil {
				put("annotations."+name, map[bool]string{true: "true", false: "false"}[*hint])
			}
		}
	}
	for root, raw := range map[string]json.RawMessage{
		"inputSchema": t.InputSchema, "outputSchema": t.OutputSchema,
		"_meta": t.Meta, "icons": t.Icons,
	} {
		flattenJSON(root, raw, put)
	}
	return out
}

// annotationHints lists the hints of annotations by their names; nil for those that were not given.
func annotationHints(a *tool.Annotations) map[string]*bool {
	return map[string]*bool{
		"readOnlyHint": a.ReadOnlyHint, "destructiveHint": a.DestructiveHint,
		"idempotentHint": a.IdempotentHint, "openWorldHint": a.OpenWorldHint,
	}
}

// flattenJSON puts each leaf of a JSON value under its path. Numbers keep their digits. What is not JSON is put as one
// text.
func flattenJSON(root string, raw json.RawMessage, put func(field, s string)) {
	if len(raw) == 0 {
		return
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		put(root, string(raw))
		return
	}
	addLeaves(root, v, put)
}

// addLeaves puts each leaf of v under path. A list of plain values is one leaf. In a list of objects, the items from
// index 9 on share one path, of which the last remains.
func addLeaves(path string, v any, put func(field, s string)) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			addLeaves(path+"."+k, e, put)
		}
		if len(v) == 0 {
			put(path, "{}")
		}
	case []any:
		list, err := json.Marshal(v)
		if err == nil && plainList(v) {
			put(path, string(list))
			return
		}
		for i, e := range v {
			addLeaves(path+"."+string(rune('0'+min(i, 9))), e, put)
		}
	case string:
		put(path, v)
	default:
		if b, err := json.Marshal(v); err == nil {
			put(path, string(b))
		}
	}
}

// plainList reports whether a list contains neither objects nor lists; such a list is shown as a whole.
func plainList(v []any) bool {
	return !slices.ContainsFunc(v, func(e any) bool {
		switch e.(type) {
		case map[string]any, []any:
			return true
		}
		return false
	})
}

// The rules that only Worse reports.
const (
	// Grown is the rule for a tool that changes or destroys more than it declared before.
	Grown = "grown"
	// Demands is the rule for a tool that newly requires a parameter which is suspicious by itself.
	Demands = "demands"
	// Rewritten is the rule for a tool whose texts changed together with those of many others of its server.
	Rewritten = "rewritten"
)

// RewrittenFinding is the finding about a tool whose server changed most of its texts at once.
func RewrittenFinding() Finding {
	return Finding{
		Rule: Rewritten, Severity: Medium, Field: "server", Why: "its server changed the texts of many tools at once",
		Remedy: "see whether the server was updated; approve its tools when that is so",
	}
}

// SameTexts reports whether two forms of a tool have the same titles, descriptions, schemas and _meta.
func SameTexts(a, b *tool.Tool) bool {
	return !slices.ContainsFunc(Difference(a, b), func(c Change) bool {
		return !strings.HasPrefix(c.Field, "annotations.") || c.Field == "annotations.title"
	})
}

// Worse returns why the change of a tool is suspicious: findings in its new form that the old form did not have, and
// effects that it declares only now. Nil means that the change looks like those of honest servers. Before and after are
// what [Scanner.Tool] returned for was and now.
func Worse(was, now *tool.Tool, before, after []Finding) []Finding {
	known := map[string]bool{}
	for _, f := range before {
		known[f.Rule+"\x00"+f.Field+"\x00"+f.Excerpt] = true
	}
	var out []Finding
	for _, f := range after {
		if !known[f.Rule+"\x00"+f.Field+"\x00"+f.Excerpt] {
			out = append(out, f)
		}
	}
	if what := grownEffects(was.Annotations, now.Annotations); what != "" {
		out = append(out, Finding{
			Rule: Grown, Severity: High, Field: "annotations", Excerpt: what,
			Why:    "it does more than it did when it was accepted",
			Remedy: "see what the new version does; approve the tool when that is wanted",
		})
	}
	for _, name := range newlyRequired(was.InputSchema, now.InputSchema) {
		for _, f := range after {
			if f.Field == "inputSchema.properties."+name || strings.HasPrefix(f.Field,
				"inputSchema.properties."+name+".") {
				out = append(out, Finding{
					Rule: Demands, Severity: High, Field: "inputSchema.required", Excerpt: name,
					Why: "it demands what it was fine without, and that is suspicious", Remedy: leave,
				})
				break
			}
		}
	}
	return out
}

// grownEffects describes how the declared effects of a tool grew, "" if they did not. A missing readOnlyHint means not
// read-only, as in the protocol. A missing destructiveHint counts as unknown, although the protocol takes it for true:
// half of all servers omit it.
func grownEffects(was, now *tool.Annotations) string {
	said := func(a *tool.Annotations, hint func(*tool.Annotations) *bool) (value, known bool) {
		if a == nil || hint(a) == nil {
			return false, false
		}
		return *hint(a), true
	}
	read := func(a *tool.Annotations) *bool { return a.ReadOnlyHint }
	destroy := func(a *tool.Annotations) *bool { return a.DestructiveHint }
	var out []string
	if before, _ := said(was, read); before {
		if after, _ := said(now, read); !after {
			out = append(out, "was read-only, and is not any more")
		}
	}
	if after, _ := said(now, destroy); after {
		if before, known := said(was, destroy); known && !before {
			out = append(out, "was not destructive, and is now")
		}
	}
	return strings.Join(out, "; ")
}

// newlyRequired lists the parameters that are required now and were not before.
func newlyRequired(was, now json.RawMessage) []string {
	required := func(raw json.RawMessage) []string {
		var s struct {
			Required []string `json:"required"`
		}
		if json.Unmarshal(raw, &s) != nil {
			return nil
		}
		return s.Required
	}
	before := required(was)
	return slices.DeleteFunc(required(now), func(name string) bool { return slices.Contains(before, name) })
}
