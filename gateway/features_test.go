package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
	"tooldex/upstream"
)

// featureServer offers resources, prompts and completions, and asks its client things.
func featureServer() *mcp.Server {
	subscribed := func(context.Context, *mcp.SubscribeRequest) error { return nil }
	s := mcp.NewServer(&mcp.Implementation{Name: "features", Version: "1"}, &mcp.ServerOptions{
		PageSize: 1, SubscribeHandler: subscribed, UnsubscribeHandler: func(context.Context,
			*mcp.UnsubscribeRequest,
		) error {
			return nil
		},
		CompletionHandler: func(_ context.Context, r *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{r.Params.Argument.Value + "slo"}}}, nil
		},
		Capabilities: &mcp.ServerCapabilities{Logging: &mcp.LoggingCapabilities{}},
	})
	read := func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{
			Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: "text of " + r.Params.URI}},
			Meta:     mcp.Meta{"exact": json.RawMessage(`9007199254740993`)},
		}, nil
	}
	for _, name := range []string{"one", "two"} {
		s.AddResource(&mcp.Resource{
			URI: "test://" + name, Name: name,
			Meta: mcp.Meta{"n": json.RawMessage(`9007199254740993`)},
		}, read)
	}
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "test://item/{id}", Name: "item"}, read)
	s.AddPrompt(&mcp.Prompt{Name: "greet", Arguments: []*mcp.PromptArgument{{Name: "city"}}},
		func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{
				Role:    "user",
				Content: &mcp.TextContent{Text: "Hello " + r.Params.Arguments["city"]},
			}}}, nil
		})
	add := func(name string, h mcp.ToolHandler) {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(object)}, h)
	}
	text := func(v any, err error) (*mcp.CallToolResult, error) {
		if err != nil {
			v = "error: " + err.Error()
		}
		b, err := json.Marshal(v)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(b)}}}, err
	}
	add("elicit", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(r.Session.Elicit(ctx, &mcp.ElicitParams{
			Message:         "Your name?",
			RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`),
		}))
	})
	add("sample", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(r.Session.CreateMessage(ctx, &mcp.CreateMessageParams{
			MaxTokens: 5,
			Messages:  []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "say hi"}}},
		}))
	})
	add("roots", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(r.Session.ListRoots(ctx, nil))
	})
	add("capabilities", func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		c := r.ClientCapabilities()
		return text(map[string]any{
			"elicitation": c.Elicitation != nil, "sampling": c.Sampling != nil,
			"roots": c.RootsV2 != nil, "revision": r.ProtocolVersion(),
		}, nil)
	})
	add("pid", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(os.Getpid(), nil)
	})
	add("log", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range 5 {
			if err := r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: i}); err != nil {
				return nil, err
			}
		}
		return text("logged", nil)
	})
	add("update", func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text("ok", s.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: "test://one"}))
	})
	add("more", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.AddPrompt(&mcp.Prompt{Name: "part"}, nil)
		return text("ok", nil)
	})
	add("wait", waitTool)
	return s
}

// answering is a client of the older protocols that gives the same answer to each question of a kind.
func answering(session string, answers map[string]string) *tool.Client {
	return &tool.Client{
		Session: session, Capabilities: json.RawMessage(`{"elicitation":{},"sampling":{},"roots":{"listChanged":true}}`),
		Ask: func(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
			if !json.Valid(params) || answers[method] == "" {
				return nil, &jsonrpc.Error{Code: -32001, Message: "not " + method + " with " + string(params)}
			}
			return json.RawMessage(answers[method]), nil
		},
	}
}

var allAnswers = map[string]string{
	"elicitation/create":     `{"action":"accept","content":{"name":"Ada"}}`,
	"sampling/createMessage": `{"role":"assistant","model":"m","content":{"type":"text","text":"hi"}}`,
	"roots/list":             `{"roots":[{"uri":"file:///home","name":"home"}]}`,
}

func callAs(t *testing.T, g *Gateway, c *tool.Client, id tool.ID) string {
	t.Helper()
	res, err := g.Call(t.Context(), tool.Call{ID: id, Client: c})
	if err != nil {
		t.Fatalf("call %s: %v", id, err)
	}
	return textOf(t, res)
}

func TestQuestionsReachTheClient(t *testing.T) {
	s := featureServer()
	web := listen(t, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	g := startGateway(t, Options{}, self(t, "pipe", "features"), upstream.Server{Name: "web", URL: web.URL, Roots: true})
	for _, server := range []string{"pipe", "web"} {
		for name, want := range map[string]string{"elicit": "Ada", "sample": `"hi"`, "roots": "file:///home"} {
			t.Run(server+" "+name, func(t *testing.T) {
				if got := callAs(t, g, answering("a", allAnswers), tool.MakeID(server, name)); !strings.Contains(got,
					want) {
					t.Errorf("answers %s", got)
				}
			})
		}
		t.Run(server+" refuses", func(t *testing.T) {
			if got := callAs(t, g, answering("a", nil), tool.MakeID(server, "elicit")); !strings.Contains(got,
				"not elicitation/create") {
				t.Errorf("answers %s", got)
			}
		})
	}
}

// A form without a mode, as servers of older revisions send it, gets the one that newer clients want to see.
func TestModeOfOlderForms(t *testing.T) {
	var cs callers
	var got string
	who := cs.addCaller(&tool.Client{Ask: func(_ context.Context, _ string, params json.RawMessage) (json.RawMessage,
		error,
	) {
		got = string(params)
		return json.RawMessage(`{}`), nil
	}}, false)
	defer cs.removeCaller(who)
	req := &mcp.ElicitRequest{Params: &mcp.ElicitParams{
		Message:         "?",
		RequestedSchema: json.RawMessage(`{"type":"object"}`),
	}}
	if _, err := cs.answerServerRequests(nil)(t.Context(), "elicitation/create", req); err != nil ||
		!strings.Contains(got, `"mode":"form"`) {
		t.Errorf("the client is asked %s, %v", got, err)
	}
}

// A question that could be meant for either of two clients is put to neither.
func TestNobodyElseIsAsked(t *testing.T) {
	g := startGateway(t, Options{}, self(t, "s", "features"))
	ctx, cancel := context.WithCancel(t.Context())
	running := make(chan struct{})
	var other sync.WaitGroup
	other.Go(func() {
		_, _ = g.Call(ctx, tool.Call{
			ID: "s/wait", Arguments: json.RawMessage(`{}`),
			Client: answering("other", allAnswers), Progress: func(tool.Progress) { close(running) },
		})
	})
	<-running
	if got := callAs(t, g, answering("a", allAnswers), "s/elicit"); !strings.Contains(got, "more than one") {
		t.Errorf("answers %s", got)
	}
	if got := callAs(t, g, answering("a", allAnswers), "s/roots"); !strings.Contains(got, `"roots":[]`) {
		t.Errorf("answers %s", got)
	}
	cancel()
	other.Wait()
	if got := callAs(t, g, answering("a", allAnswers), "s/elicit"); !strings.Contains(got, "Ada") {
		t.Errorf("once it is alone: %s", got)
	}
	if got := callAs(t, g, nil, "s/elicit"); !strings.Contains(got, "error") {
		t.Errorf("of nobody: %s", got)
	}
}

// A server is told what its client can do, and is started anew for that if nobody has used it yet.
func TestServersKnowTheirClient(t *testing.T) {
	g := startGateway(t, Options{}, self(t, "s", "features"))
	if len(listNames(t, g, "s")) == 0 {
		t.Fatal("nothing is listed")
	}
	const able = `{"elicitation":true,"revision":"2025-11-25","roots":true,"sampling":true}`
	if got := callAs(t, g, answering("a", allAnswers), "s/capabilities"); got != able {
		t.Errorf("the server knows %s", got)
	}
	pid := callAs(t, g, answering("a", allAnswers), "s/pid")
	newer := &tool.Client{Session: "b", Rounds: true, Capabilities: json.RawMessage(`{"elicitation":{}}`)}
	if got := callAs(t, g, newer, "s/pid"); got != pid {
		t.Error("a server in use was started anew")
	}
	g.Set(nil)
	g.Set([]upstream.Server{self(t, "s", "features")})
	if got := callAs(t, g, newer, "s/capabilities"); got != `{"elicitation":true,"revision":"2026-07-28","roots":false,"sampling":false}` {
		t.Errorf("the server knows of the newer client %s", got)
	}
	if got := callAs(t, g, &tool.Client{Session: "c", Rounds: true}, "s/capabilities"); !strings.Contains(got,
		`"elicitation":false`) {
		t.Errorf("the server knows of another %s", got)
	}
}

// A server of the newer protocol asks by its result.
func TestRounds(t *testing.T) {
	g := startGateway(t, Options{}, self(t, "s", "rounds"))
	t.Run("of a client that takes them", func(t *testing.T) {
		c := &tool.Client{Rounds: true, Capabilities: json.RawMessage(`{"elicitation":{}}`)}
		res, err := g.Call(t.Context(), tool.Call{ID: "s/x", Client: c})
		if err != nil || !strings.Contains(string(res.Raw), `"requestState":"s1"`) {
			t.Fatalf("%v, %v", res, err)
		}
		res, err = g.Call(t.Context(), tool.Call{
			ID: "s/x", Client: c,
			Input: json.RawMessage(`{"inputResponses":{"q":{"action":"accept","content":{"n":1}}},"requestState":"s1"}`),
		})
		if err != nil || !strings.Contains(string(res.Raw), `"state":"s1"`) ||
			!strings.Contains(string(res.Raw), `"n":1`) {
			t.Errorf("%v, %v", res, err)
		}
	})
	t.Run("of a client that is asked", func(t *testing.T) {
		res, err := g.Call(t.Context(), tool.Call{ID: "s/x", Client: answering("a", allAnswers)})
		if err != nil || !strings.Contains(string(res.Raw), `"name":"Ada"`) ||
			!strings.Contains(string(res.Raw), `"state":"s1"`) {
			t.Errorf("%v, %v", res, err)
		}
	})
	t.Run("of a client that refuses", func(t *testing.T) {
		_, err := g.Call(t.Context(), tool.Call{ID: "s/x", Client: answering("a", nil)})
		if tool.CodeOf(err) != tool.Unavailable || !strings.Contains(err.Error(), `server "s" asked something`) {
			t.Errorf("error is %v", err)
		}
	})
	t.Run("without end", func(t *testing.T) {
		_, err := g.Call(t.Context(), tool.Call{ID: "s/endless", Client: answering("a", allAnswers)})
		if tool.CodeOf(err) != tool.Unavailable || !strings.Contains(err.Error(), "rounds of questions") {
			t.Errorf("error is %v", err)
		}
	})
	t.Run("of nobody", func(t *testing.T) {
		e := callError(t, g, t.Context(), "s/x", tool.Unavailable)
		if !strings.Contains(e.Msg, "a question for the user") {
			t.Errorf("error is %v", e)
		}
	})
}

func TestLogMessages(t *testing.T) {
	for name, c := range map[string]*tool.Client{
		"older": answering("a", nil), "newer": {Session: "b", Rounds: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := startGateway(t, Options{}, self(t, "s", "features"))
			var got []string // needs no lock: Tell runs on one goroutine, and is done when Call returns
			c.LogLevel = "debug"
			c.Tell = func(method string, params json.RawMessage) {
				var p struct{ Data json.RawMessage }
				if err := json.Unmarshal(params, &p); err != nil || method != "notifications/message" {
					t.Errorf("%s %s", method, params)
				}
				got = append(got, string(p.Data))
			}
			callAs(t, g, c, "s/log")
			if diff := cmp.Diff([]string{"0", "1", "2", "3", "4"}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func texts(raws []json.RawMessage, key string) []string {
	var out []string
	for _, raw := range raws {
		var m map[string]any
		if json.Unmarshal(raw, &m) == nil {
			out = append(out, fmt.Sprint(m[key]))
		}
	}
	return out
}

// What a server offers is known before it runs, once it was asked.
func TestFeatures(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "features")
	changed := make(chan string, 10)
	g := startGateway(t, Options{Dir: dir, OnFeatures: func(s string) { changed <- s }}, self(t, "s", "features"),
		self(t, "none", "sdk"))
	if f := g.Features(); len(f) != 2 || f[0].Server != "none" || f[1].Resources != nil {
		t.Fatalf("before anything was asked: %+v", f)
	}
	listNames(t, g, "s")
	listNames(t, g, "none")
	if got := <-changed; got != "s" {
		t.Errorf("changed: %s", got)
	}
	check := func(g *Gateway) {
		t.Helper()
		f := g.Features()[1]
		if diff := cmp.Diff([][]string{{"test://one", "test://two"}, {"test://item/{id}"}, {"greet"}},
			[][]string{
				texts(f.Resources, "uri"), texts(f.Templates, "uriTemplate"),
				texts(f.Prompts, "name"),
			}); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if !strings.Contains(string(f.Resources[0]), "9007199254740993") {
			t.Errorf("not exact: %s", f.Resources[0])
		}
	}
	check(g)
	later := startGateway(t, Options{Dir: dir}, self(t, "s", "features"), self(t, "none", "sdk"))
	check(later)
	for _, st := range later.Status() {
		if st.State != upstream.Configured {
			t.Errorf("%s was started: %v", st.Server, st.State)
		}
	}
	call(t, g, "s/more", "")
	if got := <-changed; got != "s" || len(g.Features()[1].Prompts) != 2 {
		t.Errorf("after a change of %s: %s", got, texts(g.Features()[1].Prompts, "name"))
	}
	if err := os.WriteFile(filepath.Join(dir, "s.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if f := startGateway(t, Options{Dir: dir}, self(t, "s", "features")).Features(); len(f) != 1 ||
		f[0].Resources != nil {
		t.Errorf("of a damaged file: %+v", f)
	}
}

func TestForward(t *testing.T) {
	updated := make(chan string, 10)
	g := startGateway(t, Options{OnResourceUpdated: func(server, uri string) { updated <- server + " " + uri }},
		self(t, "s", "features"))
	tests := []struct {
		name, method, params, want string
		code                       tool.Code
	}{
		{"resource", "resources/read", `{"uri":"test://one"}`, `"text of test://one"`, 0},
		{"exact", "resources/read", `{"uri":"test://two"}`, `9007199254740993`, 0},
		{"of a template", "resources/read", `{"uri":"test://item/7"}`, `"text of test://item/7"`, 0},
		{
			"unknown resource", "resources/read", `{"uri":"test://none"}`,
			`server \"s\" refused the reading of \"test://none\"`, tool.NotFound,
		},
		{"prompt", "prompts/get", `{"name":"greet","arguments":{"city":"Oslo"}}`, `Hello Oslo`, 0},
		{"completion", "completion/complete", `{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"city","value":"O"}}`, `"Oslo"`, 0},
		{"unknown method", "tools/list", `{}`, "no request that is passed on", tool.Invalid},
		{"no object", "prompts/get", `[]`, "cannot be read", tool.Invalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			raw, err := g.Forward(t.Context(), upstream.Request{
				Server: "s", Method: tt.method,
				Params: json.RawMessage(tt.params),
			})
			if got := fmt.Sprintf("%s %q", raw, fmt.Sprint(err)); tt.want != "" && !strings.Contains(got, tt.want) ||
				err != nil && tool.CodeOf(err) != tt.code || err == nil && tt.code != 0 {
				t.Errorf("%s, %v", raw, err)
			}
		})
	}
	if _, err := g.Forward(t.Context(), upstream.Request{
		Server: "nowhere",
		Method: "resources/read",
	}); tool.CodeOf(err) != tool.NotFound {
		t.Errorf("of no server: %v", err)
	}
	for _, c := range []*tool.Client{answering("a", nil), {
		Session: "b", Rounds: true,
		Capabilities: json.RawMessage(`{"roots":{}}`),
	}} {
		g.Set(nil)
		g.Set([]upstream.Server{self(t, "s", "features")})
		subscribe := upstream.Request{
			Server: "s", Method: "resources/subscribe",
			Params: json.RawMessage(`{"uri":"test://one"}`), Client: c,
		}
		if raw, err := g.Forward(t.Context(), subscribe); err != nil || string(raw) != "{}" {
			t.Fatalf("subscribe: %s, %v", raw, err)
		}
		// A server of the newer protocol runs the call beside the subscription, which therefore waits to be
		// acknowledged.
		callAs(t, g, c, "s/update")
		if got := <-updated; got != "s test://one" {
			t.Errorf("updated: %s", got)
		}
	}
}

