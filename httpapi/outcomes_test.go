package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"tooldex/access"
	"tooldex/confirm"
	"tooldex/tool"
)

// described holds an answer that a test of this package got to the description of its operation: its status, the
// headers that come with it, and the code of a problem. What is no operation is not described.
func (f *fixture) described(req *http.Request, w *httptest.ResponseRecorder) {
	f.t.Helper()
	c := f.echo.NewContext(req, httptest.NewRecorder())
	f.echo.Router().Find(req.Method, echo.GetPath(req), c)
	for _, r := range f.routes() {
		if r.method != req.Method || r.routerPath() != c.Path() || r.id == "callTool" &&
			!strings.HasSuffix(req.URL.EscapedPath(), callSuffix) {
			continue
		}
		if w.Code == http.StatusOK {
			return
		}
		at := slices.IndexFunc(allOutcomes(), func(o outcome) bool {
			return o.status == w.Code && (o.of == nil || o.of(r))
		})
		if at < 0 {
			f.t.Errorf("%s answers %s with %d, of which its description says nothing: %s", r.id, req.URL, w.Code,
				w.Body)
			return
		}
		known := allOutcomes()[at]
		for name := range known.headers {
			if w.Header().Get(name) == "" {
				f.t.Errorf("%s answers with %d and without %s", r.id, w.Code, name)
			}
		}
		if len(known.codes) > 0 {
			var p problem
			if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || !slices.Contains(known.codes, p.Code) {
				f.t.Errorf("%s answers with %d and code %q, want one of %v (%v)", r.id, w.Code, p.Code, known.codes,
					err)
			}
		}
		return
	}
}

// TestOutcomesAreThoseOfErrors holds the table against problemOf, both ways.
func TestOutcomesAreThoseOfErrors(t *testing.T) {
	errs := []error{
		errors.New("a fault"), context.DeadlineExceeded, &http.MaxBytesError{}, tool.ErrConflict, errNotJSON,
		bodyError(os.ErrDeadlineExceeded),
		echo.NewHTTPError(http.StatusTooManyRequests, "x"), &tool.Error{Code: tool.Denied, Err: access.ErrToken},
		&tool.Error{Code: tool.Denied, Err: confirm.Unasked}, errBusy, errStopping,
	}
	for _, c := range tool.Codes() {
		errs = append(errs, &tool.Error{Code: c})
	}
	said := map[string]bool{}
	for _, o := range allOutcomes() {
		for _, code := range o.codes {
			said[fmt.Sprintf("%d %s", o.status, code)] = true
		}
	}
	given := map[string]bool{}
	for _, err := range errs {
		p := problemOf(err, "")
		given[fmt.Sprintf("%d %s", p.Status, p.Code)] = true
	}
	if !maps.Equal(said, given) {
		t.Errorf("described are %v, and given are %v", slices.Sorted(maps.Keys(said)), slices.Sorted(maps.Keys(given)))
	}
}

// TestOutcomesAreDescribed reads the description as a client does: the call tells of the confirmation that it may want,
// busy answers of when to come back, and each reference of where it leads.
func TestOutcomesAreDescribed(t *testing.T) {
	f := newFixture(t, nil)
	var d document
	if err := json.Unmarshal(f.do("GET", "/openapi.json", "").Body.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	for path, methods := range d.Paths {
		for method, op := range methods {
			for status, answer := range op.Responses {
				if at, ok := strings.CutPrefix(answer.Ref, "#/components/responses/"); answer.Ref != "" &&
					(!ok || at != status || d.Components.Responses[at].Description == "") {
					t.Errorf("%s %s: %s leads to %q, where nothing is", method, path, status, answer.Ref)
				}
			}
			if _, ok := op.Responses["409"]; ok != (op.ID == "callTool") {
				t.Errorf("%s: 409 is described: %v", op.ID, ok)
			}
			if _, ok := op.Responses["401"]; ok != (op.Security == nil) {
				t.Errorf("%s: 401 is described: %v", op.ID, ok)
			}
		}
	}
	for _, o := range allOutcomes() {
		if _, ok := d.Components.Responses[strconv.Itoa(o.status)].Headers["Retry-After"]; ok != (o.status == http.StatusTooManyRequests || o.status == http.StatusServiceUnavailable) {
			t.Errorf("%d: Retry-After is described: %v", o.status, ok)
		}
		var problem struct {
			Properties map[string]struct{ Description string }
		}
		raw, err := json.Marshal(d.Components.Schemas["Problem"])
		if err != nil || json.Unmarshal(raw, &problem) != nil {
			t.Fatal(err)
		}
		for _, code := range o.codes {
			if !strings.Contains(problem.Properties["code"].Description, code) {
				t.Errorf("Problem says nothing of the code %s", code)
			}
		}
	}
}
