package mcpsrv

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
)

// connectAs opens a session of a client that names itself.
func (f *fixture) connectAs(t *testing.T, revision, name, version string,
	capabilities *mcp.ClientCapabilities,
) *mcp.ClientSession {
	t.Helper()
	theirs, ours := mcp.NewInMemoryTransports()
	ran := make(chan error, 1)
	go func() { ran <- f.Run(t.Context(), ours) }()
	session, err := mcp.NewClient(&mcp.Implementation{Name: name, Version: version},
		&mcp.ClientOptions{Capabilities: capabilities}).
		Connect(t.Context(), theirs, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close()
		<-ran
	})
	return session
}

// servedIn tells from a listing in which mode it was made.
func servedIn(t *testing.T, session *mcp.ClientSession) Mode {
	t.Helper()
	var names []string
	for one, err := range session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, one.Name)
	}
	switch {
	case !slices.Contains(names, searchName):
		return Full
	case slices.Contains(names, loadName):
		return Dynamic
	}
	return Search
}

func TestAutoChooses(t *testing.T) {
	small := 0
	for _, one := range smallServer(t) {
		small += one.Tokens()
	}
	declared := &mcp.ClientCapabilities{Experimental: map[string]any{followsKey: map[string]any{}}}
	for name, c := range map[string]struct {
		threshold               int
		tools                   []*tool.Tool
		revision, name, version string
		capabilities            *mcp.ClientCapabilities
		want                    Mode
	}{
		"small":                          {small, smallServer(t), "2025-11-25", "claude-code", "2.1.0", nil, Full},
		"one token too large":            {small - 1, smallServer(t), "2025-11-25", "claude-code", "2.1.0", nil, Dynamic},
		"small, stateless":               {small, smallServer(t), "2026-07-28", "anyone", "1", nil, Full},
		"large, unknown client":          {-1, smallServer(t), "2025-11-25", "anyone", "1", nil, Search},
		"large, known client":            {-1, smallServer(t), "2025-06-18", "Visual Studio Code", "1.110.0", nil, Dynamic},
		"large, the oldest revision":     {-1, smallServer(t), "2024-11-05", "cursor-vscode", "1.0.0", nil, Dynamic},
		"large, stateless":               {-1, smallServer(t), "2026-07-28", "Visual Studio Code", "1.110.0", nil, Search},
		"large, a version that does not": {-1, smallServer(t), "2025-11-25", "claude-code", "2.0.99", nil, Search},
		"large, a later version":         {-1, smallServer(t), "2025-11-25", "claude-code", "v3.0", nil, Dynamic},
		"large, no version":              {-1, smallServer(t), "2025-11-25", "claude-code", "unknown", nil, Search},
		"large, declared by the client":  {-1, smallServer(t), "2025-11-25", "anyone", "1", declared, Dynamic},
		"large, declared by options":     {-1, smallServer(t), "2025-11-25", "ours", "1", nil, Dynamic},
		"large, declared, stateless":     {-1, smallServer(t), "2026-07-28", "ours", "1", declared, Search},
		"empty":                          {small, nil, "2025-11-25", "anyone", "1", nil, Search},
		"all disabled": {
			small,
			[]*tool.Tool{{Server: "a", Name: "b", Disabled: true}},
			"2025-11-25",
			"anyone", "1", nil, Search,
		},
		"default threshold":            {0, manyTools(50), "2025-11-25", "anyone", "1", nil, Full},
		"default threshold, too large": {0, manyTools(1000), "2025-11-25", "anyone", "1", nil, Search},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, c.tools, Options{Mode: Auto, Threshold: c.threshold, Followers: []string{"ours"}})
			session := f.connectAs(t, c.revision, c.name, c.version, c.capabilities)
			for range 3 {
				if got := servedIn(t, session); got != c.want {
					t.Errorf("served as %s, want %s", got, c.want)
				}
			}
			if told := "mode=" + string(c.want) + " client="; strings.Count(f.log.String(), "mode chosen") != 1 ||
				!strings.Contains(f.log.String(), told) {
				t.Errorf("the log does not tell of %q once:\n%s", told, f.log.String())
			}
		})
	}
}

// TestAutoFollowsTheCatalogue grows a catalogue beyond the threshold and shrinks it again.
func TestAutoFollowsTheCatalogue(t *testing.T) {
	f := newFixture(t, manyTools(10), Options{Mode: Auto})
	session := f.connectAs(t, "2025-11-25", "anyone", "1", nil)
	for _, c := range []struct {
		tools int
		want  Mode
	}{{10, Full}, {1000, Search}, {10, Full}} {
		f.set.Store(tool.NewSet(manyTools(c.tools), ""))
		f.CatalogChanged()
		if got := servedIn(t, session); got != c.want {
			t.Errorf("%d tools are served as %s, want %s", c.tools, got, c.want)
		}
	}
}

