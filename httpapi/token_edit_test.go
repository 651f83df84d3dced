package httpapi

import (
	"net/http"
	"strings"
	"testing"

	"tooldex/access"
	"tooldex/tool"
)

// TestRefusedEdits wants every operation that changes a server to ask who may do it, before anything else is done.
func TestRefusedEdits(t *testing.T) {
	f := newFixture(t, func(o *Options) {
		o.RefuseEdit = func(access.Principal) error {
			return &tool.Error{Code: tool.Denied, Msg: "not you", Hint: "ask the owner"}
		}
	})
	asked := 0
	for _, r := range f.routes() {
		// Starting and stopping a server changes nothing that lasts.
		if r.method == http.MethodGet || !strings.HasPrefix(r.path, serversPath) || strings.HasSuffix(r.path, startSuffix) ||
			strings.HasSuffix(r.path, "/stop") {
			continue
		}
		asked++
		w := f.do(r.method, strings.ReplaceAll(r.path, "{server}", "files"), `{}`)
		if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "not you") {
			t.Errorf("%s %s answers %d: %s", r.method, r.path, w.Code, w.Body)
		}
	}
	if asked < 7 {
		t.Errorf("only %d operations were asked for", asked)
	}
}
