package serve

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/access"
	"tooldex/config"
	"tooldex/gateway"
	"tooldex/internal/authtest"
	"tooldex/tool"
	"tooldex/upstream"
)

// loginStack serves a ledger to which each user logs in.
type loginStack struct {
	*stack
	as     *authtest.Server
	ledger *authtest.Resource
}

func startLogins(t *testing.T, tokens ...access.Token) *loginStack {
	t.Helper()
	as := authtest.New(t)
	st := &loginStack{as: as, ledger: protectedLedger(t, as)}
	st.stack = serveTools(t, []*tool.Tool{{Server: "ledger", Name: "write", Description: "Write a note into the ledger."}},
		func(c *config.Config) {
			c.Serve.Mode = "full"
			c.Credentials.Key = base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32)))
			c.Profiles = map[string]config.Profile{"other": {Servers: []string{"mail"}}}
		}, tokens...)
	st.gateway.Set([]upstream.Server{{Name: "ledger", URL: st.ledger.URL, OAuth: &upstream.OAuth{PerUser: true}}})
	return st
}

// person is somebody with a browser of their own, and the token of a user of tooldex.
type person struct {
	st    *loginStack
	name  string
	token string
	http  *http.Client
}

func (st *loginStack) person(t *testing.T, name string) *person {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	at, _ := url.Parse(st.as.URL)
	jar.SetCookies(at, []*http.Cookie{{Name: "person", Value: name}}) // logged in to the authorization server
	return &person{st, name, st.secrets[name], &http.Client{Jar: jar}}
}

// do sends a request from the person's browser, and returns the status and the body.
func (p *person) do(t *testing.T, method, address string, token bool) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), method, address, nil)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	req.Header.Set("X-Tooldex", "panel")
	if token {
		req.Header.Set("Authorization", "Bearer "+p.token)
	}
	res, err := p.http.Do(req)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Error(err)
	}
	return res.StatusCode, string(b)
}

// begin begins a login as the page does, and returns where the browser is sent.
func (p *person) begin(t *testing.T) string {
	t.Helper()
	status, body := p.do(t, http.MethodPost, p.st.url+"/api/credentials/ledger/login", true)
	var out struct{ Visit string }
	if status != http.StatusOK || json.Unmarshal([]byte(body), &out) != nil || out.Visit == "" {
		t.Fatalf("%s begins a login: %d %s", p.name, status, body)
	}
	return out.Visit
}

// login logs the person in.
func (p *person) login(t *testing.T) {
	t.Helper()
	if status, body := p.do(t, http.MethodGet, p.begin(t), false); status != http.StatusOK || !strings.Contains(body, "logged in to ledger") {
		t.Errorf("%s logs in: %d %s", p.name, status, body)
	}
}

// call calls the tool, and returns the answer.
func (p *person) call(t *testing.T) string {
	t.Helper()
	st := *p.st.stack
	st.token = p.token
	_, body := st.request(http.MethodPost, "/api/tools/ledger/write/call", `{"arguments":{}}`)
	return body
}

func (p *person) mustRead(t *testing.T, want string) {
	t.Helper()
	if got := p.call(t); !strings.Contains(got, want) {
		t.Errorf("%s reads %s, want %s", p.name, got, want)
	}
}

const needsLogin = "needs a login of your own"

