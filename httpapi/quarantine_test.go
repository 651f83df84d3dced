package httpapi

import (
	"context"
	"net/http"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tooldex/scan"
	"tooldex/tool"
)

// ward holds one tool until its form is approved.
type ward struct{ approved []scan.Approval }

func (w *ward) Review() []scan.Review {
	if len(w.approved) > 0 {
		return nil
	}
	return []scan.Review{{
		ID: "a/b", Held: true, Why: "it changed", Form: "f1",
		Suspicions: []scan.Finding{{Rule: "conceal", Excerpt: "<b>"}}, Changes: []scan.Change{{
			Field: "title",
			Now:   "x",
		}},
	}}
}

func (w *ward) Accept(_ context.Context, approvals []scan.Approval) error {
	for _, a := range approvals {
		switch {
		case a.ID != "a/b":
			return &tool.Error{Code: tool.NotFound, Msg: "there is no tool " + string(a.ID)}
		case a.Form != "f1":
			return &tool.Error{Code: tool.Invalid, Msg: "it changed", Err: tool.ErrConflict}
		}
	}
	w.approved = append(w.approved, approvals...)
	return nil
}

func TestQuarantine(t *testing.T) {
	w := &ward{}
	f := newFixture(t, func(o *Options) { o.Quarantine = w })
	const shown = `{"tools":[{"id":"a/b","held":true,"why":"it changed","form":"f1","suspicions":[{"rule":"conceal","severity":"","field":"","excerpt":"<b>","why":"","remedy":""}],"changes":[{"field":"title","now":"x"}]}]}`
	if got := f.do("GET", "/api/quarantine", ""); got.Code != http.StatusOK ||
		strings.TrimSpace(got.Body.String()) != shown {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	for body, want := range map[string]int{
		`{}`:                                   400,
		`{"tools":[]}`:                         400,
		`{"tools":[{"id":"a/b"}]}`:             400, // which form was looked at must be said
		`{"tools":[{"id":"a/b","form":"f2"}]}`: 412,
		`{"tools":[{"id":"a/b","form":"f1"},{"id":"a/c","form":"f1"}]}`: 404,
	} {
		if p := readProblem(t, f.do("POST", "/api/quarantine/approve", body)); p.Status != want {
			t.Errorf("%s: %+v, want %d", body, p, want)
		}
	}
	if w.approved != nil {
		t.Errorf("approved %v", w.approved)
	}
	if got := f.do("POST", "/api/quarantine/approve",
		`{"tools":[{"id":"a/b","form":"f1"}]}`); got.Code != http.StatusOK ||
		strings.TrimSpace(got.Body.String()) != `{"tools":[]}` {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	if diff := gocmp.Diff([]scan.Approval{{ID: "a/b", Form: "f1"}}, w.approved); diff != "" {
		t.Errorf("approved (-want +got):\n%s", diff)
	}
}

// TestNobodyApprovesByAccident holds approvals to the guards of changes: a token that only reads, another origin,
// another host.
func TestNobodyApprovesByAccident(t *testing.T) {
	const path, body = "/api/quarantine/approve", `{"tools":[{"id":"a/b","form":"f1"}]}`
	w := &ward{}
	if p := readProblem(t, newFixture(t, func(o *Options) { o.Quarantine, o.ReadOnly = w, true }).do("POST", path,
		body)); p.Status != http.StatusForbidden {
		t.Errorf("with a token that only reads: %+v", p)
	}
	if p := readProblem(t, newFixture(t, func(o *Options) { o.Quarantine, o.Access = w, oneToken("t") }).do("POST", path,
		body)); p.Status != http.StatusUnauthorized {
		t.Errorf("without the token: %+v", p)
	}
	if p := readProblem(t, newFixture(t, nil).do("POST", path, body)); p.Status != http.StatusForbidden {
		t.Errorf("where nobody keeps a quarantine: %+v", p)
	}
	if got := newFixture(t, nil).do("GET", "/api/quarantine",
		""); strings.TrimSpace(got.Body.String()) != `{"tools":[]}` {
		t.Errorf("where nobody keeps a quarantine: %s", got.Body)
	}
	if w.approved != nil {
		t.Errorf("approved %v", w.approved)
	}
}

// TestHeldToolsAreForbidden holds the API to refusing what is held with its remedy, and the list to leaving it out.
func TestHeldToolsAreForbidden(t *testing.T) {
	f := newFixture(t, nil)
	whole := f.Set()
	warned := *whole.All()[0]
	warned.Warning = "it looks suspicious"
	held := whole.All()[1].ID()
	set := tool.NewSet(append([]*tool.Tool{&warned}, whole.All()[1:]...), "").Withhold(func(t *tool.Tool) string {
		if t.ID() == held {
			return "it changed"
		}
		return ""
	})
	f.o.Catalog = fixedSet{set}
	for method, target := range map[string]string{
		"GET":  "/api/tools/" + string(held),
		"POST": "/api/tools/" + string(held) + "/call",
	} {
		body := map[string]string{"POST": "{}"}[method]
		if p := readProblem(t, f.do(method, target, body)); p.Status != http.StatusForbidden ||
			!strings.Contains(p.Detail, "it changed") {
			t.Errorf("%s %s: %+v", method, target, p)
		}
	}
	list := f.do("GET", "/api/tools?include_disabled=true", "").Body.String()
	if strings.Contains(list, string(held)) || !strings.Contains(list, `"warning":"it looks suspicious"`) {
		t.Errorf("the list is %s", list)
	}
	if page := f.do("GET", "/api/tools/"+string(warned.ID()), "").Body.String(); !strings.Contains(page,
		`"warning":"it looks suspicious"`) {
		t.Errorf("the page is %s", page)
	}
}

type fixedSet struct{ set *tool.Set }

func (f fixedSet) Set() *tool.Set { return f.set }
