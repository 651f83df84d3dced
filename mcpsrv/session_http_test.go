package mcpsrv

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"tooldex/access"
	"tooldex/internal/orderedjson"
	"tooldex/tool"
)

// as makes a handler believe that requests are from whom their header says.
func as(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if key := r.Header.Get("X-Who"); key != "" {
			r = r.WithContext(access.WithPrincipal(r.Context(), access.Principal{Name: key, Key: key}))
		}
		next.ServeHTTP(w, r)
	})
}

// asking sends one request and returns its status, its body unless it is a stream, and its session.
func asking(t *testing.T, url, method, who, session, body string, headers ...string) (int, string, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	if who != "" {
		req.Header.Set("X-Who", who)
	}
	if session != "" {
		req.Header.Set(sessionHeader, session)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if method == http.MethodGet && res.StatusCode == http.StatusOK {
		return res.StatusCode, "", session
	}
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b), res.Header.Get(sessionHeader)
}

const (
	helloMessage = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	listMessage  = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
)

// TestSessionsOfOthers has principals try each other's sessions, in all ways in which a session can be used. What they
// hear is what they would hear of one that is not there.
func TestSessionsOfOthers(t *testing.T) {
	s := newFixture(t, smallServer(t), Options{}).Server
	web := httptest.NewServer(as(s.Handler()))
	t.Cleanup(web.Close)
	for _, owner := range []string{"ana", ""} {
		status, _, session := asking(t, web.URL, "POST", owner, "", helloMessage)
		if status != http.StatusOK || session == "" {
			t.Fatalf("%d %s", status, session)
		}
		for _, other := range []string{"ana", "eve", ""} {
			for name, c := range map[string]struct {
				method, body string
				headers      []string
			}{
				"call":         {"POST", listMessage, nil},
				"notification": {"POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil},
				"stream":       {"GET", "", []string{"Accept", "text/event-stream"}},
				"resume":       {"GET", "", []string{"Accept", "text/event-stream", "Last-Event-ID", "0_0"}},
				"bad accept":   {"GET", "", []string{"Accept", "text/html"}},
				"bad type":     {"POST", listMessage, []string{"Content-Type", "text/plain"}},
				"no message":   {"POST", "{", nil},
				"odd revision": {"POST", listMessage, []string{"Mcp-Protocol-Version", "1999-01-01"}},
				"end":          {"DELETE", "", nil},
			} {
				if other == owner {
					continue
				}
				status, body, _ := asking(t, web.URL, c.method, other, session, c.body, c.headers...)
				absent, nothing, _ := asking(t, web.URL, c.method, other, "ABSENTABSENTABSENTABSENTAB", c.body,
					c.headers...)
				if status != absent || body != nothing || status < 400 {
					t.Errorf("%s of %q in the session of %q: %d %q, in one that is not there: %d %q", name, other,
						owner, status, body, absent, nothing)
				}
				if name == "call" && status != http.StatusNotFound {
					t.Errorf("a call in another's session is answered %d", status)
				}
			}
		}
		if status, body, _ := asking(t, web.URL, "POST", owner, session, listMessage); status != http.StatusOK ||
			!strings.Contains(body, `"tools"`) {
			t.Errorf("after all of it the owner %q hears %d %s", owner, status, body)
		}
	}
}

// TestEndSessions ends those of one principal, and no other's.
func TestEndSessions(t *testing.T) {
	s := newFixture(t, smallServer(t), Options{}).Server
	web := httptest.NewServer(as(s.Handler()))
	t.Cleanup(web.Close)
	sessions := map[string]string{}
	for _, who := range []string{"ana", "eve", ""} {
		_, _, sessions[who] = asking(t, web.URL, "POST", who, "", helloMessage)
	}
	s.EndSessions("eve")
	for who, id := range sessions {
		want := http.StatusOK
		if who == "eve" {
			want = http.StatusNotFound
		}
		if status, body, _ := asking(t, web.URL, "POST", who, id, listMessage); status != want {
			t.Errorf("%q hears %d %s, want %d", who, status, body, want)
		}
	}
}

// TestEndedSessionsAreForgotten begins and ends many sessions.
func TestEndedSessionsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFixture(t, smallServer(t), Options{}).Server
		h := as(s.Handler())
		do := func(method, session, body string) *httptest.ResponseRecorder {
			req := httptest.NewRequest(method, "http://127.0.0.1/", strings.NewReader(body))
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			req.Header.Set("X-Who", "ana")
			req.Header.Set(sessionHeader, session)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, req)
			return w
		}
		for range 500 {
			do("DELETE", do("POST", "", helloMessage).Header().Get(sessionHeader), "")
		}
		synctest.Wait()
		if n := len(s.sessions.byID) + len(s.sessions.byConn); n > 0 {
			t.Errorf("%d sessions are remembered, of which none is open", n)
		}
	})
}

// TestHeldCallsOfOthers has others answer for the client whose call waits. They hear what they would hear of a call
// that is not there, and it goes on waiting.
func TestHeldCallsOfOthers(t *testing.T) {
	client := &tool.Client{Rounds: true, Capabilities: json.RawMessage(`{"elicitation":{}}`)}
	ana := access.WithPrincipal(t.Context(), access.Principal{Key: "ana"})
	s := newFixture(t, nil, Options{}).Server
	first, err := s.runAskingClient(ana, client, "", nil, func(ctx context.Context, c *tool.Client,
		_ json.RawMessage,
	) (json.RawMessage, error) {
		return c.Ask(ctx, elicitMethod, json.RawMessage(`{"message":"?"}`))
	})
	var asked struct{ RequestState string }
	if err != nil || json.Unmarshal(first, &asked) != nil || asked.RequestState == "" {
		t.Fatalf("%s, %v", first, err)
	}
	answer := func(ctx context.Context, state string) (string, error) {
		raw, err := s.runAskingClient(ctx, client, "", orderedjson.Encode(map[string]any{
			"requestState":   state,
			"inputResponses": map[string]any{answerKey: map[string]any{"action": "accept"}},
		}), nil)
		return string(raw), err
	}
	for who, ctx := range map[string]context.Context{
		"eve":    access.WithPrincipal(t.Context(), access.Principal{Key: "eve"}),
		"nobody": t.Context(),
	} {
		_, err := answer(ctx, asked.RequestState)
		_, absent := answer(ctx, holdPrefix+"ABSENT")
		if tool.CodeOf(err) != tool.NotFound || err.Error() != absent.Error() {
			t.Errorf("%s hears %v, and of none %v", who, err, absent)
		}
	}
	if got, err := answer(ana, asked.RequestState); err != nil || got != `{"action":"accept"}` {
		t.Errorf("its own client hears %s, %v", got, err)
	}
}
