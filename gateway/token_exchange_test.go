package gateway

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/authtest"
	"tooldex/tool"
	"tooldex/upstream"
)

// protectedBank is the bank behind an authorization server.
func protectedBank(t *testing.T, as *authtest.Server) *authtest.Resource {
	t.Helper()
	handler := mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		return bankServer(r.Header.Get("X-Person"))
	}, &mcp.StreamableHTTPOptions{SessionTimeout: 5 * time.Second})
	return as.Protect(t, func(person string, w http.ResponseWriter, r *http.Request) {
		r.Header.Set("X-Person", person)
		handler.ServeHTTP(w, r)
	})
}

// exchangeStack is a gateway to the bank that exchanges tokens, and its log.
type exchangeStack struct {
	*Gateway
	as   *authtest.Server
	bank *authtest.Resource
	log  *lockedBuffer
}

func startExchange(t *testing.T, change func(*upstream.Server)) *exchangeStack {
	t.Helper()
	as := authtest.New(t)
	st := &exchangeStack{as: as, bank: protectedBank(t, as), log: &lockedBuffer{}}
	as.Change(func() { as.Audiences[st.bank.URL] = true })
	entry := upstream.Server{Name: "bank", URL: st.bank.URL, OAuth: &upstream.OAuth{
		Exchange: as.URL + "/token", Audience: st.bank.URL, ClientID: authtest.ClientID, ClientSecret: "${SECRET}",
	}}
	if change != nil {
		change(&entry)
	}
	st.Gateway = startGateway(t, Options{
		Users:  &userKeys{values: map[[4]string]string{}},
		Logger: slog.New(slog.NewTextHandler(st.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		LookupEnv: func(name string) (string, bool) {
			return authtest.ClientSecret, name == "SECRET"
		},
	}, entry)
	return st
}

// lockedBuffer is a log that several goroutines write.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// token returns an access token for tooldex.
func (st *exchangeStack) token(user string) string {
	return st.as.TokenFor(user, "desk", "https://tools.example.com", time.Hour)
}

// call calls a tool as a user who came with a token.
func (st *exchangeStack) call(t *testing.T, user, token, name, args string) (string, error) {
	t.Helper()
	ctx := context.WithValue(as(t.Context(), user), tokenOfTest{}, token)
	res, err := st.Call(ctx, tool.Call{ID: tool.MakeID("bank", name), Arguments: []byte(args)})
	if err != nil {
		return "", err
	}
	return textOf(t, res), nil
}

func (st *exchangeStack) mustCall(t *testing.T, user, token, name, args, want string) {
	t.Helper()
	if got, err := st.call(t, user, token, name, args); err != nil || got != want {
		t.Errorf("%s is answered with %q, %v, want %q", user, got, err, want)
	}
}

// asked returns how often the authorization server was asked for an exchange.
func (st *exchangeStack) asked() (n int) {
	st.as.Change(func() { n = st.as.Asked["token-exchange"] })
	return n
}

// TestExchange has two users call with tokens of their own, at the same time, and wants each to be answered as who they
// are, the server to see no token of a caller, and one exchange for each token.
func TestExchange(t *testing.T) {
	st := startExchange(t, nil)
	tokens := map[string]string{"ana": st.token("ana"), "ben": st.token("ben")}
	var wait sync.WaitGroup
	for i := range 30 {
		user := []string{"ana", "ben"}[i%2]
		wait.Go(func() { st.mustCall(t, user, tokens[user], "balance", "", "the balance of "+user) })
	}
	wait.Wait()
	if n := st.asked(); n != 2 {
		t.Errorf("%d exchanges for two tokens", n)
	}
	st.mustCall(t, "ana", tokens["ana"], "remember", `{"a":1}`, "remembered")
	// A renewed token is exchanged anew, and the session goes on.
	renewed := st.token("ana")
	st.mustCall(t, "ana", renewed, "recall", "", `ana noted {"a":1}`)
	if n := st.asked(); n != 3 {
		t.Errorf("%d exchanges for three tokens", n)
	}
	for _, sent := range st.bank.Tokens() {
		if sent == tokens["ana"] || sent == tokens["ben"] || sent == renewed {
			t.Error("the server is sent a token of a caller")
		}
	}
	if text := st.log.String(); strings.Contains(text, renewed) || strings.Contains(text, st.bank.LastOf("ana")) {
		t.Errorf("a token is logged:\n%s", text)
	}
}

// TestExchangeListing wants the tools to be listed with a token of tooldex itself, which is used for nothing else.
func TestExchangeListing(t *testing.T) {
	st := startExchange(t, nil)
	if names := listNames(t, st.Gateway, "bank"); !slices.Contains(names, "balance") {
		t.Errorf("listed are %v", names)
	}
	st.mustCall(t, "ana", st.token("ana"), "balance", "", "the balance of ana")
	_, err := st.call(t, "carl", "", "balance", "")
	if tool.CodeOf(err) != tool.Denied || !strings.Contains(err.Error(), "this caller has none") {
		t.Errorf("a caller without a token: %v", err)
	}
	if own := st.bank.LastOf("the service"); own == "" || st.asked() != 1 {
		t.Errorf("listed with %q, %d exchanges", own, st.asked())
	}
}

// TestExchangeExpires wants an exchanged token that has expired, or that the server refuses, to be exchanged again.
func TestExchangeExpires(t *testing.T) {
	st := startExchange(t, nil)
	ana := st.token("ana")
	st.mustCall(t, "ana", ana, "balance", "", "the balance of ana")
	st.as.RevokeToken(st.bank.LastOf("ana"))
	before := st.asked()
	st.mustCall(t, "ana", ana, "balance", "", "the balance of ana")
	if n := st.asked(); n != before+1 {
		t.Errorf("%d exchanges after a refusal, want one", n-before)
	}
	st.as.RevokeToken(st.bank.LastOf("ana"))
	st.as.Change(func() { st.as.Lifetime = 5 * time.Second }) // less than what is left unused
	st.mustCall(t, "ana", ana, "balance", "", "the balance of ana")
	before = st.asked()
	st.mustCall(t, "ana", ana, "balance", "", "the balance of ana")
	if n := st.asked(); n == before {
		t.Error("a token that is about to expire is used")
	}
}

// TestExchangeRefused wants nothing to be called where no right token is made, and an error that says why and holds no
// token.
func TestExchangeRefused(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.FormValue("subject_token") != "" {
			t.Error("a caller's token follows a redirect")
		}
	}))
	t.Cleanup(elsewhere.Close)
	redirects := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	t.Cleanup(redirects.Close)
	for name, c := range map[string]struct {
		change func(st *exchangeStack, token string)
		entry  func(*upstream.Server)
		code   tool.Code
		want   string
	}{
		"an audience that is not permitted": {
			func(st *exchangeStack, _ string) { st.as.Audiences = nil }, nil, tool.Denied, "invalid_target",
		},
		"a token for another audience": {
			func(st *exchangeStack, _ string) {
				st.as.Answer = map[string]any{"access_token": st.as.TokenFor("ana", "x", "https://mail.example.com", time.Hour)}
			}, nil, tool.Denied, "another audience",
		},
		"the caller's own token": {
			func(st *exchangeStack, token string) { st.as.Answer = map[string]any{"access_token": token} },
			nil, tool.Denied, "the caller's own token",
		},
		"a token of another kind": {
			func(st *exchangeStack, _ string) {
				st.as.Answer = map[string]any{"issued_token_type": "urn:ietf:params:oauth:token-type:id_token"}
			}, nil, tool.Denied, "no access token",
		},
		"a token that is none": {
			func(st *exchangeStack, _ string) { st.as.Answer = map[string]any{"token_type": "N_A"} },
			nil, tool.Denied, "no access token",
		},
		"the authorization server is down": {
			func(st *exchangeStack, _ string) { st.as.Down = true }, nil, tool.Unavailable, "at this moment",
		},
		"a wrong secret": {
			nil, func(s *upstream.Server) { s.OAuth.ClientSecret = "wrong" }, tool.Denied, "invalid_client",
		},
		"a redirect": {
			nil, func(s *upstream.Server) { s.OAuth.Exchange = redirects.URL }, tool.Denied, "307",
		},
		"no safe address": {
			nil, func(s *upstream.Server) { s.OAuth.Exchange = "http://login.example.com/token" }, tool.Invalid, "https://",
		},
	} {
		t.Run(name, func(t *testing.T) {
			st := startExchange(t, c.entry)
			token := st.token("ana")
			if c.change != nil {
				st.as.Change(func() { c.change(st, token) })
			}
			_, err := st.call(t, "ana", token, "balance", "")
			if tool.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v", err)
			}
			if sent := st.bank.Tokens(); len(sent) > 0 {
				t.Errorf("the server is sent %v", sent)
			}
			if text := st.log.String() + err.Error(); strings.Contains(text, token) || strings.Contains(text, authtest.ClientSecret) {
				t.Errorf("a secret is shown:\n%s", text)
			}
		})
	}
}

