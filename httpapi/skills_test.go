package httpapi

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tooldex/access"
	"tooldex/config"
	"tooldex/service"
)

// realSkills returns the skills of a real service over some files.
func realSkills(t *testing.T, files map[string]string) *service.SkillView {
	t.Helper()
	dir := t.TempDir()
	for path, text := range files {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	loaded, err := config.Load(config.Options{NoFile: true, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	cfg := *loaded.Config()
	cfg.Skills, cfg.Audit.On = []string{dir}, false
	s, err := service.Open(t.Context(), service.Options{
		Dir: t.TempDir(), Config: func() *config.Config { return &cfg }, Use: service.ToSearch,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	views, err := s.NewViews(t.Context(), service.ViewOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(views.Close)
	return views.New(access.View{}).Skills
}

func TestSkills(t *testing.T) {
	const text = "---\nname: pdf-forms\ndescription: Fills in forms.\n---\n# Fill\n"
	skills := realSkills(t, map[string]string{
		"pdf-forms/SKILL.md": text, "pdf-forms/a dir/x & y.md": "beside", "pdf-forms/logo.png": "\x89PNG\xff", "pdf-forms/.env": "TOKEN",
	})
	f := newFixture(t, func(o *Options) { o.Skills = skills })
	const listed = `{"skills":[{"name":"pdf-forms","uri":"skill://pdf-forms/SKILL.md","description":"Fills in forms."}]}`
	if got := f.do("GET", "/api/skills", ""); got.Code != http.StatusOK || strings.TrimSpace(got.Body.String()) != listed {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	for path, want := range map[string]skillContent{
		"pdf-forms":                        {URI: "skill://pdf-forms/SKILL.md", Type: "text/markdown", Text: new(text)},
		"pdf-forms/SKILL.md":               {URI: "skill://pdf-forms/SKILL.md", Type: "text/markdown", Text: new(text)},
		"pdf-forms/a%20dir/x%20%26%20y.md": {URI: "skill://pdf-forms/a%20dir/x%20&%20y.md", Type: "text/markdown", Text: new("beside")},
		"pdf-forms/logo.png":               {URI: "skill://pdf-forms/logo.png", Type: "image/png", Blob: "iVBOR/8="},
	} {
		got := f.do("GET", "/api/skills/"+path, "")
		var page skillPage
		if err := json.Unmarshal(got.Body.Bytes(), &page); err != nil || got.Code != http.StatusOK || len(page.Contents) != 1 {
			t.Errorf("%s: %d %s", path, got.Code, got.Body)
			continue
		}
		c := page.Contents[0]
		if c.URI != want.URI || c.Type != want.Type || c.Blob != want.Blob || (c.Text == nil) != (want.Text == nil) ||
			c.Text != nil && *c.Text != *want.Text {
			t.Errorf("%s: %s", path, got.Body)
		}
		if main := want.URI == "skill://pdf-forms/SKILL.md"; (len(page.Files) == 3 && page.Skill != nil) != main {
			t.Errorf("%s lists %+v of %+v", path, page.Files, page.Skill)
		}
	}
	for _, path := range []string{
		"none", "pdf-forms/.env", "pdf-forms/..%2fpdf-forms/SKILL.md", "pdf-forms/%2e%2e/x", "pdf-forms//etc/passwd", "pdf-forms/",
		"pdf-forms/none.md", "../../etc/passwd",
	} {
		if got := f.do("GET", "/api/skills/"+path, ""); got.Code < 400 && path != "pdf-forms/" {
			t.Errorf("%s: %d %s", path, got.Code, got.Body)
		}
	}
	if p := readProblem(t, f.do("GET", "/api/skills?x=1", "")); p.Status != http.StatusBadRequest {
		t.Errorf("%+v", p)
	}
	none := newFixture(t, func(*Options) {})
	if got := none.do("GET", "/api/skills", ""); strings.TrimSpace(got.Body.String()) != `{"skills":[]}` {
		t.Errorf("%s", got.Body)
	}
	if p := readProblem(t, none.do("GET", "/api/skills/pdf-forms", "")); p.Status != http.StatusNotFound {
		t.Errorf("%+v", p)
	}
}
