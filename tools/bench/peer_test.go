package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/eval"
	"tooldex/tool"
)

// TestFoundByPeers reads answers in the form of each gateway.
func TestFoundByPeers(t *testing.T) {
	text := func(s string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
	}
	structured := func(s string) *mcp.CallToolResult {
		res := text("not JSON")
		res.StructuredContent = json.RawMessage(s)
		return res
	}
	for _, tt := range []struct {
		name      string
		found     func(*mcp.CallToolResult) ([]string, bool, error)
		answer    *mcp.CallToolResult
		want      []string
		confident bool
	}{
		{"tooldex", foundByTooldex, structured(`{"tools":[{"name":"b__y"},{"name":"a__x"}],"confident":true}`), []string{"b__y", "a__x"}, true},
		{"tooldex, nothing fits", foundByTooldex, structured(`{"tools":[{"name":"b__y"}],"confident":false}`), []string{"b__y"}, false},
		{
			"ratel, by score across its groups", foundByRatel,
			text(`{"groups":[{"hits":[{"toolId":"a__x","score":3},{"toolId":"a__z","score":1}]},{"hits":[{"toolId":"b__y","score":2}]}]}`),
			[]string{"a__x", "b__y", "a__z"},
			true,
		},
		{"ratel, nothing", foundByRatel, text(`{"groups":[]}`), nil, false},
		{"ToolHive", foundByToolHive, text(`{"tools":[{"name":"a_x"},{"name":"b_y"}]}`), []string{"a_x", "b_y"}, true},
		{"ToolHive, nothing", foundByToolHive, structured(`{"tools":[]}`), nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, confident, err := tt.found(tt.answer)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(tt.want, got); diff != "" || confident != tt.confident {
				t.Errorf("confident %v, want %v; names differ: %s", confident, tt.confident, diff)
			}
			if _, _, err := tt.found(text("no answer at all")); err == nil {
				t.Error("an answer that cannot be read was taken for one without tools")
			}
		})
	}
}