// TestExchangeRevoked wants a caller whose token was revoked to get no further token, though one is still good.
func TestExchangeRevoked(t *testing.T) {
	st := startExchange(t, nil)
	ana := st.token("ana")
	st.mustCall(t, "ana", ana, "balance", "", "the balance of ana")
	st.as.RevokeAll("ana")
	_, err := st.call(t, "ana", ana, "balance", "")
	if tool.CodeOf(err) != tool.Denied || !strings.Contains(err.Error(), "invalid_grant") || strings.Contains(err.Error(), ana) {
		t.Errorf("the error is %v", err)
	}
	if text := st.log.String(); strings.Contains(text, ana) {
		t.Errorf("the token is logged:\n%s", text)
	}
	st.mustCall(t, "ben", st.token("ben"), "balance", "", "the balance of ben")
}

// TestExchangeRevokedApart wants a token of a caller that permits nothing any more to get nothing by another token of
// the same user, which is still good.
func TestExchangeRevokedApart(t *testing.T) {
	st := startExchange(t, nil)
	good, revoked := st.token("ana"), st.token("ana")
	st.as.RevokeToken(revoked)
	st.mustCall(t, "ana", good, "balance", "", "the balance of ana")
	if got, err := st.call(t, "ana", revoked, "balance", ""); tool.CodeOf(err) != tool.Denied {
		t.Errorf("answered with %q, %v", got, err)
	}
	st.mustCall(t, "ana", good, "balance", "", "the balance of ana")
}
