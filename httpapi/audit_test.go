package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tooldex/confirm"
	"tooldex/tool"
)

// account keeps what it is told, in short.
type account []string

func (a *account) Refused(_ context.Context, name string, c tool.Call, err error) {
	*a = append(*a, strings.Join([]string{
		"refused", name, string(c.ID), string(c.Arguments), tool.CodeOf(err).String(),
		string(c.Who.Via),
	}, " "))
}

func (a *account) Changed(_ context.Context, who tool.Asker, action, subject string, err error) {
	done := "done"
	if err != nil {
		done = tool.CodeOf(err).String()
	}
	*a = append(*a, strings.Join([]string{"changed", action, subject, done, string(who.Via)}, " "))
}

func TestWhatTheAuditorIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		readOnly             bool
		method, target, body string
		want                 account
	}{
		"a call is the Caller's": {false, "POST", "/api/tools/files/write_file/call", `{}`, nil},
		"of nothing": {
			false, "POST", "/api/tools/files/absent/call", `{"arguments":{"a":1}}`,
			account{`refused files/absent  {"a":1} not_found api`},
		},
		"of nothing, with no JSON": {
			false, "POST", "/api/tools/files/absent/call", `{`,
			account{`refused files/absent   not_found api`},
		},
		"of a disabled one": {
			false, "POST", "/api/tools/files/old/call", `{}`,
			account{`refused old files/old  denied api`},
		},
		"a change": {
			false, "PUT", "/api/tools/preferences?profile=", `{}`,
			account{"changed putPreferences /api/tools/preferences?profile= done api"},
		},
		"a change that cannot be made": {
			false, "PUT", "/api/tools/preferences?profile=", `{"maxTools":"x"}`,
			account{"changed putPreferences /api/tools/preferences?profile= invalid api"},
		},
		"a change that may not be made": {
			true, "PUT", "/api/tools/preferences?profile=", `{}`,
			account{"changed putPreferences /api/tools/preferences?profile= denied api"},
		},
		"a search changes nothing": {false, "POST", "/search", `{"query":"a"}`, nil},
		"what somebody says of a tool": {
			false, "POST", "/api/feedback", `{"query":"a","tool":"files/write_file"}`,
			nil,
		},
		"a look": {false, "GET", "/api/tools", "", nil},
		"a server that cannot be started": {
			false, "POST", "/api/servers/files/start", "",
			account{"changed startServer /api/servers/files/start not_found api"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var told account
			f := newFixture(t, func(o *Options) { o.Auditor, o.ReadOnly = &told, c.readOnly })
			f.do(c.method, c.target, c.body)
			if d := gocmp.Diff(c.want, told); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestCallsThatNeedConfirmation(t *testing.T) {
	f := newFixture(t, func(o *Options) { o.Confirms = func(one *tool.Tool) bool { return !one.ReadOnly() } })
	f.answer = func(_ context.Context, c tool.Call) (*tool.CallResult, error) {
		if !c.Confirmed {
			return nil, &tool.Error{
				Code: tool.Denied, Msg: "a person has to confirm it", Hint: "elicitation",
				Err: confirm.Unasked,
			}
		}
		return &tool.CallResult{Raw: json.RawMessage(`{}`)}, nil
	}
	w := f.do("POST", "/api/tools/files/write_file/call", `{}`)
	var p problem
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatal(err)
	}
	if w.Code != http.StatusConflict || p.Code != "confirmation_required" ||
		!strings.Contains(p.Hint, `"confirm": true`) {
		t.Errorf("%d %+v", w.Code, p)
	}
	if w := f.do("POST", "/api/tools/files/write_file/call", `{"confirm":true}`); w.Code != http.StatusOK {
		t.Errorf("confirmed: %d %s", w.Code, w.Body)
	}
	if w := f.do("GET", "/api/tools/files/write_file", ""); !strings.Contains(w.Body.String(), `"confirm":true`) {
		t.Errorf("its page does not say so: %s", w.Body)
	}
	if w := f.do("GET", "/api/tools", ""); strings.Count(w.Body.String(), `"confirm":true`) != 4 {
		t.Errorf("the list does not say so: %s", w.Body)
	}
}

func TestReadinessTellsWhatDoesNotWork(t *testing.T) {
	ailing := []string{"calls cannot be recorded"}
	f := newFixture(t, func(o *Options) { o.Ailing = func() []string { return ailing } })
	if w := f.do("GET", "/readyz", ""); w.Code != http.StatusOK || !strings.Contains(w.Body.String(),
		"calls cannot be recorded") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	ailing = nil
	if w := f.do("GET", "/readyz", ""); strings.TrimSpace(w.Body.String()) != `{"status":"ok"}` {
		t.Errorf("%s", w.Body)
	}
}
