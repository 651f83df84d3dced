package mcpsrv

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
)

// ownTools are the server's own, in the order of the listing.
var ownTools = []string{searchName, describeName, listName, categoriesName, invokeName}

// listed returns the names that a session lists beside the server's own tools.
func listed(t *testing.T, session *mcp.ClientSession) []string {
	t.Helper()
	names := []string{}
	for one, err := range session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(ownTools, one.Name) && one.Name != loadName {
			names = append(names, one.Name)
		}
	}
	return names
}

// follower connects a client that counts how often it is told that its list changed.
func (f *fixture) follower(t *testing.T, told *int) *mcp.ClientSession {
	t.Helper()
	return f.connect(t, "2025-11-25", &mcp.ClientOptions{ToolListChangedHandler: func(context.Context,
		*mcp.ToolListChangedRequest,
	) {
		*told++
	}})
}

// remembered is how many sessions the server remembers something of.
func (f *fixture) remembered() int { return len(f.Server.sessions.allSessions()) }

func TestEnabledToolsEndAfterFiveMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, smallServer(t), Options{Mode: Dynamic})
		told := 0
		session := f.follower(t, &told)
		step := func(wait time.Duration, wantTold int, want ...string) {
			t.Helper()
			time.Sleep(wait)
			synctest.Wait()
			if told != wantTold {
				t.Errorf("told %d times, want %d", told, wantTold)
			}
			if diff := gocmp.Diff(want, listed(t, session)); diff != "" {
				t.Errorf("listed (-want +got):\n%s", diff)
			}
		}
		ask(t, session, searchName, `{"query":"npm install","limit":1}`)
		step(0, 1, "execute_command")
		step(4*time.Minute, 1, "execute_command")
		ask(t, session, invokeName, `{"name":"execute_command","arguments":{"command":"ls"}}`) // a use
		step(4*time.Minute, 1, "execute_command")
		ask(t, session, searchName, `{"query":"npm install","limit":1}`) // and so is to find it again
		step(4*time.Minute+59*time.Second, 1, "execute_command")
		ask(t, session, "read_file", `{"path":"a"}`) // this is none
		step(2*time.Second, 2, []string{}...)
		step(time.Hour, 2, []string{}...)
		ask(t, session, searchName, `{"query":"npm install","limit":1}`) // it can begin again
		step(0, 3, "execute_command")
		step(5*time.Minute+time.Second, 4, []string{}...)
	})
}

func TestLeastRecentlyUsedGoes(t *testing.T) {
	f := newFixture(t, smallServer(t), Options{Mode: Dynamic, limits: limits{enabled: 2}})
	session := f.connect(t, "2025-11-25", nil)
	for _, c := range []struct {
		call, args string
		want       []string
	}{
		{searchName, `{"query":"npm","limit":1}`, []string{"execute_command"}},
		{searchName, `{"query":"rename","limit":1}`, []string{"execute_command", "move_file"}},
		{"execute_command", `{"command":"ls"}`, []string{"execute_command", "move_file"}},
		{searchName, `{"query":"replace","limit":1}`, []string{"execute_command", "edit_file"}},
		{searchName, `{"query":"read a text file","limit":5}`, []string{"read_file", "read_many_files"}},
	} {
		if got, failed := ask(t, session, c.call, c.args); failed {
			t.Fatalf("%s %s: %s", c.call, c.args, got)
		}
		if diff := gocmp.Diff(c.want, listed(t, session)); diff != "" {
			t.Errorf("after %s %s (-want +got):\n%s", c.call, c.args, diff)
		}
	}
}

func TestOneSearchEnablesAtMostTwenty(t *testing.T) {
	f := newFixture(t, manyTools(60), Options{Mode: Dynamic})
	session := f.connect(t, "2025-11-25", nil)
	ask(t, session, searchName, `{"query":"operation","limit":50}`)
	if n := len(listed(t, session)); n != 20 {
		t.Errorf("%d tools are enabled, want 20", n)
	}
}

