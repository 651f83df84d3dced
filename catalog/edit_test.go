package catalog

import (
	"strings"
	"testing"

	"tooldex/catalog/sources"
	"tooldex/internal/sanitize"
	"tooldex/tool"
)

func TestEditOverlay(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	c := openCatalog(t, dir, newTextIndex())
	mustSync(t, c, &fake{name: "a", tools: []*tool.Tool{aTool("", "x", "Does x."), aTool("", "y", "Does y.")}})
	off, longSummary := false, strings.Repeat("x", sanitize.MaxSummary+1)
	edit := func(id tool.ID, p *sources.Patch, changed ...tool.ID) {
		t.Helper()
		r, err := c.EditOverlay(ctx, "panel", id, p)
		if err != nil {
			t.Fatal(err)
		}
		if d := diff(changed, r.Changed); d != "" {
			t.Errorf("changed (-want +got)\n%s", d)
		}
	}
	words := &sources.Patch{Synonyms: []string{"ex"}, Utterances: []tool.Utterance{{Text: "cross it out"}}}
	edit("a/x", words, "a/x")
	edit("a/x", words)
	edit("a/y", &sources.Patch{Enabled: &off}, "a/y")
	words.Synonyms[0] = "mine to change"

	other := openCatalog(t, dir, newTextIndex()) // what another process reads
	for name, c := range map[string]*Catalog{"here": c, "elsewhere": other} {
		x, _ := c.Set().Get("a/x")
		y, _ := c.Set().Get("a/y")
		if len(x.Synonyms) != 1 || x.Synonyms[0] != "ex" || len(x.Utterances) != 1 || x.Disabled || !y.Disabled {
			t.Errorf("%s: %+v, %+v", name, x, y)
		}
		p, err := c.Patch("panel", "a/x")
		if d := diff(&sources.Patch{Synonyms: []string{"ex"}, Utterances: []tool.Utterance{{Text: "cross it out"}}},
			p); err != nil || d != "" {
			t.Errorf("%s: %v, patch (-want +got)\n%s", name, err, d)
		}
	}
	p, err := c.Patch("panel", "a/x")
	if err != nil {
		t.Fatal(err)
	}
	p.Synonyms[0] = "changed"
	if again, err := c.Patch("panel", "a/x"); err != nil || again.Synonyms[0] != "ex" {
		t.Errorf("a patch is shared: %+v, %v", again, err)
	}
	if _, err := other.EditOverlay(ctx, "panel", "a/y", &sources.Patch{}); err != nil { // decided on what c wrote
		t.Fatal(err)
	}
	edit("a/x", &sources.Patch{}, "a/x") // c reads what other wrote first
	if c.Set().All()[1].Disabled || len(c.st.Load().overlayNamed("panel").Tools) != 0 {
		t.Error("an empty patch leaves something behind")
	}
	for name, bad := range map[string]*sources.Patch{
		"long summary":      {Summary: &longSummary},
		"broken invocation": {Examples: []tool.Example{{Description: "e", Invocation: []byte("{")}}},
	} {
		if _, err := c.EditOverlay(ctx, "panel", "a/x", bad); tool.CodeOf(err) != tool.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := c.EditOverlay(ctx, "a/b", "a/x", &sources.Patch{}); tool.CodeOf(err) != tool.Invalid {
		t.Errorf("bad name: %v", err)
	}
	if p, err := c.Patch("none", "a/x"); err != nil || diff(&sources.Patch{}, p) != "" {
		t.Errorf("of no overlay: %+v, %v", p, err)
	}
}