// TestLoginsOfUsers has two users log in as two people, and wants each to be answered as who they are; the tokens to be
// encrypted; and a login to be listed, and revoked by its user and by the operator.
func TestLoginsOfUsers(t *testing.T) {
	st := startLogins(t, access.Token{Name: "ana"}, access.Token{Name: "ben"}, access.Token{Name: "carl"})
	ana, ben, carl := st.person(t, "ana"), st.person(t, "ben"), st.person(t, "carl")
	ana.mustRead(t, needsLogin)
	ana.mustRead(t, st.url+"/#/login?server=ledger")
	ana.login(t)
	ben.login(t)
	ana.mustRead(t, "the ledger of ana")
	ben.mustRead(t, "the ledger of ben")
	carl.mustRead(t, needsLogin)
	for user, want := range map[string]string{"ana": `"stored":true`, "carl": `"stored":false`} {
		st.token = st.secrets[user]
		if _, body := st.request(http.MethodGet, "/api/credentials", ""); !strings.Contains(body, want) ||
			!strings.Contains(body, `"name":"oauth login"`) || !strings.Contains(body, "/#/login?server=ledger") {
			t.Errorf("%s lists %s", user, body)
		}
	}
	files, err := filepath.Glob(filepath.Join(st.all.views.Service.Dir(), "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	more, _ := filepath.Glob(filepath.Join(st.all.views.Service.Dir(), "*"))
	for _, file := range append(files, more...) {
		if raw, err := os.ReadFile(file); err == nil && (strings.Contains(string(raw), st.ledger.LastOf("ana")) ||
			strings.Contains(string(raw), "refresh-")) {
			t.Errorf("%s has a token", file)
		}
	}
	// A stored value cannot stand in for a login.
	st.token = st.secrets["carl"]
	if status, body := st.request(http.MethodPut, "/api/credentials/ledger", fmt.Sprintf(`{"name":%q,"value":"{}"}`,
		gateway.LoginName)); status != http.StatusNotFound {
		t.Errorf("%d %s", status, body)
	}
	st.token = st.secrets["ana"]
	if status, body := st.request(http.MethodDelete, "/api/credentials/ledger", ""); status != http.StatusOK || !strings.Contains(body, ":1}") {
		t.Errorf("%d %s", status, body)
	}
	ana.mustRead(t, needsLogin)
	ben.mustRead(t, "the ledger of ben")
	st.token = st.secrets["carl"]
	_, body := st.request(http.MethodGet, "/api/credentials?all=true", "")
	var all struct {
		Credentials []struct{ User, Who, Name string }
	}
	if err := json.Unmarshal([]byte(body), &all); err != nil || len(all.Credentials) != 1 || all.Credentials[0].Who != "token ben" {
		t.Fatalf("%s, %v", body, err)
	}
	if status, body := st.request(http.MethodDelete, "/api/credentials/ledger?user="+all.Credentials[0].User, ""); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
	ben.mustRead(t, needsLogin)
	ana.login(t)
	ana.mustRead(t, "the ledger of ana")
}

// TestLoginsOfOthers attacks what ties a login to its user and to one browser: a link of another, an answer that comes
// again, or too late, or with another state, or from another browser.
func TestLoginsOfOthers(t *testing.T) {
	st := startLogins(t, access.Token{Name: "ana"}, access.Token{Name: "ben"}, access.Token{Name: "eve", View: access.View{ReadOnly: true}},
		access.Token{Name: "dora", View: access.View{Profile: "other"}})
	ana, ben := st.person(t, "ana"), st.person(t, "ben")
	refused := func(p *person, address, what string) {
		t.Helper()
		if status, body := p.do(t, http.MethodGet, address, false); status != http.StatusForbidden || !strings.Contains(body, "no answer to a login") {
			t.Errorf("%s: %d %s", what, status, body)
		}
	}
	// Ana sends Ben the address to which her own browser was sent. He agrees there, as himself.
	visit := ana.begin(t)
	refused(ben, visit, "Ben opens Ana's link")
	ana.mustRead(t, needsLogin)
	ben.mustRead(t, needsLogin)
	// The same, while Ben has begun a login of his own.
	own := ben.begin(t)
	refused(ben, visit, "Ben opens Ana's link beside his own")
	// He did not end Ana's login, nor his own.
	back := ana.stopBefore(t, visit)
	if status, body := ana.do(t, http.MethodGet, back, false); status != http.StatusOK {
		t.Errorf("Ana's own answer: %d %s", status, body)
	}
	ana.mustRead(t, "the ledger of ana")
	refused(ana, back, "the same answer again")
	ana.mustRead(t, "the ledger of ana")
	if status, body := ben.do(t, http.MethodGet, own, false); status != http.StatusOK {
		t.Errorf("Ben's own answer: %d %s", status, body)
	}
	ben.mustRead(t, "the ledger of ben")
	// An answer to a login that was begun anew, in the same browser.
	visit = ana.begin(t)
	back = ana.stopBefore(t, visit)
	ana.begin(t)
	refused(ana, back, "an answer to a login that has ended")
	for _, query := range []string{"", "?code=x", "?state=x", "?code=x&state=x", "?error=x&state="} {
		refused(ana, st.url+"/login/callback"+query, query)
	}
	ana.mustRead(t, "the ledger of ana")
	// Who may not.
	for user, want := range map[string]int{"eve": http.StatusForbidden, "dora": http.StatusNotFound, "": http.StatusUnauthorized} {
		p := st.person(t, user)
		if status, body := p.do(t, http.MethodPost, st.url+"/api/credentials/ledger/login", user != ""); status != want {
			t.Errorf("%q begins a login: %d %s", user, status, body)
		}
	}
	st.token = st.secrets["dora"]
	if status, _ := st.request(http.MethodPost, "/api/credentials/ledger/login", `{"user":"operator"}`); status != http.StatusNotFound {
		t.Errorf("dora logs the operator in: %d", status)
	}
}

// stopBefore follows an address until the browser would come back to tooldex, and returns where that is.
func (p *person) stopBefore(t *testing.T, address string) string {
	t.Helper()
	browser := *p.http
	browser.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := browser.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	to, err := res.Location()
	if err != nil {
		t.Fatal(err)
	}
	return to.String()
}

// TestLoginsExpire wants an answer that comes too late to log nobody in.
func TestLoginsExpire(t *testing.T) {
	st := startLogins(t, access.Token{Name: "ana"})
	ana := st.person(t, "ana")
	st.all.logins.within = 2 * time.Second
	back := ana.stopBefore(t, ana.begin(t))
	ended := make(chan struct{})
	go func() {
		st.all.logins.wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatal("the login waits for ever")
	}
	if status, body := ana.do(t, http.MethodGet, back, false); status != http.StatusForbidden || !strings.Contains(body, "no answer to a login") {
		t.Errorf("%d %s", status, body)
	}
	ana.mustRead(t, needsLogin)
}

// TestLoginByALink has a client that opens pages call a tool: its user logs in at the page, and the call goes on.
func TestLoginByALink(t *testing.T) {
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) { loginByALink(t, version) })
	}
}