func TestWhatIsOnlyNearestIsNotEnabled(t *testing.T) {
	hit := func(name string) tool.Hit {
		return tool.Hit{ID: tool.ID("files/" + name), Name: name, Server: "files", Exposed: name}
	}
	for name, c := range map[string]struct {
		found *tool.Result
		want  []string
	}{
		"one need":    {&tool.Result{Tools: []tool.Hit{hit("read_file")}}, []string{}},
		"gone by now": {&tool.Result{Confident: true, Tools: []tool.Hit{hit("other")}}, []string{}},
		"several needs": {&tool.Result{
			Tools: []tool.Hit{hit("read_file"), hit("move_file")},
			Groups: []tool.Group{{Tools: []tool.Hit{hit("read_file")}}, {
				Tools:     []tool.Hit{hit("move_file")},
				Confident: true,
			}},
		}, []string{"move_file"}},
	} {
		f := newFixture(t, smallServer(t), Options{Mode: Dynamic})
		f.found = func(tool.Query) (*tool.Result, error) { return c.found, nil }
		session := f.connect(t, "2025-11-25", nil)
		ask(t, session, searchName, `{"query":"x"}`)
		if diff := gocmp.Diff(c.want, listed(t, session)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestLoadServerTools(t *testing.T) {
	tools := append(manyTools(50), &tool.Tool{Server: "big", Name: "pinned", Always: true, InputSchema: objectSchema},
		&tool.Tool{Server: "pins", Name: "pin", Always: true, InputSchema: objectSchema})
	for i := range 60 {
		tools = append(tools, &tool.Tool{
			Server: "big", Name: fmt.Sprintf("op_%02d", i), InputSchema: objectSchema,
			Disabled: i == 0,
		})
	}
	for name, c := range map[string]struct {
		mode   Mode
		args   string
		want   string // of the answer
		listed int
	}{
		"all": {
			Dynamic, `{"server":"server-with-a-long-name-001"}`,
			"The 10 tools of server-with-a-long-name-001 are in your list now.", 12,
		},
		"another spelling": {Dynamic, `{"name":"server-with-a-long-name-001"}`, "The 10 tools", 12},
		"more than fit": {
			Dynamic, `{"server":"big"}`,
			"40 of the 59 tools of big are in your list now, the most that fit. search_tools finds the others.", 42,
		},
		"unknown":         {Dynamic, `{"server":"nobody"}`, "not_found: no server is named \"nobody\"", 2},
		"listed already":  {Dynamic, `{"server":"pins"}`, "invalid: all tools of pins are in your list already", 2},
		"no server":       {Dynamic, `{}`, "invalid: arguments of load_server_tools do not fit: server missing, but required", 2},
		"in another mode": {Search, `{"server":"big"}`, "invalid: your list of tools is fixed", 2},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, tools, Options{Mode: c.mode})
			session := f.connect(t, "2025-11-25", nil)
			got, failed := ask(t, session, loadName, c.args)
			if !strings.HasPrefix(got, c.want) || failed != (c.listed == 2) {
				t.Errorf("error %v, text %q, want one that begins with %q", failed, got, c.want)
			}
			if n := len(listed(t, session)); n != c.listed {
				t.Errorf("%d tools are listed, want %d", n, c.listed)
			}
		})
	}
}

