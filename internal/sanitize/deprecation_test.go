package sanitize

import (
	"testing"

	"tooldex/tool"
)

// TestDeprecation holds what counts as a statement that a tool is deprecated, and what is a description of a tool that
// deals with deprecated things.
func TestDeprecation(t *testing.T) {
	for _, c := range []struct {
		name string
		tool tool.Tool
		want string
	}{
		{"field", tool.Tool{Deprecated: "use x", Description: "DEPRECATED: use y."}, "use x"},
		{
			"as server-filesystem writes it",
			tool.Tool{
				Title:       "Read File (Deprecated)",
				Description: "Read the complete contents of a file as text. DEPRECATED: Use read_text_file instead.",
			},
			"Use read_text_file instead",
		},
		{"title alone", tool.Tool{Title: "Read File (Deprecated)", Description: "Reads a file."}, "deprecated"},
		{"annotated title", tool.Tool{Annotations: &tool.Annotations{Title: "[DEPRECATED] Read"}}, "deprecated"},
		{"first words", tool.Tool{Description: "Deprecated. Use `list_items` instead.\nLists."}, "Use `list_items` instead"},
		{"sign", tool.Tool{Description: "⚠️ **DEPRECATED** - prefer list_items\n\nLists."}, "prefer list_items"},
		{"brackets", tool.Tool{Description: "[DEPRECATED] Lists all there is."}, "deprecated"},
		{"capitals", tool.Tool{Description: "DEPRECATED Use new_one"}, "Use new_one"},
		{"favour", tool.Tool{Description: "Deprecated in favor of new_one."}, "in favor of new_one"},
		{"sentence", tool.Tool{Description: "Lists. This tool is deprecated, use list_all."}, "use list_all"},
		{"past", tool.Tool{Description: "This endpoint has been deprecated and replaced by v2_list."}, "and replaced by v2_list"},
		{"_meta", tool.Tool{Meta: []byte(`{"deprecated":true}`)}, "deprecated"},
		{"_meta with a text", tool.Tool{Meta: []byte(`{"deprecated":"use\nb"}`)}, "use b"},
		{"schema", tool.Tool{InputSchema: []byte(`{"type":"object","deprecated":true}`)}, "deprecated"},

		{"none", tool.Tool{Description: "Reads a file."}, ""},
		{"about packages", tool.Tool{Description: "Deprecated packages are listed with their versions."}, ""},
		{"about packages in the title", tool.Tool{Title: "List deprecated packages"}, ""},
		{"a verb", tool.Tool{Description: "Marks a version as deprecated: people see a warning when they use it."}, ""},
		{"a parameter", tool.Tool{Description: "Lists models. Set all to see models that the vendor calls deprecated."}, ""},
		{"a list", tool.Tool{Description: "The list of rules that are deprecated in this version."}, ""},
		{"far below", tool.Tool{Description: "One. Two. Three. DEPRECATED: use x."}, ""},
		{"a property", tool.Tool{InputSchema: []byte(`{"properties":{"deprecated":{"type":"boolean"}}}`)}, ""},
		{"a property of a property", tool.Tool{InputSchema: []byte(`{"properties":{"a":{"deprecated":true}}}`)}, ""},
		{"denied", tool.Tool{Meta: []byte(`{"deprecated":false}`)}, ""},
		{"broken", tool.Tool{Meta: []byte(`{"deprecated"`)}, ""},
	} {
		if got := Deprecation(&c.tool); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// FuzzDeprecation requires that no description makes it panic or say more than the bound.
func FuzzDeprecation(f *testing.F) {
	f.Add("DEPRECATED: Use read_text_file instead.", "Read (Deprecated)")
	f.Add("\u0130 deprecated", "–")
	f.Fuzz(func(t *testing.T, description, title string) {
		if got := Deprecation(&tool.Tool{Description: description, Title: title}); len(got) > deprecationSaid+len("…") {
			t.Errorf("%d bytes", len(got))
		}
	})
}
