package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"tooldex/internal/authtest"
	"tooldex/tool"
	"tooldex/upstream"
)

// loginStack is a gateway to the bank to which each user logs in.
type loginStack struct {
	*exchangeStack
	keys *userKeys
}

const testPage = "https://tools.example.com/#/login?server=bank"

func startLogins(t *testing.T, change func(*Options)) *loginStack {
	t.Helper()
	as := authtest.New(t)
	st := &loginStack{
		exchangeStack: &exchangeStack{as: as, bank: protectedBank(t, as), log: &lockedBuffer{}},
		keys:          &userKeys{values: map[[4]string]string{}},
	}
	o := Options{
		Users: st.keys, LoginPage: func(string) string { return testPage },
		Logger: slog.New(slog.NewTextHandler(st.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	if change != nil {
		change(&o)
	}
	st.Gateway = startGateway(t, o, upstream.Server{Name: "bank", URL: st.bank.URL, OAuth: &upstream.OAuth{PerUser: true}})
	return st
}

// login has a person at a browser agree to the login of a user.
func (st *loginStack) login(ctx context.Context, user, person string) error {
	return st.Login(as(ctx, user), "bank", LoginOptions{Visit: func(address string) {
		go func() {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
			if err != nil {
				return
			}
			req.AddCookie(&http.Cookie{Name: "person", Value: person})
			if res, err := http.DefaultClient.Do(req); err == nil {
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
			}
		}()
	}})
}

func (st *loginStack) mustLogin(t *testing.T, user string) {
	t.Helper()
	if err := st.login(t.Context(), user, user); err != nil {
		t.Fatalf("%s logs in: %v", user, err)
	}
}

// mustNeedLogin wants the call of a user to be refused with the page at which to log in.
func (st *loginStack) mustNeedLogin(t *testing.T, user string) {
	t.Helper()
	_, err := st.call(t, user, "", "balance", "")
	var own *tool.Error
	if !errors.As(err, &own) || own.Code != tool.Denied || !strings.Contains(own.Msg, "login of your own") ||
		!strings.Contains(own.Hint, testPage) {
		t.Errorf("%q: %+v", user, err)
	}
}

// grantOf returns the login of a user as it is kept.
func (st *loginStack) grantOf(t *testing.T, user string) (g storedGrant) {
	t.Helper()
	text, _, _ := st.keys.Value(user, "bank", st.bank.URL, LoginName)
	if text != "" && json.Unmarshal([]byte(text), &g) != nil {
		t.Fatalf("%s has %s", user, text)
	}
	return g
}

// TestUsersLogIn wants two users to be answered as those who they logged in as, one without a login not at all, and the
// tools to be listed with the login of the operator.
func TestUsersLogIn(t *testing.T) {
	st := startLogins(t, nil)
	st.mustNeedLogin(t, "ana")
	if sent := st.bank.Tokens(); len(sent) > 0 {
		t.Errorf("the server was sent %v", sent)
	}
	u, _ := st.Upstream("bank")
	if _, err := u.Tools(t.Context()); tool.CodeOf(err) != tool.Denied {
		t.Errorf("listed without a login: %v", err)
	}
	st.mustLogin(t, "ana")
	st.mustLogin(t, "ben")
	var wait sync.WaitGroup
	for i := range 20 {
		user := []string{"ana", "ben"}[i%2]
		wait.Go(func() { st.mustCall(t, user, "", "balance", "", "the balance of "+user) })
	}
	wait.Wait()
	st.mustNeedLogin(t, "carl")
	st.mustNeedLogin(t, "")
	if st.LoggedIn("bank") {
		t.Error("the login of a user counts as that of all")
	}
	st.mustLogin(t, "")
	if !st.LoggedIn("bank") {
		t.Error("the operator is not logged in")
	}
	waitUntil(t, "the tools are listed", func() bool { // after the pause that follows a refusal
		tools, err := u.Tools(t.Context())
		return err == nil && len(tools) > 0
	})
	if had, err := st.Logout("bank"); !had || err != nil {
		t.Errorf("%v, %v", had, err)
	}
	st.mustCall(t, "ana", "", "balance", "", "the balance of ana")
	if text := st.log.String(); strings.Contains(text, "refresh-") || strings.Contains(text, st.bank.LastOf("ana")) {
		t.Errorf("a token is logged:\n%s", text)
	}
}

// TestUsersRenew wants tokens to be renewed for their user, with refresh tokens that work once, in one session; and not
// by two at once, which would end the login.
func TestUsersRenew(t *testing.T) {
	st := startLogins(t, nil)
	st.as.Change(func() { st.as.Lifetime = 5 * time.Second }) // counts as expired at once
	for _, user := range []string{"ana", "ben", ""} {
		st.mustLogin(t, user)
	}
	st.mustCall(t, "ana", "", "remember", `{"a":1}`, "remembered")
	first := st.grantOf(t, "ana")
	var wait sync.WaitGroup
	for i := range 20 {
		user := []string{"ana", "ben"}[i%2]
		wait.Go(func() { st.mustCall(t, user, "", "balance", "", "the balance of "+user) })
		if i%5 == 0 { // on the connection of the listing, with the operator's login, beside the operator's calls
			u, _ := st.Upstream("bank")
			wait.Go(func() {
				if _, err := u.Tools(t.Context()); err != nil {
					t.Errorf("the tools are not listed: %v", err)
				}
			})
			wait.Go(func() { st.mustCall(t, "", "", "balance", "", "the balance of ") })
		}
	}
	wait.Wait()
	st.mustCall(t, "ana", "", "recall", "", `ana noted {"a":1}`)
	last := st.grantOf(t, "ana")
	if last.Token.RefreshToken == first.Token.RefreshToken || last.ID != first.ID {
		t.Error("the refresh token was not replaced, or the login was")
	}
}

// TestUsersLoginEnds wants a login that the authorization server ended to be forgotten, one that cannot be renewed at
// this moment to be kept, and neither to touch another user.
func TestUsersLoginEnds(t *testing.T) {
	st := startLogins(t, nil)
	st.mustLogin(t, "ana")
	st.mustLogin(t, "ben")
	st.mustCall(t, "ana", "", "balance", "", "the balance of ana")
	// Its token is refused while the authorization server is away.
	st.as.RevokeToken(st.bank.LastOf("ana"))
	st.as.Change(func() { st.as.Down = true })
	_, err := st.call(t, "ana", "", "balance", "")
	if tool.CodeOf(err) != tool.Unavailable || !strings.Contains(err.Error(), "does not renew your token") {
		t.Errorf("the error is %v", err)
	}
	st.mustCall(t, "ben", "", "balance", "", "the balance of ben")
	st.as.Change(func() { st.as.Down = false })
	st.mustCall(t, "ana", "", "balance", "", "the balance of ana")
	st.as.RevokeAll("ana")
	st.mustNeedLogin(t, "ana") // found out during the call
	if g := st.grantOf(t, "ana"); g.Token != nil {
		t.Error("a login that has ended is kept")
	}
	st.mustNeedLogin(t, "ana")
	st.mustCall(t, "ben", "", "balance", "", "the balance of ben")
	st.as.Restore("ana")
	st.mustLogin(t, "ana")
	st.mustCall(t, "ana", "", "balance", "", "the balance of ana")
}

// slowUsers ends a login while its token is renewed.
type slowUsers struct {
	*userKeys
	end func()
}

func (s *slowUsers) Replace(user, server, address, name, before, next string) (bool, error) {
	s.end()
	return s.userKeys.Replace(user, server, address, name, before, next)
}

// TestUsersRevokeWhileRenewed wants a login that is removed while its token is renewed to stay removed.
func TestUsersRevokeWhileRenewed(t *testing.T) {
	slow := &slowUsers{end: func() {}}
	st := startLogins(t, func(o *Options) {
		slow.userKeys = o.Users.(*userKeys)
		o.Users = slow
	})
	st.mustLogin(t, "ana")
	st.mustCall(t, "ana", "", "balance", "", "the balance of ana")
	st.as.RevokeToken(st.bank.LastOf("ana"))
	slow.end = func() { slow.set("ana", "bank", st.bank.URL, LoginName, "") }
	st.mustNeedLogin(t, "ana")
	if g := st.grantOf(t, "ana"); g.Token != nil {
		t.Error("a login that was removed has come back")
	}
}

// TestUsersAreAskedToLogIn wants a client that opens pages to be asked, the call to go on after the login, and a client
// that cannot, or whose user does not want to, to get the page in the error.
func TestUsersAreAskedToLogIn(t *testing.T) {
	for name, c := range map[string]struct {
		capabilities, action string
		logsIn, asked, works bool
	}{
		"opens pages":          {`{"elicitation":{"url":{}}}`, "accept", true, true, true},
		"does not want to":     {`{"elicitation":{"url":{}}}`, "decline", false, true, false},
		"goes away":            {`{"elicitation":{"url":{},"form":{}}}`, "cancel", false, true, false},
		"shows forms alone":    {`{"elicitation":{"form":{}}}`, "accept", false, false, false},
		"says nothing":         {`{"elicitation":{}}`, "accept", false, false, false},
		"cannot be asked":      {`{}`, "accept", false, false, false},
		"answers with nothing": {`{"elicitation":{"url":{}}}`, "", false, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			st := startLogins(t, nil)
			asked := 0
			client := &tool.Client{Session: "s", Capabilities: json.RawMessage(c.capabilities), Ask: func(ctx context.Context, method string,
				params json.RawMessage,
			) (json.RawMessage, error) {
				asked++
				var p struct{ Mode, URL, Message, ElicitationID string }
				if err := json.Unmarshal(params, &p); err != nil || method != "elicitation/create" || p.Mode != "url" ||
					p.URL != testPage || p.ElicitationID == "" || !strings.HasPrefix(p.Message, "tooldex asks you") {
					t.Errorf("asked %s %s", method, params)
				}
				if c.logsIn {
					if err := st.login(t.Context(), "ana", "ana"); err != nil {
						t.Error(err)
					}
				}
				return json.Marshal(map[string]string{"action": c.action})
			}}
			res, err := st.Call(as(t.Context(), "ana"), tool.Call{ID: "bank/balance", Client: client})
			switch {
			case c.works && (err != nil || textOf(t, res) != "the balance of ana"):
				t.Errorf("%v, %v", res, err)
			case !c.works && tool.CodeOf(err) != tool.Denied:
				t.Errorf("%v, %v", res, err)
			}
			if (asked > 0) != c.asked || asked > 1 {
				t.Errorf("asked %d times", asked)
			}
		})
	}
}

// TestUsersLoginWaits wants a call to wait for the login for as long as the call lasts, and a login of another user to
// be none for it.
func TestUsersLoginWaits(t *testing.T) {
	st := startLogins(t, nil)
	st.mustLogin(t, "ben")
	ctx, cancel := context.WithTimeout(as(t.Context(), "ana"), 3*loginLook)
	defer cancel()
	_, err := st.Call(ctx, tool.Call{ID: "bank/balance", Client: &tool.Client{
		Capabilities: json.RawMessage(`{"elicitation":{"url":{}}}`),
		Ask: func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage(`{"action":"accept"}`), nil
		},
	}})
	if tool.CodeOf(err) != tool.Denied || ctx.Err() == nil {
		t.Errorf("%v, %v", err, ctx.Err())
	}
}

// TestUsersLoginsThatCannotBe wants a reason for each login that cannot begin.
func TestUsersLoginsThatCannotBe(t *testing.T) {
	st := startLogins(t, func(o *Options) { o.Users = nil })
	if err := st.login(t.Context(), "ana", "ana"); tool.CodeOf(err) != tool.Denied || !strings.Contains(err.Error(), "none are kept") {
		t.Errorf("without a store: %v", err)
	}
	other := startExchange(t, nil)
	if err := other.Login(t.Context(), "bank", LoginOptions{}); tool.CodeOf(err) != tool.Invalid {
		t.Errorf("with an exchange: %v", err)
	}
	st = startLogins(t, nil)
	st.as.Change(func() { st.as.Refuse = true })
	if err := st.login(t.Context(), "ana", "ana"); tool.CodeOf(err) != tool.Denied || !strings.Contains(err.Error(), "access_denied") {
		t.Errorf("refused: %v", err)
	}
	st.mustNeedLogin(t, "ana")
}