// TestSessionsAreApart has two clients search for different things; each sees its own, and hears only of its own.
func TestSessionsAreApart(t *testing.T) {
	for _, transport := range []string{"in memory", "http"} {
		t.Run(transport, func(t *testing.T) {
			f := newFixture(t, smallServer(t), Options{Mode: Dynamic})
			url := f.listen(t).URL
			var sessions [2]*mcp.ClientSession
			var told [2]chan struct{}
			for i := range sessions {
				told[i] = make(chan struct{}, 10)
				o := &mcp.ClientOptions{ToolListChangedHandler: func(context.Context,
					*mcp.ToolListChangedRequest,
				) {
					told[i] <- struct{}{}
				}}
				if transport == "http" {
					sessions[i] = dial(t, url, "2025-11-25", o)
				} else {
					sessions[i] = f.connect(t, "2025-11-25", o)
				}
			}
			for i, want := range []string{"execute_command", "move_file"} {
				before := listed(t, sessions[1-i])
				if _, failed := ask(t, sessions[i], searchName, `{"query":"`+[]string{
					"npm install",
					"rename",
				}[i]+`","limit":1}`); failed {
					t.Fatal("refused")
				}
				select {
				case <-told[i]:
				case <-t.Context().Done():
					t.Fatal("the client that searched is not told")
				}
				if diff := gocmp.Diff([]string{want}, listed(t, sessions[i])); diff != "" {
					t.Errorf("session %d (-want +got):\n%s", i, diff)
				}
				if diff := gocmp.Diff(before, listed(t, sessions[1-i])); diff != "" {
					t.Errorf("the other session of %d (-before +after):\n%s", i, diff)
				}
				if len(told[1-i]) != 0 {
					t.Errorf("the other session of %d is told too", i)
				}
			}
			_ = sessions[0].Close()
			if diff := gocmp.Diff([]string{"move_file"}, listed(t, sessions[1])); diff != "" {
				t.Errorf("after the other's end (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStatelessRequestsLeaveNothing(t *testing.T) {
	for _, mode := range []Mode{Dynamic, Lazy, Auto} {
		for _, transport := range []string{"in memory", "http"} {
			t.Run(string(mode)+" "+transport, func(t *testing.T) {
				f := newFixture(t, smallServer(t), Options{Mode: mode, Threshold: -1, Followers: []string{"test"}})
				var session *mcp.ClientSession
				if transport == "http" {
					session = dial(t, f.listen(t).URL, "2026-07-28", nil)
				} else {
					session = f.connect(t, "2026-07-28", nil)
				}
				before := listed(t, session)
				ask(t, session, searchName, `{"query":"npm install"}`)
				ask(t, session, "write_file", `{"path":7}`)
				ask(t, session, "write_file", `{"path":7}`)
				if got, failed := ask(t, session, "write_file", `{"path":7}`); !failed ||
					strings.Contains(got, "example") {
					t.Errorf("the third mistake is answered as if the others were remembered: %s", got)
				}
				if got, failed := ask(t, session, loadName, `{"server":"files"}`); !failed ||
					!strings.Contains(got, "your list of tools is fixed") {
					t.Errorf("loading gives %v %q", failed, got)
				}
				if n := f.remembered(); n != 0 {
					t.Errorf("%d sessions are remembered, want none", n)
				}
				if diff := gocmp.Diff(before, listed(t, session)); diff != "" {
					t.Errorf("listed (-before +after):\n%s", diff)
				}
			})
		}
	}
}

// TestChangeOfAnEnabledToolIsAnnounced changes a tool that one of two clients has enabled; only that one is told.
func TestChangeOfAnEnabledToolIsAnnounced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, smallServer(t), Options{Mode: Dynamic})
		told, other := 0, 0
		session := f.follower(t, &told)
		f.follower(t, &other)
		ask(t, session, searchName, `{"query":"npm install","limit":1}`)
		listed(t, session)
		tools := smallServer(t)
		for _, c := range []struct {
			name   string
			change func()
			told   int
		}{
			{"a tool that it has not", func() { tools[0].Description += " More." }, 1},
			{"the tool that it has", func() { tools[10].Description += " More." }, 2},
			{"nothing", func() {}, 2},
		} {
			tools = slices.Clone(tools)
			for i := range tools {
				one := *tools[i]
				tools[i] = &one
			}
			c.change()
			f.set.Store(tool.NewSet(tools, ""))
			f.CatalogChanged()
			time.Sleep(time.Second)
			synctest.Wait()
			if told != c.told || other != 0 {
				t.Errorf("after a change of %s: told %d times, the other %d; want %d and 0", c.name, told, other,
					c.told)
			}
		}
		f.set.Store(tool.NewSet(tools[:10], "")) // without it
		if diff := gocmp.Diff([]string{}, listed(t, session)); diff != "" {
			t.Errorf("a tool that is gone is listed (-want +got):\n%s", diff)
		}
	})
}

// TestChangesAreAnnouncedByMode changes what only some modes list.
func TestChangesAreAnnouncedByMode(t *testing.T) {
	for _, c := range []struct {
		mode Mode
		want int
	}{{Search, 0}, {Dynamic, 0}, {Lazy, 1}, {Full, 1}, {Auto, 1}} {
		t.Run(string(c.mode), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, smallServer(t), Options{Mode: c.mode})
				told := 0
				f.follower(t, &told)
				tools := smallServer(t)
				tools[0].InputSchema = objectSchema
				f.set.Store(tool.NewSet(tools, ""))
				f.CatalogChanged()
				time.Sleep(time.Second)
				synctest.Wait()
				if told != c.want {
					t.Errorf("told %d times of another schema, want %d", told, c.want)
				}
			})
		})
	}
}

