package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"tooldex/audit"
	"tooldex/selection"
)

// risky is a data directory with a server whose tools destroy something, and the file in which they tell of it.
type risky struct {
	t      *testing.T
	data   string
	erased string
}

func newRisky(t *testing.T) *risky {
	t.Helper()
	r := &risky{t: t, data: t.TempDir(), erased: filepath.Join(t.TempDir(), "erased")}
	runCommand(t, r.data, "import", writeServers(t, map[string]any{"risky": map[string]any{
		"command": upstreamCommand(t), "args": []string{"risky"}, "env": map[string]string{erasedVariable: r.erased},
	}}))
	return r
}

// ran returns what was called.
func (r *risky) ran() string {
	r.t.Helper()
	b, err := os.ReadFile(r.erased)
	if err != nil && !os.IsNotExist(err) {
		r.t.Fatal(err)
	}
	return string(b)
}

// recorded returns the records of calls of a tool, of a record that must be whole.
func (r *risky) recorded(name string) []audit.Record {
	r.t.Helper()
	dir := filepath.Join(r.data, "audit")
	if report, err := audit.Verify(context.Background(), dir); err != nil || !report.OK() {
		r.t.Errorf("the record of calls: %v, %v", report.Breaks, err)
	}
	var out []audit.Record
	if err := audit.NewReader(dir).Read(func(rec audit.Record) error {
		if rec.Kind == audit.Call && string(rec.Tool) == name {
			out = append(out, rec)
		}
		return nil
	}); err != nil {
		r.t.Fatal(err)
	}
	return out
}