// A subscription outlives the server's process.
func TestSubscriptionAfterRestart(t *testing.T) {
	updated := make(chan string, 10)
	g := startGateway(t, Options{OnResourceUpdated: func(_, uri string) { updated <- uri }}, self(t, "s", "features"))
	c := answering("a", nil)
	if _, err := g.Forward(t.Context(), upstream.Request{
		Server: "s", Method: "resources/subscribe",
		Params: json.RawMessage(`{"uri":"test://one"}`), Client: c,
	}); err != nil {
		t.Fatal(err)
	}
	killServer(t, callAs(t, g, c, "s/pid"))
	u, _ := g.Upstream("s")
	waitFor(t, "the end to be noticed", func() bool { return u.currentStatus().State != upstream.Running })
	callAs(t, g, c, "s/pid")
	waitFor(t, "the update", func() bool {
		callAs(t, g, c, "s/update")
		return len(updated) > 0
	})
	if _, err := g.Forward(t.Context(), upstream.Request{
		Server: "s", Method: "resources/unsubscribe",
		Params: json.RawMessage(`{"uri":"test://one"}`), Client: c,
	}); err != nil {
		t.Error(err)
	}
}

func TestClockStandsStillWhileSomebodyIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c pausableTimer
		late := make(chan time.Time, 1)
		begin := time.Now()
		defer c.startTimer(time.Second, func() { late <- time.Now() })()
		time.Sleep(900 * time.Millisecond)
		c.pauseTimer()
		c.pauseTimer()
		time.Sleep(time.Hour)
		c.resumeTimer()
		time.Sleep(time.Hour)
		c.resumeTimer()
		if got := (<-late).Sub(begin); got != 2*time.Hour+1900*time.Millisecond {
			t.Errorf("late after %v", got)
		}
	})
}

// roundsScript is a server of the newer protocol that answers a call by a question, until it gets an answer.
func roundsScript(method string, params json.RawMessage, _ string) []string {
	if method == "server/discover" {
		return scriptResult(`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}`)
	}
	if method == "initialize" {
		return []string{unknownMethod}
	}
	var p struct {
		Name           string
		InputResponses json.RawMessage
		RequestState   string
	}
	_ = json.Unmarshal(params, &p)
	if p.InputResponses == nil || p.Name == "endless" {
		return scriptResult(`{"resultType":"input_required", "requestState" : "s1","inputRequests":{"q":{"method":"elicitation/create","params":{"mode":"form","message":"?","requestedSchema":{"type":"object"}}}}}`)
	}
	return scriptResult(`{"resultType":"complete","content":[],"state":"` + p.RequestState + `","answers":` +
		string(p.InputResponses) + `}`)
}
