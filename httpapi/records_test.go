package httpapi

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"tooldex/audit"
	"tooldex/tool"
)

// TestRecords reads a real record of calls, filtered and from a place on, and holds that no argument is shown.
func TestRecords(t *testing.T) {
	log := audit.New(audit.Options{Dir: t.TempDir(), Arguments: true})
	t.Cleanup(func() { _ = log.Close() })
	f := newFixture(t, func(o *Options) { o.Records = log })
	for _, client := range []string{"editor", "editor", "shell"} {
		c := tool.Call{ID: "files/read_file", Arguments: json.RawMessage(`{"path":"hush-hush"}`), Who: tool.Asker{Client: client}}
		if _, err := log.Caller(f).Call(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	log.Changed(t.Context(), tool.Asker{Client: "shell"}, "servers add", "a", nil)
	for query, want := range map[string]int{
		"": 4, "?client=editor": 2, "?tool=files/*": 3, "?tool=github/*": 0, "?outcome=failed": 0, "?kind=change": 1,
		"?limit=1": 1, "?after=3": 1, "?after=4": 0, "?since=2126-01-01T00:00:00Z": 0, "?since=2006-01-01T00:00:00Z": 4,
	} {
		var got recordList
		w := f.do("GET", "/api/audit"+query, "")
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", query, w.Code, w.Body)
		}
		if len(got.Records) != want || got.Last != 4 || strings.Contains(w.Body.String(), "hush") {
			t.Errorf("%s: %d records, want %d, the last is %d: %s", query, len(got.Records), want, got.Last, w.Body)
		}
	}
	for _, query := range []string{
		"?since=yesterday", "?tool=[", "?outcome=good", "?after=-1", "?limit=1001", "?limit=x", "?who=me",
	} {
		if p := readProblem(t, f.do("GET", "/api/audit"+query, "")); p.Status != http.StatusBadRequest {
			t.Errorf("%s: %+v", query, p)
		}
	}
	none := newFixture(t, func(o *Options) { o.Records = nil })
	if p := readProblem(t, none.do("GET", "/api/audit", "")); p.Status != http.StatusNotFound {
		t.Errorf("without records: %+v", p)
	}
}

// TestWhoami asks with and without a token, and for a narrower view.
func TestWhoami(t *testing.T) {
	ask := func(f *fixture, headers ...string) (out whoami) {
		t.Helper()
		w := f.do("GET", "/api/whoami", "", headers...)
		if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		return out
	}
	if got, want := ask(newFixture(t, nil)), (whoami{Version: "1.2.3"}); got != want {
		t.Errorf("without tokens: %+v", got)
	}
	f := newFixture(t, func(o *Options) {
		o.Access = oneToken("t")
		o.Profile, o.ReadOnly = "work", true
	})
	got := ask(f, "Authorization", "Bearer t")
	if got.Name == "" || got.Profile != "work" || !got.ReadOnly || !got.Guarded {
		t.Errorf("with a token: %+v", got)
	}
	if w := f.do("GET", "/api/whoami", ""); w.Code != http.StatusUnauthorized {
		t.Errorf("without the token: %d", w.Code)
	}
	none := newFixture(t, func(o *Options) { o.People = nil })
	if p := readProblem(t, none.do("GET", "/api/access", "")); p.Status != http.StatusNotFound {
		t.Errorf("access without people: %+v", p)
	}
}
