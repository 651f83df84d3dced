package main

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"tooldex/httpapi"
)

// TestOverlaysOverHTTP says something of a tool, as the panel does, and holds that searches heed it, that a restart
// keeps it, and that it can be taken back.
func TestOverlaysOverHTTP(t *testing.T) {
	const path, request = "/api/overlays/github%2Fmerge_pull_request", "let my work land in the trunk"
	data := t.TempDir()
	put := func(t *testing.T, base, body string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, base+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if err := res.Body.Close(); err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s answers %d, %v", path, res.StatusCode, err)
		}
	}
	insight := func(t *testing.T, base string) (in httpapi.ToolInsight) {
		t.Helper()
		if err := json.Unmarshal(apiBody(t, base, "/api/insights/github%2Fmerge_pull_request"), &in); err != nil {
			t.Fatal(err)
		}
		return in
	}
	importDemo(t, data)
	t.Run("say", func(t *testing.T) {
		base := serveHTTP(t, data)
		before := insight(t, base)
		if !before.Borrows || len(before.Lenders) == 0 || len(before.Related) == 0 || len(before.Sayings) < 10 {
			t.Errorf("it is known that %+v", before)
		}
		put(t, base, `{"utterances":["`+request+`"],"synonyms":["land"],"summary":"Merge it"}`)
		if hits := finds(t, base, request); len(hits) == 0 || hits[0].ID != "github/merge_pull_request" ||
			hits[0].Summary != "Merge it" {
			t.Errorf("it finds %+v", hits)
		}
		if !slices.ContainsFunc(insight(t, base).Sayings, func(s httpapi.Saying) bool {
			return s.Text == request && s.From == "declared"
		}) {
			t.Error("what was said is not told")
		}
	})
	t.Run("after a restart", func(t *testing.T) {
		base := serveHTTP(t, data)
		if got := strings.TrimSpace(string(apiBody(t, base,
			path))); got != `{"summary":"Merge it","synonyms":["land"],"utterances":["`+request+`"]}` {
			t.Errorf("said is %s", got)
		}
		put(t, base, `{"enabled":false}`)
		for _, h := range finds(t, base, "merge a pull request") {
			if h.ID == "github/merge_pull_request" {
				t.Error("a disabled tool is found")
			}
		}
	})
	runCommand(t, data, "servers", "remove", "panel")
	if out := runCommand(t, data, "search", "-o", "json", "merge a pull request"); !strings.Contains(out,
		"github/merge_pull_request") || strings.Contains(out, "Merge it") {
		t.Errorf("what was taken back still holds: %s", out)
	}
}
