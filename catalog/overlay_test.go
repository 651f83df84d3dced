package catalog

import (
	"context"
	"strings"
	"testing"

	"tooldex/catalog/sources"
	"tooldex/internal/sanitize"
	"tooldex/tool"
)

// TestDumpWithBadTools puts bad tools among good ones: each is told, and the good ones are served.
func TestDumpWithBadTools(t *testing.T) {
	long := strings.Repeat("All work and no play. ", 5<<20/22)
	dump := `{"tools":[
		{"name":"good","description":"Fine.","inputSchema":{"type":"object"}},
		17,
		{"description":"no name","inputSchema":{}},
		{"name":42,"inputSchema":{}},
		{"name":"huge","description":"` + long + `","inputSchema":{"type":"object"}},
		{"name":"wrong types","description":["x"],"title":{},"annotations":"none","inputSchema":"text","outputSchema":3},
		{"name":"good","description":"Again.","inputSchema":{}},
		{"name":"a.b","inputSchema":{"$ref":"#"}},
		{"name":"имя","inputSchema":{"type":"object"}},
		{"name":"` + strings.Repeat("x", 200) + `","inputSchema":{"type":"object"}},
		{"name":"tricky","description":"a\u202eb\u0000c","inputSchema":{"type":"object"}},
		{"name":"also_good","description":"Fine too.","inputSchema":{"type":"object"}}]}`
	content, err := sources.ReadFile(file(t, "srv.json", dump))
	if err != nil {
		t.Fatal(err)
	}
	c := openCatalog(t, t.TempDir(), newTextIndex())
	r := mustSync(t, c, content.Sources...)[0]
	want := []tool.ID{
		"srv/a.b", "srv/also_good", "srv/good", "srv/huge", "srv/tricky", "srv/wrong types",
		tool.ID("srv/" + strings.Repeat("x", 200)), "srv/имя",
	}
	if d := diff(want, ids(c.Set())); d != "" {
		t.Errorf("served (-want +got)\n%s", d)
	}
	var told strings.Builder
	for _, f := range r.Findings {
		told.WriteString(f.String() + "\n")
	}
	for _, w := range []string{
		"line 3 of", "has no name", "srv/huge: description: has 52", "srv/wrong types: description",
		"srv/wrong types: title",
		"srv/wrong types: annotations", "srv/wrong types: inputSchema: is not a JSON object",
		"srv/wrong types: outputSchema", "srv/good: name: the name is offered twice",
		"srv/a.b: name: clients do not accept", "srv/имя: name", "srv/tricky: description: holds control",
	} {
		if !strings.Contains(told.String(), w) {
			t.Errorf("nothing says %q in\n%s", w, told.String())
		}
	}
	if got, _ := c.Set().Get("srv/huge"); got == nil || len(got.Description) > sanitize.MaxDescription ||
		got.Summary != "All work and no play" {
		t.Error("the long description is not cut")
	}
	if got, _ := c.Set().Get("srv/good"); got == nil || got.Description != "Fine." {
		t.Errorf("of two tools with one name, served %+v, want the first", got)
	}
	for _, one := range c.Set().All() {
		if name := c.Set().Exposed(one.ID()); len(name) > 64 || strings.ContainsFunc(name,
			func(r rune) bool { return r > 'z' || r == '.' || r == ' ' }) {
			t.Errorf("%s is exposed as %q", one.ID(), name)
		}
	}
}

