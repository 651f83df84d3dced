package mcpsrv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/gateway"
	"tooldex/internal/orderedjson"
	"tooldex/tool"
	"tooldex/upstream"
)

// upstream is a real server behind the one that is tested.
type fakeServer struct {
	*mcp.Server
	subscribed, unsubscribed chan string
}

func newFakeServer() *fakeServer {
	u := &fakeServer{subscribed: make(chan string, 10), unsubscribed: make(chan string, 10)}
	u.Server = mcp.NewServer(&mcp.Implementation{Name: "up", Version: "1"}, &mcp.ServerOptions{
		SubscribeHandler: func(_ context.Context, r *mcp.SubscribeRequest) error {
			u.subscribed <- r.Params.URI
			return nil
		},
		UnsubscribeHandler: func(_ context.Context, r *mcp.UnsubscribeRequest) error {
			u.unsubscribed <- r.Params.URI
			return nil
		},
		CompletionHandler: func(_ context.Context, r *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{r.Params.Ref.Name +
				r.Params.Ref.URI + "=" + r.Params.Argument.Value}}}, nil
		},
		Capabilities: &mcp.ServerCapabilities{Logging: &mcp.LoggingCapabilities{}},
	})
	read := func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{
			URI: r.Params.URI, Text: "text",
			Meta: mcp.Meta{"n": json.RawMessage("9007199254740993")},
		}}}, nil
	}
	u.AddResource(&mcp.Resource{URI: "test://note", Name: "note", MIMEType: "text/plain"}, read)
	u.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "test://item/{id}/text", Name: "item"}, read)
	for _, name := range []string{"greet", promptName} {
		u.AddPrompt(&mcp.Prompt{Name: name}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult,
			error,
		) {
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{
				Role:    "user",
				Content: &mcp.TextContent{Text: "upstream's " + r.Params.Name},
			}}}, nil
		})
	}
	add := func(name string, h mcp.ToolHandler) { u.AddTool(&mcp.Tool{Name: name, InputSchema: objectSchema}, h) }
	say := func(v any, err error) (*mcp.CallToolResult, error) {
		if err != nil {
			return nil, err
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(orderedjson.Encode(v))}}}, nil
	}
	add("elicit", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return say(r.Session.Elicit(ctx, &mcp.ElicitParams{
			Message:         "name?",
			RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`),
		}))
	})
	add("twice", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		first, err := r.Session.ListRoots(ctx, nil)
		if err != nil {
			return nil, err
		}
		second, err := r.Session.CreateMessage(ctx, &mcp.CreateMessageParams{
			MaxTokens: 1,
			Messages:  []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: first.Roots[0].URI}}},
		})
		return say(second, err)
	})
	add("log", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for _, level := range []mcp.LoggingLevel{"debug", "info", "error"} {
			if err := r.Session.Log(ctx, &mcp.LoggingMessageParams{
				Level: level,
				Data:  "a " + string(level),
			}); err != nil {
				return nil, err
			}
		}
		return say("logged", nil)
	})
	add("update", func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return say("ok", u.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: "test://note"}))
	})
	add("link", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, mcp.URLElicitationRequiredError([]*mcp.ElicitParams{{
			Mode: "url", URL: "https://example.com",
			ElicitationID: "e", Message: "log in",
		}})
	})
	add("media", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{
			Content: []mcp.Content{
				&mcp.ImageContent{Data: []byte("image"), MIMEType: "image/png"},
				&mcp.AudioContent{Data: []byte("audio"), MIMEType: "audio/wav"},
				&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "test://note", Text: "text"}},
				&mcp.ResourceLink{URI: "test://note", Name: "note"},
			},
			StructuredContent: json.RawMessage(`{"big":9007199254740993}`),
			Meta:              mcp.Meta{"trace": json.RawMessage("9007199254740993")},
		}, nil
	})
	return u
}

// behind is a server in front of real upstreams, over a real gateway.
type behind struct {
	*fixture
	gw *gateway.Gateway
}

func newBehind(t *testing.T, servers map[string]*fakeServer) *behind {
	t.Helper()
	b := &behind{fixture: &fixture{queries: make(chan tool.Query, 16)}}
	var configured []upstream.Server
	for name, u := range servers {
		web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return u.Server },
			nil))
		t.Cleanup(func() { web.CloseClientConnections(); web.Close() })
		configured = append(configured, upstream.Server{Name: name, URL: web.URL, Roots: true})
	}
	b.gw = gateway.New(gateway.Options{
		LookupEnv:         os.LookupEnv,
		OnFeatures:        func(string) { b.FeaturesChanged() },
		OnResourceUpdated: func(server, uri string) { b.ResourceUpdated(server, uri) },
	})
	b.gw.Set(configured)
	b.fixture.set.Store(tool.NewSet(nil, ""))
	b.Server = New(Options{
		Searcher: b.fixture, Caller: b.gw, Catalog: b.fixture, Upstreams: b.gw,
		Logger: slog.New(slog.NewTextHandler(&b.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	var tools []*tool.Tool
	for name := range servers {
		up, _ := b.gw.Upstream(name)
		list, err := up.Tools(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		tools = append(tools, list...)
	}
	b.fixture.set.Store(tool.NewSet(tools, ""))
	t.Cleanup(func() { _ = errors.Join(b.Server.Close(), b.gw.Close()) })
	return b
}

var revisions = []string{"2025-06-18", "2025-11-25", statelessRevision}

// able are the options of a client that answers everything, and counts what it is told.
func able(told func(string)) *mcp.ClientOptions {
	return &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada, asked for " +
				r.Params.Message}}, nil
		},
		CreateMessageHandler: func(_ context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Role: "assistant", Model: "m", Content: &mcp.TextContent{Text: "after " +
				r.Params.Messages[0].Content.(*mcp.TextContent).Text}}, nil
		},
		LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) {
			told(fmt.Sprint(r.Params.Data))
		},
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
			told("updated " + r.Params.URI)
		},
		PromptListChangedHandler:   func(context.Context, *mcp.PromptListChangedRequest) { told("prompts") },
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) { told("resources") },
	}
}

func TestResources(t *testing.T) {
	b := newBehind(t, map[string]*fakeServer{"a b": newFakeServer(), "other": newFakeServer()})
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			c := b.connect(t, revision, nil)
			list, err := c.ListResources(t.Context(), nil)
			if err != nil || len(list.Resources) != 2 || list.Resources[0].URI != "tooldex://a%20b/test://note" ||
				list.Resources[0].MIMEType != "text/plain" {
				t.Fatalf("resources %+v, %v", list, err)
			}
			templates, err := c.ListResourceTemplates(t.Context(), nil)
			if err != nil || len(templates.ResourceTemplates) != 2 ||
				templates.ResourceTemplates[1].URITemplate != "tooldex://other/test://item/{id}/text" {
				t.Fatalf("templates %+v, %v", templates, err)
			}
			for uri, want := range map[string]string{
				"tooldex://a%20b/test://note":         "tooldex://a%20b/test://note",
				"tooldex://other/test://item/7/text":  "tooldex://other/test://item/7/text",
				"test://note":                         "test://note", // as the result of a tool has it
				"test://item/8/text":                  "test://item/8/text",
				"tooldex://nowhere/test://note":       "",
				"test://item/8":                       "",
				"tooldex://other/test://nothing/here": "",
			} {
				read, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
				if want == "" {
					if rpc := (*jsonrpc.Error)(nil); !errors.As(err, &rpc) || rpc.Code != jsonrpc.CodeInvalidParams {
						t.Errorf("%s reads as %+v, %v", uri, read, err)
					}
					continue
				}
				if err != nil || read.Contents[0].URI != want || read.Contents[0].Text != "text" {
					t.Errorf("%s reads as %+v, %v", uri, read, err)
				}
			}
		})
	}
	answers := b.exchange(t, "2025-11-25", `{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"tooldex://other/test://note"}}`)
	if got := answers[len(answers)-1]; !strings.Contains(got, `"n":9007199254740993`) {
		t.Errorf("not exact: %s", got)
	}
}

func TestOneServerKeepsItsNames(t *testing.T) {
	b := newBehind(t, map[string]*fakeServer{"only": newFakeServer()})
	c := b.connect(t, "2025-11-25", nil)
	list, err := c.ListResources(t.Context(), nil)
	if err != nil || len(list.Resources) != 1 || list.Resources[0].URI != "test://note" {
		t.Errorf("resources %+v, %v", list, err)
	}
	prompts, err := c.ListPrompts(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range prompts.Prompts {
		names = append(names, p.Name)
	}
	if diff := gocmp.Diff([]string{promptName, "only__available_tools", "greet"}, names); diff != "" {
		t.Errorf("prompts (-want +got):\n%s", diff)
	}
	read, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "test://item/1/text"})
	if err != nil || read.Contents[0].URI != "test://item/1/text" {
		t.Errorf("reads as %+v, %v", read, err)
	}
}

func TestPromptsAndCompletions(t *testing.T) {
	b := newBehind(t, map[string]*fakeServer{"a": newFakeServer(), "b": newFakeServer()})
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			c := b.connect(t, revision, nil)
			for name, want := range map[string]string{
				"a__greet": "upstream's greet", "b/greet": "upstream's greet",
				"b__available_tools": "upstream's available_tools", promptName: "You have these tools",
			} {
				got, err := c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: name})
				if err != nil || !strings.Contains(got.Messages[0].Content.(*mcp.TextContent).Text, want) {
					t.Errorf("%s is %+v, %v", name, got, err)
				}
			}
			if _, err := c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "greet"}); err == nil {
				t.Error("an ambiguous name is answered")
			}
			for want, ref := range map[string]*mcp.CompleteReference{
				"greet=x":                 {Type: "ref/prompt", Name: "b__greet"},
				"test://item/{id}/text=x": {Type: "ref/resource", URI: "tooldex://b/test://item/{id}/text"},
				"":                        {Type: "ref/prompt", Name: promptName},
			} {
				got, err := c.Complete(t.Context(), &mcp.CompleteParams{
					Ref:      ref,
					Argument: mcp.CompleteParamsArgument{Name: "n", Value: "x"},
				})
				if err != nil || strings.Join(got.Completion.Values, " ") != want {
					t.Errorf("%+v gives %+v, %v", ref, got, err)
				}
			}
		})
	}
}

// listener collects what a client is told.
func listener() (chan string, func(string)) {
	ch := make(chan string, 100)
	return ch, func(s string) { ch <- s }
}

func TestSubscriptions(t *testing.T) {
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			up := newFakeServer()
			b := newBehind(t, map[string]*fakeServer{"a": up, "b": newFakeServer()})
			heard, hear := listener()
			c := b.connect(t, revision, able(hear))
			const uri = "tooldex://a/test://note"
			if err := c.Subscribe(t.Context(), &mcp.SubscribeParams{URI: uri}); err != nil {
				t.Fatal(err)
			}
			if got := <-up.subscribed; got != "test://note" {
				t.Errorf("subscribed to %s", got)
			}
			for { // the newer protocol does not say when a subscription has begun
				ask(t, c, "a__update", "{}")
				select {
				case got := <-heard:
					if got != "updated "+uri {
						t.Errorf("told %s", got)
					}
				case <-time.After(100 * time.Millisecond):
					continue
				}
				break
			}
			if err := c.Close(); err != nil { // without a word about the subscription
				t.Fatal(err)
			}
			if got := <-up.unsubscribed; got != "test://note" {
				t.Errorf("the end of the session ends the subscription to %s", got)
			}
		})
	}
}

func TestFeaturesChanged(t *testing.T) {
	up := newFakeServer()
	b := newBehind(t, map[string]*fakeServer{"a": up})
	heard, hear := listener()
	c := b.connect(t, "2025-11-25", able(hear))
	up.AddPrompt(&mcp.Prompt{Name: "new"}, nil)
	seen := map[string]bool{}
	for {
		prompts, err := c.ListPrompts(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(prompts.Prompts, func(p *mcp.Prompt) bool { return p.Name == "new" }) &&
			seen["resources"] {
			return
		}
		seen[<-heard] = true // or the test ends by its time limit
	}
}

// Servers of the older protocols ask clients of both generations, over a pipe and over HTTP, where what is not sent
// with a call's own context is lost.
func TestServersAskClients(t *testing.T) {
	for _, revision := range revisions {
		for _, way := range []string{"pipe", "HTTP"} {
			t.Run(revision+" "+way, func(t *testing.T) {
				b := newBehind(t, map[string]*fakeServer{"a": newFakeServer(), "b": newFakeServer()})
				var transport mcp.Transport
				if way == "HTTP" {
					web := httptest.NewServer(b.Handler())
					t.Cleanup(func() { web.CloseClientConnections(); web.Close() })
					transport = &mcp.StreamableClientTransport{Endpoint: web.URL, DisableStandaloneSSE: true}
				} else {
					theirs, ours := mcp.NewInMemoryTransports()
					go func() { _ = b.Run(context.Background(), ours) }()
					transport = theirs
				}
				askThrough(t, transport, revision)
			})
		}
	}
	t.Run("that cannot answer", func(t *testing.T) {
		b := newBehind(t, map[string]*fakeServer{"a": newFakeServer()})
		c := b.connect(t, "2025-11-25", &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
		if got, failed := ask(t, c, "elicit", "{}"); !failed || !strings.Contains(got, "does not support elicitation") {
			t.Errorf("answers %s", got)
		}
	})
}

// askThrough calls tools that ask their client, as one that answers everything.
func askThrough(t *testing.T, transport mcp.Transport, revision string) {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "able", Version: "1"}, able(func(string) {}))
	client.AddRoots(&mcp.Root{URI: "file:///home"})
	c, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	for name, args := range map[string]string{"a__elicit": "{}", invokeName: `{"name":"b__elicit"}`} {
		if got, failed := ask(t, c, name, args); failed || !strings.Contains(got, "Ada, asked for The server") ||
			!strings.Contains(got, "> name?") {
			t.Errorf("%s answers %s", name, got)
		}
	}
	if got, failed := ask(t, c, "a__twice", "{}"); failed || !strings.Contains(got, "after file:///home") {
		t.Errorf("asked twice it answers %s", got)
	}
}

func TestLogLevels(t *testing.T) {
	b := newBehind(t, map[string]*fakeServer{"a": newFakeServer()})
	heard, hear := listener()
	quiet, hearQuiet := listener()
	c, other := b.connect(t, "2025-11-25", able(hear)), b.connect(t, "2025-11-25", able(hearQuiet))
	for session, level := range map[*mcp.ClientSession]mcp.LoggingLevel{c: "info", other: "error"} {
		if err := session.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: level}); err != nil {
			t.Fatal(err)
		}
	}
	ask(t, c, "log", "{}")
	ask(t, other, "log", "{}")
	if diff := gocmp.Diff([]string{"a info", "a error"}, []string{<-heard, <-heard}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := <-quiet; got != "a error" || len(heard)+len(quiet) > 0 {
		t.Errorf("the other one is told %s, and %d more", got, len(heard)+len(quiet))
	}
}

// What is said to the client rather than to the model stays a protocol error.
func TestErrorForTheClient(t *testing.T) {
	b := newBehind(t, map[string]*fakeServer{"a": newFakeServer()})
	c := b.connect(t, "2025-11-25", nil)
	_, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "link"})
	var rpc *jsonrpc.Error
	if !errors.As(err, &rpc) || rpc.Code != mcp.CodeURLElicitationRequired ||
		!strings.Contains(string(rpc.Data), "https://example.com") {
		t.Errorf("error is %v", err)
	}
}

func TestMediaSurvive(t *testing.T) {
	b := newBehind(t, map[string]*fakeServer{"a": newFakeServer()})
	for _, revision := range revisions {
		answers := b.exchange(t, revision, callLine(revision, "media"))
		got := answers[len(answers)-1]
		for _, want := range []string{
			`"type":"image"`, `"type":"audio"`, `"type":"resource"`, `"type":"resource_link"`,
			`"structuredContent":{"big":9007199254740993}`, `"trace":9007199254740993`,
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s is missing in %s", revision, want, got)
			}
		}
	}
}

func callLine(revision, name string) string {
	meta := ""
	if revision >= statelessRevision {
		meta = fmt.Sprintf(`,"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":{}}`, revision)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":%q,"arguments":{}%s}}`, name,
		meta)
}