// loginByALink is TestLoginByALink for a version of the protocol.
func loginByALink(t *testing.T, version string) {
	st := startLogins(t, access.Token{Name: "ana"}, access.Token{Name: "ben"})
	ana := st.person(t, "ana")
	asked := make(chan string, 1)
	own := *st.stack
	own.token = ana.token
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}}},
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked <- r.Params.URL
			go ana.login(t) // while the call waits
			return &mcp.ElicitResult{Action: "accept"}, nil
		},
	}).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: st.url + "/mcp", HTTPClient: own.client(), MaxRetries: -1},
		&mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	if got := session.InitializeResult().ProtocolVersion; got != version {
		t.Fatalf("the protocol is %s", got)
	}
	if text, failed := st.callText(session, "write", map[string]string{}); failed || text != "the ledger of ana" {
		t.Errorf("ana reads %s", text)
	}
	if page := <-asked; page != st.url+"/#/login?server=ledger" {
		t.Errorf("ana is shown %s", page)
	}
	// Another client gets the page in the error.
	own.token = st.secrets["ben"]
	if text, failed := st.callText(own.connect("/mcp"), "write", map[string]string{}); !failed || !strings.Contains(text, needsLogin) ||
		!strings.Contains(text, st.url+"/#/login?server=ledger") {
		t.Errorf("ben reads %s", text)
	}
}

// TestLoginsThatFail wants a reason where nobody can be logged in, and nobody to be.
func TestLoginsThatFail(t *testing.T) {
	st := startLogins(t, access.Token{Name: "ana"})
	ana := st.person(t, "ana")
	st.as.Change(func() { st.as.Refuse = true })
	if status, body := ana.do(t, http.MethodGet, ana.begin(t), false); status != http.StatusForbidden || !strings.Contains(body, "access_denied") {
		t.Errorf("refused: %d %s", status, body)
	}
	ana.mustRead(t, needsLogin)
	st.as.Change(func() { st.as.Refuse, st.as.Down = false, true })
	if status, body := ana.do(t, http.MethodPost, st.url+"/api/credentials/ledger/login", true); status != http.StatusServiceUnavailable {
		t.Errorf("down: %d %s", status, body)
	}
	st.as.Change(func() { st.as.Down = false })
	st.all.logins.base.Store(nil)
	if status, body := ana.do(t, http.MethodPost, st.url+"/api/credentials/ledger/login", true); status != http.StatusBadRequest ||
		!strings.Contains(body, "oauth.resource") {
		t.Errorf("without an address: %d %s", status, body)
	}
	ana.mustRead(t, "tooldex servers login ledger")
	if cookie := loginCookie("https://tools.example.com", "s", "v", 60); !cookie.Secure || !cookie.HttpOnly ||
		!strings.HasPrefix(cookie.Name, "__Host-") || cookie.Path != "/" || cookie.SameSite != http.SameSiteLaxMode {
		t.Errorf("the cookie is %s", cookie)
	}
}
