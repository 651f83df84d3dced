package httpapi

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"tooldex/tool"
	"tooldex/upstream"
)

// keeper starts and stops one server, "a b".
type keeper struct{ did []string }

func (k *keeper) do(what, server string) error {
	if server != "a b" {
		return &tool.Error{Code: tool.NotFound, Msg: "there is no server " + server}
	}
	k.did = append(k.did, what)
	return nil
}

func (k *keeper) Start(ctx context.Context, server string) error {
	if _, bounded := ctx.Deadline(); bounded {
		return errors.New("a start has less time than the server takes")
	}
	return k.do("start", server)
}

func (k *keeper) Stop(server string) error { return k.do("stop", server) }

func (k *keeper) Log(server string) ([]upstream.LogLine, error) {
	return []upstream.LogLine{{Time: time.Unix(1e9, 0).UTC(), From: upstream.FromServer, Text: "ready <now>"}},
		k.do("log", server)
}

func TestOperate(t *testing.T) {
	k := &keeper{}
	f := newFixture(t, func(o *Options) { o.Operator = k })
	for _, c := range [][3]string{
		{"POST", "/api/servers/a%20b/start", `{"status":"ok"}`},
		{"POST", "/api/servers/a%20b/stop", `{"status":"ok"}`},
		{"GET", "/api/servers/a%20b/log", `{"lines":[{"time":"2001-09-09T01:46:40Z","from":"server","text":"ready <now>"}]}`},
	} {
		if w := f.do(c[0], c[1], ""); w.Code != http.StatusOK || strings.TrimSpace(w.Body.String()) != c[2] {
			t.Errorf("%s %s: %d %s", c[0], c[1], w.Code, w.Body)
		}
		other := strings.Replace(c[1], "a%20b", "c", 1)
		for target, want := range map[string]int{other: 404, c[1] + "?x=1": 400} {
			if p := readProblem(t, f.do(c[0], target, "")); p.Status != want {
				t.Errorf("%s %s: %+v, want %d", c[0], target, p, want)
			}
		}
		if p := readProblem(t, newFixture(t, nil).do(c[0], c[1], "")); p.Status != http.StatusNotFound ||
			p.Detail != "servers cannot be managed here" {
			t.Errorf("%s without an operator: %+v", c[1], p)
		}
	}
	if d := gocmp.Diff([]string{"start", "stop", "log"}, k.did); d != "" {
		t.Errorf("done (-want +got)\n%s", d)
	}
	if w := f.do("GET", "/api/servers/a%20b/start", ""); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("a start by GET gives %d", w.Code)
	}
}

// TestPanelNeedsNoToken holds that the page is served to all, and that what it shows is not.
func TestPanelNeedsNoToken(t *testing.T) {
	var asked []string
	f := newFixture(t, func(o *Options) {
		o.Access = oneToken("s3cret")
		o.Panel = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.Method+" "+r.URL.Path)
		})
	})
	for _, c := range []struct {
		method, target string
		want           int
	}{
		{"GET", "/", 200},
		{"HEAD", "/", 200},
		{"GET", "/panel/app.js", 200},
		{"POST", "/", 405},
		{"POST", "/panel/app.js", 405},
		{"GET", "/panel", 401},
		{"GET", "/panelx", 401},
		{"GET", "/api/tools", 401},
		{"GET", "/search?q=a", 401},
	} {
		if w := f.do(c.method, c.target, ""); w.Code != c.want {
			t.Errorf("%s %s: %d, want %d", c.method, c.target, w.Code, c.want)
		}
	}
	if want := []string{"GET /", "HEAD /", "GET /panel/app.js"}; !slices.Equal(asked, want) {
		t.Errorf("the panel was asked for %q", asked)
	}
	if w := f.do("GET", "/", "", "Host", "attacker.example"); w.Code != http.StatusForbidden {
		t.Errorf("a page of another name gets %d", w.Code)
	}
}

// TestTrials holds that what somebody tries out teaches nothing and says so to what counts.
func TestTrials(t *testing.T) {
	d := &diary{}
	f := newFixture(t, func(o *Options) { o.Learner = d })
	for target, body := range map[string]string{
		"GET /search?q=read&trial=true": "",
		"POST /search":                  `{"query":"read","trial":true}`,
	} {
		method, path, _ := strings.Cut(target, " ")
		f.queries = nil
		if w := f.do(method, path, body); w.Code != http.StatusOK || len(f.queries) != 1 || !f.queries[0].Trial {
			t.Errorf("%s: %d, queries %+v", target, w.Code, f.queries)
		}
	}
	if len(d.lines) != 0 {
		t.Errorf("a learner was told %q", d.lines)
	}
}