func TestOverlay(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	x := newTextIndex()
	c := openCatalog(t, dir, x)
	src := &fake{name: "a", tools: []*tool.Tool{{
		Name: "x", Description: "Does x.", Synonyms: []string{"ex"},
		InputSchema: []byte(`{}`),
	}, aTool("", "y", "Y.")}}
	content, err := sources.Parse("team.yaml", []byte(`
overlay:
  a/x:
    summary: Do x at once
    category: letters
    synonyms: [ex, the letter]
    utterances: [cross it out]
    related: [y]
    alwaysInclude: true
    deprecated: use y
    enabled: false
  a/later: {category: letters}
`))
	if err != nil {
		t.Fatal(err)
	}
	if len(content.Sources) != 0 {
		t.Errorf("an overlay has sources: %v", content.Sources)
	}
	mustSync(t, c, src)
	r, err := c.ApplyOverlay(ctx, content.Overlay)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Changed) != 1 || r.Changed[0] != "a/x" || r.Unchanged != 1 || len(r.Findings) != 1 ||
		r.Findings[0].Tool != "a/later" {
		t.Errorf("report %+v", r)
	}
	want := &tool.Tool{
		Server: "a", Name: "x", Description: "Does x.", Summary: "Do x at once", Category: "letters",
		Synonyms:   []string{"ex", "the letter"},
		Utterances: []tool.Utterance{{Text: "cross it out"}}, Related: []tool.ID{"a/y"}, Always: true,
		Deprecated: "use y", Disabled: true, InputSchema: []byte(`{}`),
	}
	check := func(at string, c *Catalog) {
		t.Helper()
		got, _ := c.Set().Get("a/x")
		if d := diff(want, got); d != "" {
			t.Errorf("%s (-want +got)\n%s", at, d)
		}
	}
	check("applied", c)
	if again := mustSync(t, c, src)[0]; again.Unchanged != 2 {
		t.Errorf("the source is compared with the overlay applied: %+v", again)
	}
	src.tools[0].Description, want.Description = "Does x now.", "Does x now."
	src.tools = append(src.tools, aTool("", "later", "Later."))
	mustSync(t, c, src)
	check("synced again", c)
	if got, _ := c.Set().Get("a/later"); got.Category != "letters" {
		t.Error("the overlay does not speak of a tool that came later")
	}
	check("opened again", openCatalog(t, dir, newTextIndex()))
	gen := c.st.Load().generation
	if r, err := c.ApplyOverlay(ctx, content.Overlay); err != nil || len(r.Changed) != 0 ||
		c.st.Load().generation != gen {
		t.Errorf("applied again: %+v, %v, generation %d after %d", r, err, c.st.Load().generation, gen)
	}
	if _, err := c.Remove(ctx, "team"); err != nil {
		t.Fatal(err)
	}
	if got, _ := c.Set().Get("a/x"); got.Category != "" || got.Disabled {
		t.Errorf("the overlay is removed and still speaks: %+v", got)
	}
}

// TestDeprecatedByItsTexts requires that a tool is served as deprecated if its texts say so, while what is stored stays
// as its server has it, and that an overlay may deny it and name another tool.
func TestDeprecatedByItsTexts(t *testing.T) {
	c := openCatalog(t, t.TempDir(), newTextIndex())
	src := &fake{name: "files", tools: []*tool.Tool{
		aTool("", "read_file", "Read a file as text. DEPRECATED: Use read_text_file instead."),
		aTool("", "read_text_file", "Read a file as text."),
	}}
	mustSync(t, c, src)
	said := func() string {
		t.Helper()
		got, _ := c.Set().Get("files/read_file")
		return got.Deprecated
	}
	if got := said(); got != "Use read_text_file instead" {
		t.Errorf("deprecated: %q", got)
	}
	if got, _ := c.Set().Get("files/read_text_file"); got.Deprecated != "" {
		t.Errorf("the other tool is deprecated: %q", got.Deprecated)
	}
	if again := mustSync(t, c, src)[0]; again.Unchanged != 2 {
		t.Errorf("read again: %+v", again)
	}
	for yaml, want := range map[string]string{"false": "", "use head_file": "use head_file"} {
		content, err := sources.Parse("mine.yaml", []byte("overlay:\n  files/read_file: {deprecated: "+yaml+"}\n"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.ApplyOverlay(t.Context(), content.Overlay); err != nil {
			t.Fatal(err)
		}
		if got := said(); got != want {
			t.Errorf("with an overlay that says %s it is %q", yaml, got)
		}
	}
}