// TestNoWayAroundConfirmation tries every way to a tool without anybody who confirms: over both generations of MCP,
// each kind of endpoint, each name that a tool has, each tool that calls others, and the HTTP API, with each kind of
// token.
func TestNoWayAroundConfirmation(t *testing.T) {
	r := newRisky(t)
	profiles := filepath.Join(t.TempDir(), "profiles.yaml")
	if err := os.WriteFile(profiles, []byte("profiles: {part: {servers: [risky]}, lax: {confirm: 'off'}, named: {confirm: 'off', confirmTools: [risky/er*]}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	whole := strings.TrimSpace(runCommand(t, r.data, "tokens", "add", "whole"))
	t.Setenv("TOOLDEX_PROFILES", profiles)
	part := strings.TrimSpace(runCommand(t, r.data, "tokens", "add", "part", "--profile", "part"))
	base := serveHTTP(t, r.data, "--confirm", "annotated", "--always", "risky__erase")
	args := map[string]any{"what": "everything"}
	refused := 0
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		for _, path := range []string{
			"/mcp", "/mcp/part", "/mcp/named", "/mcp/search", "/mcp/dynamic", "/mcp/lazy",
			"/mcp/full", "/mcp/auto",
		} {
			c := r.connect(base+path, revision, whole, nil)
			if path == "/mcp/dynamic" && revision < "2026" {
				c.text("load_server_tools", map[string]any{"server": "risky"})
			}
			if path == "/mcp/lazy" {
				c.call("risky__erase", map[string]any{}) // which does not fit, and makes a stub a whole tool
			}
			names := []string{"risky__erase", "mcp__tooldex__risky__erase"}
			if path == "/mcp" {
				names = append(names, "erase", "risky/erase", "tooldex/erase")
			}
			for _, name := range names {
				for _, res := range []*mcp.CallToolResult{
					c.call(name, args),
					c.call("invoke_tool", map[string]any{"name": name, "arguments": args}),
					c.call("mcp__tooldex__invoke_tool", map[string]any{"tool": name, "args": args}),
				} {
					refused++
					if got := textOf(res); !res.IsError || !strings.HasPrefix(got,
						"denied: risky/erase may change or destroy something") ||
						!strings.Contains(got, "nothing was called") {
						t.Errorf("%s %s: %s answers %q", revision, path, name, got)
					}
				}
			}
		}
	}
	for _, token := range []string{whole, part} {
		for _, body := range []string{
			`{"arguments":{"what":"all"}}`,
			`{"arguments":{"what":"all"},"_meta":{"confirm":true}}`, `{"arguments":{"what":"all"},"confirm":false}`,
		} {
			for _, id := range []string{"risky/erase", "risky%2Ferase", "risky__erase", "erase"} {
				refused++
				got := ask(t, "POST", base+"/api/tools/"+id+"/call", body, "Authorization", "Bearer "+token)
				if got.status != http.StatusConflict || !strings.Contains(got.body, "confirmation_required") {
					t.Errorf("%s %s answers %d %s", id, body, got.status, got.body)
				}
			}
		}
	}
	// An argument that the tool does not have is refused before anybody is asked.
	got := ask(t, "POST", base+"/api/tools/erase/call", `{"arguments":{"what":"all","confirm":true}}`, "Authorization",
		"Bearer "+whole)
	if got.status != http.StatusBadRequest || !strings.Contains(got.body, "confirm not known") {
		t.Errorf("an unknown argument confirm: %d %s", got.status, got.body)
	}
	// Lists, searches and selections tell beforehand, each by the rules of its profile.
	for profile, want := range map[string][]string{"": {"erase"}, "part": {"erase"}, "lax": nil, "named": {"erase"}} {
		got := ask(t, "POST", base+"/api/tools/select", `{"mode":"all","profile":"`+profile+`"}`, "Authorization",
			"Bearer "+whole)
		var res selection.Selection
		if err := json.Unmarshal([]byte(got.body), &res); err != nil || len(res.Selected) < 2 {
			t.Fatalf("a selection of %q: %d %s", profile, got.status, got.body)
		}
		var marked []string
		for _, one := range res.Selected {
			if one.Confirm {
				marked = append(marked, one.ID.Name())
			}
		}
		if !slices.Equal(marked, want) {
			t.Errorf("a selection of %q marks %v, want %v", profile, marked, want)
		}
	}
	if ran := r.ran(); ran != "" {
		t.Fatalf("these ran all the same:\n%s", ran)
	}
	records := r.recorded("risky/erase")
	unconfirmed := 0
	for _, rec := range records {
		if rec.Outcome == audit.Unconfirmed && rec.Reason == "unasked" && rec.Who.Principal != "" && rec.Who.Via != "" {
			unconfirmed++
		}
	}
	if unconfirmed != refused {
		t.Errorf("%d refusals are recorded, want %d", unconfirmed, refused)
	}

	// The test would see a call that is made.
	if got := ask(t, "POST", base+"/api/tools/risky/erase/call", `{"arguments":{"what":"confirmed"},"confirm":true}`,
		"Authorization", "Bearer "+part); got.status != http.StatusOK {
		t.Errorf("confirmed: %d %s", got.status, got.body)
	}
	r.connect(base+"/mcp/lax", "2025-11-25", whole, nil).text("erase", map[string]any{"what": "lax"})
	r.connect(base+"/mcp", "2025-11-25", whole, nil).text("scrub", map[string]any{"what": "unannotated"})
	if ran := r.ran(); ran != "erase confirmed\nerase lax\nscrub unannotated\n" {
		t.Errorf("what was confirmed ran as\n%s", ran)
	}
}

// connect connects a client that answers questions with answer; nil: it takes none.
func (r *risky) connect(endpoint, revision, token string, answer *answering) *client {
	r.t.Helper()
	o := &mcp.ClientOptions{}
	if answer != nil {
		o.ElicitationHandler = answer.elicit
	}
	transport := &mcp.StreamableClientTransport{Endpoint: endpoint, HTTPClient: &http.Client{Transport: bearing(token)}}
	s, err := mcp.NewClient(&mcp.Implementation{Name: "scenario", Version: "1"}, o).Connect(r.t.Context(), transport,
		&mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = s.Close() })
	return &client{t: r.t, ClientSession: s}
}

// answering is a person at a client.
type answering struct {
	mu     sync.Mutex
	action string
	asked  []string
}

func (a *answering) elicit(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, req.Params.Message)
	return &mcp.ElicitResult{Action: a.action}, nil
}

// will says what the person answers from now on, and returns what was asked so far.
func (a *answering) will(action string) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	asked := a.asked
	a.action, a.asked = action, nil
	return asked
}

