package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tooldex/access"
	"tooldex/tool"
)

// answering is an Identifier that says the same of every token.
type answering struct {
	by  access.Grant
	err error
}

func (answering) Guarded() bool { return true }

func (a answering) Identify(_ context.Context, token, _ string) (access.Grant, error) {
	if token == "" {
		return access.Grant{}, &tool.Error{Code: tool.Denied, Msg: "no token was sent", Err: access.ErrToken}
	}
	return a.by, a.err
}

func TestChallenge(t *testing.T) {
	expired := &tool.Error{
		Code: tool.Denied, Msg: `the "token" has` + "\r\nSet-Cookie: a=b" + ` expired\`,
		Err: access.ErrToken,
	}
	lacking := &tool.Error{Code: tool.Denied, Msg: "the token lacks the scope tools"}
	const at = `resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/base`
	for name, c := range map[string]struct {
		err      error
		token    string
		path     string
		resource bool
		status   int
		want     string
	}{
		"none": {nil, "", "/search?q=a", false, 401, `Bearer realm="tooldex"`},
		"expired": {
			expired, "t", "/search?q=a", false, 401,
			`Bearer realm="tooldex", error="invalid_token", error_description="the token hasSet-Cookie: a=b expired"`,
		},
		"none, by OAuth": {nil, "", "/mcp", true, 401, `Bearer realm="tooldex", ` + at +
			`/mcp", scope="tools more"`},
		"of a profile": {nil, "", "/mcp/files", true, 401, `Bearer realm="tooldex", ` + at +
			`/mcp/files", scope="tools more"`},
		"of no name": {nil, "", "/mcp/a%22b", true, 401, `Bearer realm="tooldex", ` + at +
			`", scope="tools more"`},
		"too little": {
			lacking, "t", "/mcp", true, 403,
			`Bearer realm="tooldex", error="insufficient_scope", error_description="the token lacks the scope tools", ` + at + `/mcp", scope="tools more"`,
		},
		"nobody can tell":      {&tool.Error{Code: tool.Unavailable, Msg: "ask later"}, "t", "/mcp", true, 503, ""},
		"something went wrong": {&tool.Error{Code: tool.Internal, Msg: "oh"}, "t", "/mcp", true, 500, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, func(o *Options) {
				o.Access = answering{err: c.err}
				o.MCP = http.NotFoundHandler()
				if c.resource {
					o.Resource = &Resource{
						URL:     "https://tools.example.com/base/",
						Issuers: []string{"https://login.example.com"}, Scopes: []string{"tools", "more"},
					}
				}
			})
			var headers []string
			if c.token != "" {
				headers = []string{"Authorization", "Bearer " + c.token}
			}
			w := f.do("GET", c.path, "", headers...)
			if got := w.Header().Get("WWW-Authenticate"); w.Code != c.status || got != c.want {
				t.Errorf("%d %s\nwant %d %s", w.Code, got, c.status, c.want)
			}
			if w.Header().Get("Set-Cookie") != "" {
				t.Error("a message has become a header")
			}
		})
	}
}

func TestTwoTokens(t *testing.T) {
	f := newFixture(t, func(o *Options) { o.Access = oneToken("t") })
	req := httptest.NewRequest(http.MethodGet, "/search?q=read", nil)
	req.Host, req.Header["Authorization"] = "127.0.0.1", []string{"Bearer t", "Bearer u"}
	w := httptest.NewRecorder()
	if f.Handler().ServeHTTP(w, req); w.Code != http.StatusBadRequest {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestResourceMetadata(t *testing.T) {
	f := newFixture(t, func(o *Options) {
		o.Access, o.MCP = oneToken("t"), http.NotFoundHandler()
		o.Resource = &Resource{
			URL: "https://tools.example.com", Issuers: []string{"https://login.example.com"},
			Scopes: []string{"tools"},
		}
	})
	for path, want := range map[string]string{
		"":             "https://tools.example.com",
		"/mcp":         "https://tools.example.com/mcp",
		"/mcp/files":   "https://tools.example.com/mcp/files",
		"/mcp/no/more": "",
		"/mcp/%0d%0a":  "",
		"/api/tools":   "",
		"/..":          "",
	} {
		w := f.do("GET", metadataPath+path, "")
		var m struct {
			Resource string
			Servers  []string `json:"authorization_servers"`
			Scopes   []string `json:"scopes_supported"`
		}
		err := json.Unmarshal(w.Body.Bytes(), &m)
		switch {
		case want == "" && w.Code != http.StatusNotFound:
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		case want != "" && (err != nil || w.Code != http.StatusOK || m.Resource != want || len(m.Servers) != 1 ||
			len(m.Scopes) != 1):
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	if w := newFixture(t, nil).do("GET", metadataPath, ""); w.Code != http.StatusNotFound {
		t.Errorf("a service that takes no such tokens describes itself: %d", w.Code)
	}
}

// TestStreamsEndWithTheirToken holds a stream open until its token is revoked, or expires.
func TestStreamsEndWithTheirToken(t *testing.T) {
	for name, c := range map[string]struct {
		expires time.Duration
		revoke  time.Duration
		open    time.Duration
	}{
		"neither": {0, 0, time.Hour},
		"expires": {time.Minute, 0, time.Minute},
		"revoked": {time.Minute, time.Second, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				alive, revoke := context.WithCancel(context.Background())
				defer revoke()
				by := access.Grant{Principal: access.Principal{Name: "token ci", Key: "k"}, Alive: alive}
				if c.expires > 0 {
					by.Expires = time.Now().Add(c.expires)
				}
				var took time.Duration
				var who access.Principal
				f := newFixture(t, func(o *Options) {
					o.Access = answering{by: by}
					o.MCP = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
						who = access.PrincipalOf(r.Context())
						start := time.Now()
						if c.revoke > 0 {
							time.AfterFunc(c.revoke, revoke)
						}
						select {
						case <-r.Context().Done():
						case <-time.After(time.Hour):
						}
						took = time.Since(start)
					})
				})
				f.do("GET", "/mcp", "", "Authorization", "Bearer t")
				if took != c.open || who != by.Principal {
					t.Errorf("it was open for %v, want %v; it is of %v", took, c.open, who)
				}
				if !strings.Contains(f.log.String(), `who="token ci"`) {
					t.Errorf("the log does not say whose the request was\n%s", f.log)
				}
			})
		})
	}
}