// TestIdleSessionsCostNothingInTheEnd opens many sessions over HTTP that all search, and leaves them alone: what they
// had enabled goes after five minutes, and after the time of a session nothing is left of them.
func TestIdleSessionsCostNothingInTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, smallServer(t), Options{Mode: Dynamic, limits: limits{sessionIdle: 10 * time.Minute}})
		h := f.Handler()
		send := func(session, line string) *httptest.ResponseRecorder {
			req := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(line))
			setHeaders(req, "2025-11-25", session)
			answer := httptest.NewRecorder()
			h.ServeHTTP(answer, req)
			return answer
		}
		synctest.Wait()
		before := runtime.NumGoroutine()
		const many = 50
		for range many {
			id := send("", opening("2025-11-25")[0]).Header().Get("Mcp-Session-Id")
			send(id, opening("2025-11-25")[1])
			if got := send(id, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search_tools","arguments":{"query":"npm install"}}}`).Body.String(); !strings.Contains(got, "list_changed") {
				t.Fatalf("not told: %s", got)
			}
		}
		synctest.Wait()
		if f.sessions() != many || f.remembered() != many {
			t.Fatalf("%d sessions, %d remembered", f.sessions(), f.remembered())
		}
		if n := runtime.NumGoroutine() - before; n > 4*many {
			t.Errorf("%d goroutines for %d idle sessions", n, many)
		}
		time.Sleep(6 * time.Minute)
		synctest.Wait()
		for _, one := range f.Server.sessions.allSessions() {
			if len(one.enabled.order) != 0 || one.expiry != nil {
				t.Fatal("tools are enabled after six minutes")
			}
		}
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if f.sessions() != 0 || f.remembered() != 0 {
			t.Errorf("%d sessions and %d remembered after their time", f.sessions(), f.remembered())
		}
		// what other tests leave to end is counted, too
		if n := runtime.NumGoroutine(); n > before+many/10 {
			t.Errorf("%d goroutines, %d before", n, before)
		}
	})
}

func TestSessionIsForgottenAtItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, smallServer(t), Options{Mode: Dynamic})
		told := 0
		session := f.follower(t, &told)
		ask(t, session, searchName, `{"query":"npm install"}`)
		if n := f.remembered(); n != 1 {
			t.Fatalf("%d remembered, want 1", n)
		}
		_ = session.Close()
		synctest.Wait()
		if n := f.remembered(); n != 0 {
			t.Errorf("%d remembered, want none", n)
		}
		time.Sleep(time.Hour) // no timer is left that would tell a client that is gone
		synctest.Wait()
		if strings.Contains(f.log.String(), "not delivered") {
			t.Errorf("a client that is gone is told:\n%s", f.log.String())
		}
	})
}

// TestAlwaysAvailable names tools in the options that every client sees in full.
func TestAlwaysAvailable(t *testing.T) {
	for _, mode := range []Mode{Search, Dynamic, Lazy} {
		t.Run(string(mode), func(t *testing.T) {
			f := newFixture(t, smallServer(t), Options{Mode: mode, Always: []string{
				"files:read_file",
				"mcp__tooldex__move_file", "nothing", "nothing",
			}})
			session := f.connect(t, "2025-11-25", nil)
			whole := map[string]bool{}
			for one, err := range session.Tools(t.Context(), nil) {
				if err != nil {
					t.Fatal(err)
				}
				schema, err := json.Marshal(one.InputSchema)
				if err != nil {
					t.Fatal(err)
				}
				whole[one.Name] = strings.Contains(string(schema), "properties")
			}
			if !whole["read_file"] || !whole["move_file"] || whole["write_file"] {
				t.Errorf("listed in full: %v", whole)
			}
			if n := strings.Count(f.log.String(), "always be available does not exist"); n != 1 {
				t.Errorf("the log tells %d times of the name that names none, want once:\n%s", n, f.log.String())
			}
			ask(t, session, searchName, `{"query":"read a text file","limit":1}`)
			for _, one := range f.Server.sessions.allSessions() {
				if len(one.enabled.order) > 0 {
					t.Error("what is listed anyway is enabled too")
				}
			}
		})
	}
}