// TestPlainName makes names of servers that every gateway takes.
func TestPlainName(t *testing.T) {
	for in, want := range map[string]string{
		"github": "github", "IDA Pro": "ida-pro", "WireMCP (Wireshark)": "wiremcp", "brave_search": "brave_search",
	} {
		if got := plainName(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

// TestObjectSchema gives schemas the type that clients insist on, and leaves others as they are.
func TestObjectSchema(t *testing.T) {
	for in, want := range map[string]string{
		"": `{"type":"object"}`, "{}": `{"type":"object"}`,
		`{"type": "object", "x": 1}`:       `{"type": "object", "x": 1}`,
		`{"properties":{"a":{}}}`:          `{"properties":{"a":{}},"type":"object"}`,
		`{"type":["object","null"],"a":1}`: `{"a":1,"type":"object"}`,
	} {
		got, err := objectSchema(json.RawMessage(in))
		if err != nil || string(got) != want {
			t.Errorf("%q became %s, %v; want %s", in, got, err, want)
		}
	}
}

// TestBetterThanOurs names what another gateway is better in, and says so if there is nothing.
func TestBetterThanOurs(t *testing.T) {
	all := []peer{{name: "ours"}, {name: "theirs"}, {name: "others"}}
	ours := peerFigures{hit1: .5, hit5: .6, wrong: -1, p50: time.Millisecond, start: time.Second, memory: 10, list: 5, answer: 5}
	faster := ours
	faster.p50, faster.hit1 = time.Microsecond, .4
	worse := ours
	worse.hit5 = .1
	got := betterThanOurs(all, []peerFigures{ours, faster, worse})
	if want := "Better than tooldex here: theirs in the time of a search.\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := betterThanOurs(all, []peerFigures{ours, worse, worse}); !strings.HasSuffix(got, ": none.\n") {
		t.Errorf("got %q, want none", got)
	}
}

// TestLostServers finds the servers that ratel leaves out, in its own words.
func TestLostServers(t *testing.T) {
	home := t.TempDir()
	log := "[ratel] failed to register gis: [\n  {\n[ratel] failed to register ida-pro: [\n[ratel] failed to register gis: again\n"
	if err := os.WriteFile(filepath.Join(home, peerLog), []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := lostServers(home)
	if diff := gocmp.Diff([]string{"gis", "ida-pro"}, got); err != nil || diff != "" {
		t.Errorf("%v: %s", err, diff)
	}
}

// TestPeerIsAsked puts requests to a gateway that runs: a server of the SDK that finds the second of two tools.
func TestPeerIsAsked(t *testing.T) {
	srv := mcp.NewServer(&mcp.Implementation{Name: "gateway", Version: "1"}, nil)
	srv.AddTool(&mcp.Tool{Name: "find_tool", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{
				Text: `{"tools":[{"name":"s_b"},{"name":"s_a"}]}`,
			}}}, nil
		})
	theirs, ours := mcp.NewInMemoryTransports()
	go func() { _ = srv.Run(t.Context(), ours) }()
	session, err := peerClient().Connect(t.Context(), theirs, &mcp.ClientSessionOptions{ProtocolVersion: sessions})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()

	set := tool.NewSet([]*tool.Tool{{Server: "s", Name: "a"}, {Server: "s", Name: "b"}}, "")
	data, err := loadRequests([]byte(`{"id":"1","query":"x","relevant":["s/a"],"mode":"any"}
{"id":"2","query":"y","relevant":["s/b"],"mode":"any"}
{"id":"3","query":"z","relevant":[]}
`), set)
	if err != nil {
		t.Fatal(err)
	}
	a := &askedPeer{
		peer: peers(config{}, "")[2], set: &labelled{data, set}, session: &peerSession{ClientSession: session, pid: os.Getpid()},
		ids: map[string]tool.ID{"s_a": "s/a", "s_b": "s/b"},
	}
	for i := range data.Cases {
		if err := a.ask(t.Context(), &data.Cases[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.score(); err != nil {
		t.Fatal(err)
	}
	if a.hit1 != .5 || a.hit5 != 1 || a.wrong != 1 || a.refused != 0 || a.given != 2 || a.answer == 0 || a.memory == 0 {
		t.Errorf("scored %+v", a.peerFigures)
	}
	delete(a.ids, "s_b")
	if err := a.ask(t.Context(), &eval.Case{ID: "4", Query: "y"}); err == nil {
		t.Error("a tool that is not of the set was counted")
	}
}

// TestDumpServer serves the tools of a dump as a server lists them.
func TestDumpServer(t *testing.T) {
	dir := t.TempDir()
	dump := `{"tools":[{"name":"echo","description":"Give a text back","inputSchema":{"type":"object"}}]}`
	if err := os.WriteFile(filepath.Join(dir, "one.json"), []byte(dump), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := dumpServer(t.Context(), filepath.Join(dir, "one.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	near, far := mcp.NewInMemoryTransports()
	go func() { _ = s.Run(t.Context(), far) }()
	session, err := peerClient().Connect(t.Context(), near, &mcp.ClientSessionOptions{ProtocolVersion: sessions})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	tokens, err := listTokens(t.Context(), session)
	if err != nil || tokens == 0 {
		t.Errorf("the list has %d tokens: %v", tokens, err)
	}
}

// TestPeersArePinned wants every install command to name a version, and the notes of the page to name the same.
func TestPeersArePinned(t *testing.T) {
	lock, err := peerFiles.ReadFile("peers/package.json")
	if err != nil {
		t.Fatal(err)
	}
	var pkg struct{ Dependencies map[string]string }
	if err := json.Unmarshal(lock, &pkg); err != nil {
		t.Fatal(err)
	}
	notes := ""
	for _, p := range peers(config{}, "") {
		notes += p.note + "\n"
	}
	for name, version := range pkg.Dependencies {
		if !strings.Contains(notes, name+" "+version) {
			t.Errorf("no gateway is noted as %s %s", name, version)
		}
	}
	for _, step := range installSteps() {
		if _, version, ok := strings.Cut(step.command, "@v"); ok && !strings.Contains(notes, "v"+version) {
			t.Errorf("no gateway is noted as v%s", version)
		}
	}
}