func TestLogOfChoicesIsBounded(t *testing.T) {
	f := newFixture(t, smallServer(t), Options{Mode: Auto})
	for i := range 2 * maxChoices {
		f.logChoice(&mcp.ServerRequest[*mcp.InitializeParams]{Params: &mcp.InitializeParams{Meta: mcp.Meta{mcp.MetaKeyClientInfo: &mcp.Implementation{Name: fmt.Sprint("client", i)}}}}, Search)
	}
	if n := strings.Count(f.log.String(), "mode chosen"); n != maxChoices {
		t.Errorf("%d choices are logged, want %d", n, maxChoices)
	}
}

func TestInstructionsFitTheMode(t *testing.T) {
	for _, c := range []struct {
		mode Mode
		want string
	}{
		{Search, "Many tools lie behind this server. Find them with search_tools, in plain words, then call what it finds through invoke_tool."},
		{Dynamic, "Many tools lie behind this server. Find them with search_tools, in plain words; what it finds joins your list of tools."},
		{Lazy, "The tools of this server are listed without their parameters. get_tool_description shows them."},
		{Full, ""},
		{Auto, ""},
	} {
		f := newFixture(t, smallServer(t), Options{Mode: c.mode})
		if diff := gocmp.Diff(c.want, f.connect(t, "2025-11-25", nil).InitializeResult().Instructions); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.mode, diff)
		}
	}
}

// TestEveryRevisionIsServed opens a session, or makes the request that takes its place, in every revision and both
// ways.
func TestEveryRevisionIsServed(t *testing.T) {
	for _, revision := range mcp.SupportedProtocolVersions() {
		for _, mode := range Modes() {
			t.Run(revision+" "+string(mode), func(t *testing.T) {
				f := newFixture(t, smallServer(t), Options{Mode: mode})
				for _, session := range []*mcp.ClientSession{
					f.connect(t, revision, nil),
					dial(t, f.listen(t).URL, revision, nil),
				} {
					if got := session.InitializeResult().ProtocolVersion; got != revision {
						t.Errorf("negotiated %s", got)
					}
					if _, err := session.ListTools(t.Context(), nil); err != nil {
						t.Errorf("list: %v", err)
					}
					for _, call := range []struct{ name, args string }{
						{searchName, `{"query":"npm install"}`},
						{invokeName, `{"name":"file_info","arguments":{"path":"a"}}`},
						{"file_info", `{"path":"a"}`},
					} {
						if got, failed := ask(t, session, call.name, call.args); failed {
							t.Errorf("%s: %s", call.name, got)
						}
					}
				}
			})
		}
	}
	if n := len(mcp.SupportedProtocolVersions()); n != 5 {
		t.Errorf("the SDK serves %d revisions, want 5", n)
	}
}

// TestCollisionsAreTheSameOnEveryRun gives tools whose names meet in many orders.
func TestCollisionsAreTheSameOnEveryRun(t *testing.T) {
	tools := []*tool.Tool{
		{Server: "a", Name: "b.c", InputSchema: objectSchema},
		{Server: "a", Name: "b_c", InputSchema: objectSchema},
		{Server: "a", Name: "b c", InputSchema: objectSchema},
		{Server: "a_", Name: "b_c", InputSchema: objectSchema},
		{Server: "x", Name: strings.Repeat("long", 20), InputSchema: objectSchema},
	}
	want := ""
	for i := range len(tools) {
		tools = append(tools[1:], tools[0])
		f := newFixture(t, tools, Options{Mode: Full})
		got := rawListing(t, f)
		if i == 0 {
			want = got
			for _, e := range f.toolListing(f.Set(), Full).entries {
				name := e.key
				if one, err := f.resolveTool(f.Set(), name); err != nil || listedName(f.Set(), one) != name {
					t.Errorf("%s means %v, %v", name, one, err)
				}
			}
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("another order gives another listing (-want +got):\n%s", diff)
		}
	}
}

// TestListenAnnouncesChanges plays subscriptions/listen, by which a client without a session hears of changes, line by
// line.
func TestListenAnnouncesChanges(t *testing.T) {
	f := newFixture(t, smallServer(t), Options{})
	p := f.pipe(t)
	p.send(`{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"resourcesListChanged":true}` + statelessMeta + `}}`)
	// What cannot be announced, since there is none of it here, is not agreed to.
	const agreed = `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":7},"notifications":{"toolsListChanged":true}}}`
	if diff := gocmp.Diff(agreed, p.receive()); diff != "" {
		t.Errorf("acknowledged (-want +got):\n%s", diff)
	}
	for i := range 2 {
		f.set.Store(tool.NewSet(manyTools(20*(i+1)), ""))
		f.CatalogChanged()
		const changed = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":7}}}`
		if diff := gocmp.Diff(changed, p.receive()); diff != "" {
			t.Errorf("change %d (-want +got):\n%s", i, diff)
		}
	}
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
	if got := p.receive(); !strings.Contains(got, `"id":7`) {
		t.Errorf("the end is answered by %s", got)
	}
	f.set.Store(tool.NewSet(manyTools(5), ""))
	f.CatalogChanged()
	p.send(`{"jsonrpc":"2.0","id":8,"method":"tools/list","params":{` + strings.TrimPrefix(statelessMeta, ",") + `}}`)
	if got := p.receive(); !strings.Contains(got, "Now 5 tools") {
		t.Errorf("after the end comes %s", got)
	}
}
