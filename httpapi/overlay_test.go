package httpapi

import (
	"context"
	"net/http"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tooldex/internal/sanitize"
	"tooldex/tool"
)

// notebook keeps what was said of tools, and knows a little of one.
type notebook map[tool.ID]*ToolOverlay

func (n notebook) Said(id tool.ID) (*ToolOverlay, error) {
	if n[id] == nil {
		return &ToolOverlay{}, nil
	}
	return n[id], nil
}

func (n notebook) Say(_ context.Context, id tool.ID, o *ToolOverlay) error {
	if o.Summary != nil {
		if err := sanitize.CheckSummary(id, *o.Summary); err != nil {
			return err
		}
	}
	n[id] = o
	return nil
}

func (n notebook) Insight(_ context.Context, id tool.ID) (*ToolInsight, error) {
	if id != "files/read_file" {
		return &ToolInsight{}, nil
	}
	return &ToolInsight{
		Borrows: true, Sayings: []Saying{{"utterance", tool.Borrowed, "open <it>", "files/read"}},
		Lenders: []Lender{{"files/read", "Read a file", .5, 1}}, Related: []tool.ID{"files/write_file"},
	}, nil
}

func TestOverlaysAndInsights(t *testing.T) {
	n := notebook{}
	f := newFixture(t, func(o *Options) { o.Overlays, o.Insight = n, n })
	d := readDocument(t, f)
	const said = `{"enabled":false,"synonyms":["peruse"],"utterances":["show <me> it"],"examples":[{"description":"one","invocation":{"z":"x"}}]}`
	for _, c := range []struct{ method, target, body, want, schema string }{
		{"GET", "/api/overlays/files/read_file", "", `{}`, "ToolOverlay"},
		{"PUT", "/api/overlays/files%2Fread_file", said, said, "ToolOverlay"},
		{"GET", "/api/overlays/read_file", "", said, "ToolOverlay"},
		{"GET", "/api/overlays/files/write_file", "", `{}`, "ToolOverlay"},
		{"PUT", "/api/overlays/files/read_file", `{}`, `{}`, "ToolOverlay"},
		{
			"GET", "/api/insights/files%2Fread_file", "",
			`{"borrows":true,"sayings":[{"kind":"utterance","from":"borrowed","text":"open <it>","lender":"files/read"}],` +
				`"lenders":[{"archetype":"files/read","title":"Read a file","like":0.5,"weight":1}],"related":["files/write_file"],"uses":3}`, "ToolInsight",
		},
		{
			"GET", "/api/insights/odd/a/b%20c", "", `{"borrows":false,"sayings":[],"lenders":[],"related":[],"uses":0}`,
			"ToolInsight",
		},
	} {
		w := f.do(c.method, c.target, c.body)
		if got := strings.TrimSpace(w.Body.String()); w.Code != http.StatusOK || got != c.want {
			t.Errorf("%s %s: %d (-want +got)\n%s", c.method, c.target, w.Code, gocmp.Diff(c.want, got))
			continue
		}
		d.check(t, []byte(`{"$ref":"#/components/schemas/`+c.schema+`"}`), w.Body.Bytes())
	}
}

func TestOverlayProblems(t *testing.T) {
	n := notebook{}
	f := newFixture(t, func(o *Options) { o.Overlays = n })
	bare := newFixture(t, nil)
	for name, c := range map[string]struct {
		f                    *fixture
		method, target, body string
		status               int
		detail               string
	}{
		"unknown tool":   {f, "PUT", "/api/overlays/files/none", `{}`, 404, "no tool is named"},
		"unknown to see": {f, "GET", "/api/insights/files/none", "", 404, "no tool is named"},
		"unknown field": {
			f, "PUT", "/api/overlays/files/old", `{"summry":"x"}`, 400,
			"summry is not a known field",
		},
		"long summary": {
			f, "PUT", "/api/overlays/files/old", `{"summary":"` + strings.Repeat("x", 81) + `"}`, 400,
			"at most 80",
		},
		"not marked":        {f, "PUT", "/api/overlays/files/old", "", 415, "has no Content-Type: application/json"},
		"query":             {f, "GET", "/api/overlays/files/old?x=1", "", 400, "x is not a known parameter"},
		"query of insight":  {f, "GET", "/api/insights/files/old?x=1", "", 400, "x is not a known parameter"},
		"nowhere to read":   {bare, "GET", "/api/overlays/files/old", "", 403, "cannot be changed here"},
		"nowhere to write":  {bare, "PUT", "/api/overlays/files/old", `{}`, 403, "cannot be changed here"},
		"method of insight": {f, "PUT", "/api/insights/files/old", `{}`, 405, "does not support the method"},
	} {
		w := c.f.do(c.method, c.target, c.body)
		if p := readProblem(t, w); p.Status != c.status || !strings.Contains(p.Detail, c.detail) {
			t.Errorf("%s: %+v, want %d and %q", name, p, c.status, c.detail)
		}
	}
	if len(n) != 0 {
		t.Errorf("a refused overlay was kept: %v", n)
	}
}