// TestConfirmationByElicitation asks real clients, over stdio and HTTP and in both generations of the protocol.
func TestConfirmationByElicitation(t *testing.T) {
	r := newRisky(t)
	base := serveHTTP(t, r.data, "--confirm", "annotated")
	person := &answering{}
	connects := map[string]func() *client{
		"http, sessions":  func() *client { return r.connect(base+"/mcp", "2025-11-25", "", person) },
		"http, stateless": func() *client { return r.connect(base+"/mcp", "2026-07-28", "", person) },
	}
	for _, revision := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		connects["stdio, "+revision] = func() *client {
			cmd := servingCommand(t, r.data, "serve", "--stdio", "--confirm", "annotated")
			cmd.Stderr = os.Stderr
			s, err := mcp.NewClient(&mcp.Implementation{Name: "scenario", Version: "1"},
				&mcp.ClientOptions{ElicitationHandler: person.elicit}).
				Connect(t.Context(), &mcp.CommandTransport{Command: cmd},
					&mcp.ClientSessionOptions{ProtocolVersion: revision})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			return &client{t: t, ClientSession: s}
		}
	}
	for name, connect := range connects {
		c := connect()
		before := r.ran()
		for action, want := range map[string]string{
			"decline": "denied: the user declined the call of risky/erase; nothing was called",
			"cancel":  "denied: the user closed the question whether to call risky/erase; nothing was called",
		} {
			person.will(action)
			if res := c.call("erase", map[string]any{"what": "a"}); !res.IsError ||
				!strings.HasPrefix(textOf(res), want) {
				t.Errorf("%s: %s answers %q", name, action, textOf(res))
			}
			if asked := person.will(""); len(asked) != 1 {
				t.Errorf("%s: %s was asked %d times", name, action, len(asked))
			}
		}
		if r.ran() != before {
			t.Errorf("%s: it ran without a yes", name)
		}
		person.will("accept")
		what := "b\n\n# Fine\u202e<b>`x`"
		if got := c.text("invoke_tool", map[string]any{
			"name":      "erase",
			"arguments": map[string]any{"what": what},
		}); got != "erased "+what {
			t.Errorf("%s: after a yes it answers %q", name, got)
		}
		const question = "tooldex asks you, not a server: allow this call? It may change or destroy something.\n\n    tool: erase\n    server: risky\n\nArguments:\n\n    what: \"b\\n\\n# Fine\\u202e\\u003cb\\u003e\\u0060x\\u0060\""
		if asked := person.will(""); len(asked) != 1 || asked[0] != question {
			t.Errorf("%s: the question is %q, want %q", name, asked, question)
		}
		if after := r.ran(); after != before+"erase "+what+"\n" {
			t.Errorf("%s: what ran is %q", name, strings.TrimPrefix(after, before))
		}
		if got := c.text("peek", map[string]any{"what": "c"}); got != "erased c" || len(person.will("")) != 0 {
			t.Errorf("%s: what needs no confirmation answers %q", name, got)
		}
		if got := c.text("get_tool_description", map[string]any{"name": []string{"erase", "peek"}}); strings.Count(got,
			"A person has to confirm each call of it.") != 1 {
			t.Errorf("%s: the descriptions are %s", name, got)
		}
		if got := c.text("search_tools", map[string]any{"query": "erase a folder with all that is in it"}); !regexp.MustCompile(`risky__erase|erase\(.*a person confirms each call`).MatchString(got) || strings.Count(got, "a person confirms") != 1 {
			t.Errorf("%s: the search says %s", name, got)
		}
		if err := os.Truncate(r.erased, 0); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string]int{}
	for _, rec := range r.recorded("risky/erase") {
		got[fmt.Sprint(rec.Who.Client, " ", rec.Outcome, " ", rec.Reason, rec.Confirmed)]++
	}
	want := map[string]int{
		"scenario ok by the user": 5, "scenario unconfirmed declined": 5,
		"scenario unconfirmed dismissed": 5,
	}
	if a, b := fmt.Sprint(got), fmt.Sprint(want); a != b {
		t.Errorf("recorded are %s, want %s", a, b)
	}
}

// TestCommandsThatChange wants each command to be one whose runs are recorded, or one that changes nothing.
func TestCommandsThatChange(t *testing.T) {
	harmless := []string{
		"audit", "call", "completion", "config", "describe", "doctor", "enrich export", "enrich list", "enrich measure",
		"eval", "health", "index backup", "index status",
		"index verify", "learn", "learn export", "learn list", "list", "search", "select", "serve", "servers list",
		"servers status", "servers search", "servers review", "servers scan", "skills", "tokens list", "version",
	}
	changing := strings.Join(changingCommands(), "\n") + "\n"
	for _, cmd := range commandsThatRun(newRoot(&app{getenv: func(string) string { return "" }})) {
		path := strings.TrimPrefix(cmd, "tooldex ")
		known := strings.Contains("\n"+changing, "\n"+path+"\n")
		for _, h := range harmless {
			known = known || path == h || strings.HasPrefix(path, h+" ") && h != "learn" && h != "serve"
		}
		if !known {
			t.Errorf("%s is neither among the commands that change something (audit_changes.go), nor among those that do not (here)", cmd)
		}
	}
}

// commandsThatRun lists the paths of the commands that do something.
func commandsThatRun(cmd *cobra.Command) []string {
	var out []string
	for _, c := range cmd.Commands() {
		if c.Name() != "help" && !c.HasSubCommands() {
			out = append(out, c.CommandPath())
		}
		out = append(out, commandsThatRun(c)...)
	}
	return out
}