func TestHeldCalls(t *testing.T) {
	client := &tool.Client{Rounds: true, Capabilities: json.RawMessage(`{"elicitation":{}}`)}
	question := func(ctx context.Context, c *tool.Client, _ json.RawMessage) (json.RawMessage, error) {
		return c.Ask(ctx, elicitMethod, json.RawMessage(`{"message":"?"}`))
	}
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{Searcher: &fixture{}, Caller: &fixture{}, Catalog: &fixture{}})
		defer func() { _ = s.Close() }()
		first, err := s.runAskingClient(t.Context(), client, "", nil, question)
		var asked struct {
			RequestState  string
			InputRequests map[string]struct{ Method string }
		}
		if err != nil || json.Unmarshal(first, &asked) != nil || asked.InputRequests[answerKey].Method != elicitMethod {
			t.Fatalf("%s, %v", first, err)
		}
		input := orderedjson.Encode(map[string]any{
			"requestState":   asked.RequestState,
			"inputResponses": map[string]any{answerKey: map[string]any{"action": "accept"}},
		})
		if got, err := s.runAskingClient(t.Context(), client, "", input, nil); err != nil ||
			string(got) != `{"action":"accept"}` {
			t.Errorf("with the answer it is %s, %v", got, err)
		}
		if _, err := s.runAskingClient(t.Context(), client, "", input, nil); tool.CodeOf(err) != tool.NotFound {
			t.Errorf("a second answer gives %v", err)
		}
		ended := make(chan error, 1)
		if _, err := s.runAskingClient(t.Context(), client, "", nil, func(ctx context.Context, c *tool.Client,
			in json.RawMessage,
		) (json.RawMessage, error) {
			raw, err := question(ctx, c, in)
			ended <- err
			return raw, err
		}); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if err := <-ended; !errors.Is(err, context.Canceled) || time.Since(begin) != holdTimeout {
			t.Errorf("nobody came back, and after %v: %v", time.Since(begin), err)
		}
	})
}
