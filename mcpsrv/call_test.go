package mcpsrv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/orderedjson"
	"tooldex/tool"
)

// envelopes are ways in which models call invoke_tool; all mean the same call.
func TestInvokeForgives(t *testing.T) {
	want := `{"path":"a","head":9007199254740993}`
	for name, args := range map[string]string{
		"as told":                    `{"name":"read_file","arguments":` + want + `}`,
		"by id":                      `{"name":"files/read_file","arguments":` + want + `}`,
		"in a client's decoration":   `{"name":"mcp__files__read_file","arguments":` + want + `}`,
		"toolName and args":          `{"toolName":"read_file","args":` + want + `}`,
		"tool and parameters":        `{"tool":"read_file","parameters":` + want + `}`,
		"tool_name and params":       `{"tool_name":"read_file","params":` + want + `}`,
		"arguments in a string":      `{"name":"read_file","arguments":` + string(orderedjson.Encode(want)) + `}`,
		"all in a string":            string(orderedjson.Encode(`{"name":"read_file","arguments":` + want + `}`)),
		"one level too high":         `{"name":"read_file","path":"a","head":9007199254740993}`,
		"too high beside empty ones": `{"name":"read_file","arguments":{},"path":"a","head":9007199254740993}`,
		"too high beside null":       `{"name":"read_file","arguments":null,"path":"a","head":9007199254740993}`,
		"one level too deep":         `{"name":"read_file","arguments":{"arguments":` + want + `}}`,
		"too deep with the name":     `{"name":"read_file","arguments":{"name":"read_file","args":` + want + `}}`,
		"all inside arguments":       `{"arguments":{"name":"read_file","arguments":` + want + `}}`,
		"itself inside": `{"name":"invoke_tool","arguments":{"name":"read_file","arguments":` + want +
			`}}`,
		"itself decorated inside":     `{"name":"mcp__tooldex__invoke_tool","arguments":{"toolName":"read_file","args":` + want + `}}`,
		"itself twice":                `{"name":"invoke_tool","arguments":{"name":"invoke_tool","arguments":{"name":"read_file","arguments":` + want + `}}}`,
		"digits in a string":          `{"name":"read_file","arguments":{"path":"a","head":"9007199254740993"}}`,
		"null for what is left out":   `{"name":"read_file","arguments":{"path":"a","head":9007199254740993,"tail":null}}`,
		"deep with digits in strings": `{"name":"read_file","arguments":{"input":{"path":"a","head":"9007199254740993"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, smallServer(t), Options{})
			got, failed := ask(t, f.connect(t, "", nil), invokeName, args)
			if failed {
				t.Fatalf("refused: %s", got)
			}
			c := f.last(t)
			if c.ID != "files/read_file" {
				t.Errorf("called %s", c.ID)
			}
			if diff := gocmp.Diff(want, string(c.Arguments)); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
		})
	}
}

func TestInvokeRefuses(t *testing.T) {
	off := smallServer(t)
	off[1].Disabled = true
	itself := `{"name":"invoke_tool","arguments":`
	for name, c := range map[string]struct{ args, want string }{
		"no name":         {`{"arguments":{}}`, "name of invoke_tool is missing"},
		"name of no text": {`{"name":7,"arguments":{}}`, "name of invoke_tool is missing or not a string"},
		"empty name":      {`{"name":" ","arguments":{}}`, "name of invoke_tool is empty"},
		"a list":          {`{"name":"read_file","arguments":[1]}`, "arguments of invoke_tool is not an object"},
		"a word": {
			`{"name":"read_file","arguments":"package.json"}`,
			"arguments of invoke_tool is not an object",
		},
		"itself without end": {strings.Repeat(itself, 9) + `{}` + strings.Repeat("}", 9), "is invoke_tool itself"},
		"unknown tool":       {`{"name":"read_fil"}`, "nearest: read_file"},
		"disabled tool": {
			`{"name":"read_many_files","arguments":{"paths":["a"]}}`,
			"denied: files/read_many_files is disabled",
		},
		"missing parameter": {`{"name":"read_file"}`, "path missing, but required"},
		"two of them":       {`{"name":"move_file","arguments":{}}`, "destination missing, but required"},
		"misspelled": {
			`{"name":"read_file","arguments":{"file":"a"}}`,
			"file not known; path missing, but required",
		},
		"wrong type": {
			`{"name":"read_file","arguments":{"path":{"a":1}}}`,
			`path: map[a:1] has type "object", want "string"`,
		},
		"deep inside": {
			`{"name":"edit_file","arguments":{"path":"a","edits":[{"oldText":"x"}]}}`,
			"edits[]: newText missing, but required",
		},
		"not in the enum": {
			`{"name":"list_directory","arguments":{"path":"a","sortBy":"age"}}`,
			"sortBy: enum: age does not equal any of: [name size]",
		},
		"too small": {`{"name":"read_file","arguments":{"path":"a","head":0}}`, "head: minimum: 0"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, off, Options{})
			got, failed := ask(t, f.connect(t, "", nil), invokeName, c.args)
			if !failed || !strings.Contains(got, c.want) {
				t.Errorf("error %v, text %q, want one with %q", failed, got, c.want)
			}
			f.none(t)
			if strings.Contains(got, "do not fit") && !strings.Contains(got, `input schema: {"type":"object"`) {
				t.Errorf("the schema is not in the answer: %s", got)
			}
		})
	}
}

func TestInvokeServesOwnTools(t *testing.T) {
	f := newFixture(t, smallServer(t), Options{})
	got, failed := ask(t, f.connect(t, "", nil), invokeName, `{"name":"list_tool_categories"}`)
	if failed || !strings.Contains(got, "files 12") {
		t.Errorf("got %v %q", failed, got)
	}
}

func TestDirectCall(t *testing.T) {
	tools := append(smallServer(t), &tool.Tool{Server: "mail.box", Name: "send", InputSchema: objectSchema},
		&tool.Tool{Server: "other", Name: "read_file", InputSchema: objectSchema})
	for name, want := range map[string]tool.ID{
		"files__write_file":   "files/write_file",
		"files/write_file":    "files/write_file",
		"mcp__files__file":    "",
		"mail_box__send":      "mail.box/send",
		"send":                "mail.box/send",
		"read_file":           "", // two have it
		"other__read_file":    "other/read_file",
		"mcp__other__invoke":  "",
		"mcp_other_read_file": "other/read_file",
		"other:read_file":     "other/read_file",
		"other.read_file":     "other/read_file",
		"Files.Write-File":    "files/write_file",
		// with this server's own name before it
		"mcp__tooldex__other__read_file": "other/read_file",
		"tooldex:send":                   "mail.box/send",
		"mcp__tooldex__read_file":        "",
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, tools, Options{})
			got, failed := ask(t, f.connect(t, "", nil), name, `{"path":"a","content":"b"}`)
			if want == "" {
				if f.none(t); !failed {
					t.Errorf("not refused: %s", got)
				}
				if name == "read_file" && got != "invalid: tool name \"read_file\" is ambiguous\nuse one of: files__read_file, other__read_file" {
					t.Errorf("an ambiguous name is answered without the choices: %s", got)
				}
				return
			}
			if c := f.last(t); failed || c.ID != want {
				t.Errorf("called %s, error %v: %s", c.ID, failed, got)
			}
		})
	}
}

func TestUpstreamNamedAsOneOfOurs(t *testing.T) {
	f := newFixture(t, []*tool.Tool{{Server: "s", Name: searchName, InputSchema: objectSchema}}, Options{})
	session := f.connect(t, "", nil)
	if got, failed := ask(t, session, searchName, `{"query":"search"}`); failed ||
		!strings.HasPrefix(got, "- s__search_tools()") {
		t.Errorf("search_tools is not ours, or finds the other under a name that is taken: %q", got)
	}
	f.none(t)
	if _, failed := ask(t, session, "s__search_tools", `{}`); failed || f.last(t).ID != "s/search_tools" {
		t.Error("the upstream's own cannot be reached")
	}
}

func TestEveryCodeIsAToolError(t *testing.T) {
	for _, code := range tool.Codes() {
		t.Run(code.String(), func(t *testing.T) {
			f := newFixture(t, smallServer(t), Options{})
			f.answer = func(context.Context, tool.Call) (*tool.CallResult, error) {
				return nil, fmt.Errorf("call: %w", &tool.Error{
					Code: code, Op: "op", Msg: "the message",
					Hint: "the hint", Err: errors.New("secret cause"),
				})
			}
			got, failed := ask(t, f.connect(t, "", nil), "file_info", `{"path":"a"}`)
			want := code.String() + ": the message\nthe hint"
			if code == tool.Unavailable || code == tool.Timeout {
				want += "\nThe same call may work later."
			}
			logged := strings.Count(f.log.String(), "secret cause")
			if code == tool.Internal {
				m := regexp.MustCompile(`^internal: internal error; request id ([A-Z0-9]{12})$`).FindStringSubmatch(got)
				if m == nil || logged != 1 || !strings.Contains(f.log.String(), "request="+m[1]) {
					t.Errorf("answer %q, cause logged %d times:\n%s", got, logged, f.log.String())
				}
				want = got
			} else if logged != 0 {
				t.Errorf("a returned error is logged too:\n%s", f.log.String())
			}
			if !failed || got != want {
				t.Errorf("error %v, text %q, want %q", failed, got, want)
			}
		})
	}
	if got := errorText(errors.New("leak"), "ID"); got != "internal: internal error; request id ID" {
		t.Errorf("a foreign error gives %q", got)
	}
}

func TestUpstreamBytesPass(t *testing.T) {
	for name, c := range map[string]struct{ raw, sessions, stateless string }{
		"as they are": {
			`{"content":[],"structuredContent":{"z":9007199254740993,"a":1.0,"t":"<\u00e9&\/>"},"isError":true}`,
			`{"content":[],"structuredContent":{"z":9007199254740993,"a":1.0,"t":"<\u00e9&\/>"},"isError":true}`,
			`{"resultType":"complete","content":[],"structuredContent":{"z":9007199254740993,"a":1.0,"t":"<\u00e9&\/>"},"isError":true,"_meta":{OURS}}`,
		},
		"without what is the upstream connection's": {
			`{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"up"}},"content":[],"resultType":"complete"}`,
			`{"content":[]}`,
			`{"_meta":{OURS},"content":[],"resultType":"complete"}`,
		},
		"with their own meta": {
			`{"_meta":{"b":1e400,"io.modelcontextprotocol/serverInfo":{"name":"up"}},"content":[]}`,
			`{"_meta":{"b":1e400},"content":[]}`,
			`{"resultType":"complete","_meta":{"b":1e400,OURS},"content":[]}`,
		},
		"text that mentions it": {
			`{"content":[{"type":"text","text":"resultType"}]}`,
			`{"content":[{"type":"text","text":"resultType"}]}`,
			`{"resultType":"complete","content":[{"type":"text","text":"resultType"}],"_meta":{OURS}}`,
		},
		"a meta that is no object": {
			`{"_meta":7,"content":[]}`, `{"_meta":7,"content":[]}`,
			`{"resultType":"complete","_meta":{OURS},"content":[]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, smallServer(t), Options{})
			f.answer = func(context.Context, tool.Call) (*tool.CallResult, error) {
				return &tool.CallResult{Raw: json.RawMessage(c.raw)}, nil
			}
			for _, call := range []string{
				`"name":"file_info","arguments":{"path":"a"}`,
				`"name":"invoke_tool","arguments":{"name":"file_info","arguments":{"path":"a"}}`,
			} {
				got := f.exchange(t, "2025-11-25", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{`+call+`}}`)
				if diff := gocmp.Diff(`{"jsonrpc":"2.0","id":2,"result":`+c.sessions+`}`, got[len(got)-1]); diff != "" {
					t.Errorf("with sessions (-want +got):\n%s", diff)
				}
				got = f.exchange(t, "2026-07-28",
					`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{`+call+statelessMeta+`}}`)
				want := strings.ReplaceAll(c.stateless, "OURS",
					`"io.modelcontextprotocol/serverInfo":{"name":"tooldex","title":"tooldex","version":"1.2.3"}`)
				if diff := gocmp.Diff(`{"jsonrpc":"2.0","id":2,"result":`+want+`}`, got[len(got)-1]); diff != "" {
					t.Errorf("stateless (-want +got):\n%s", diff)
				}
			}
		})
	}
}

const statelessMeta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"keep":"me"}`

func TestAnswerThatIsNoResult(t *testing.T) {
	for _, raw := range []string{"", "null", "[]", `{"content":`, `"text"`} {
		f := newFixture(t, smallServer(t), Options{})
		f.answer = func(context.Context, tool.Call) (*tool.CallResult, error) {
			return &tool.CallResult{Raw: json.RawMessage(raw)}, nil
		}
		got, failed := ask(t, f.connect(t, "", nil), "file_info", `{"path":"a"}`)
		if !failed || !strings.Contains(got, "answer of files/file_info is not a tool result") {
			t.Errorf("%q gives %v %q", raw, failed, got)
		}
	}
}

func TestMetaIsForwarded(t *testing.T) {
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		f := newFixture(t, smallServer(t), Options{})
		p := &mcp.CallToolParams{
			Name: "file_info", Arguments: map[string]any{"path": "a"},
			Meta: mcp.Meta{"traceparent": "00-1", "progressToken": "p"},
		}
		if _, err := f.connect(t, revision, nil).CallTool(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		c := f.last(t)
		if diff := gocmp.Diff(`{"traceparent":"00-1"}`, string(c.Meta)); diff != "" {
			t.Errorf("%s: _meta (-want +got):\n%s", revision, diff)
		}
		if c.Progress == nil {
			t.Errorf("%s: the wish for progress is lost", revision)
		}
	}
	f := newFixture(t, smallServer(t), Options{})
	ask(t, f.connect(t, "", nil), "file_info", `{"path":"a"}`)
	if c := f.last(t); c.Meta != nil || c.Progress != nil {
		t.Errorf("meta %s and progress %t out of nothing", c.Meta, c.Progress != nil)
	}
}

// steps answers with three steps of progress.
func steps(_ context.Context, c tool.Call) (*tool.CallResult, error) {
	for i := range 3 {
		c.Progress(tool.Progress{Progress: float64(i + 1), Total: 3, Message: fmt.Sprint("step ", i+1)})
	}
	return &tool.CallResult{Raw: json.RawMessage(`{"content":[{"type":"text","text":"done"}]}`)}, nil
}

func collectProgress() (*mcp.ClientOptions, chan *mcp.ProgressNotificationParams) {
	got := make(chan *mcp.ProgressNotificationParams, 8)
	return &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context,
		r *mcp.ProgressNotificationClientRequest,
	) {
		got <- r.Params
	}}, got
}

func checkProgress(t *testing.T, session *mcp.ClientSession, got chan *mcp.ProgressNotificationParams) {
	t.Helper()
	p := &mcp.CallToolParams{Name: invokeName, Arguments: json.RawMessage(`{"name":"file_info","arguments":{"path":"a"}}`), Meta: mcp.Meta{"progressToken": "token"}}
	if _, err := session.CallTool(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		select {
		case n := <-got:
			if n.ProgressToken != "token" || n.Progress != float64(i+1) || n.Total != 3 ||
				n.Message != fmt.Sprint("step ", i+1) {
				t.Errorf("step %d is %+v", i+1, n)
			}
		case <-t.Context().Done():
			t.Fatalf("step %d did not come", i+1)
		}
	}
}

func TestProgressArrives(t *testing.T) {
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			f := newFixture(t, smallServer(t), Options{})
			f.answer = steps
			o, got := collectProgress()
			checkProgress(t, f.connect(t, revision, o), got)
		})
	}
}

// hang answers when the call is cancelled, and tells when it began and ended.
type hang struct{ began, ended chan struct{} }

func newHang() *hang { return &hang{make(chan struct{}), make(chan struct{})} }

func (h *hang) call(ctx context.Context, _ tool.Call) (*tool.CallResult, error) {
	close(h.began)
	<-ctx.Done()
	close(h.ended)
	return nil, fmt.Errorf("call: %w", ctx.Err())
}

func checkCancel(t *testing.T, session *mcp.ClientSession, h *hang) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := session.CallTool(ctx, &mcp.CallToolParams{
			Name:      "file_info",
			Arguments: json.RawMessage(`{"path":"a"}`),
		})
		failed <- err
	}()
	<-h.began
	cancel()
	<-h.ended
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("the cancelled call gives %v", err)
	}
}

func TestCancelReachesTheUpstream(t *testing.T) {
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			f := newFixture(t, smallServer(t), Options{})
			h := newHang()
			f.answer = h.call
			checkCancel(t, f.connect(t, revision, nil), h)
			if strings.Contains(f.log.String(), "level=ERROR") {
				t.Errorf("a cancelled call is logged as an error:\n%s", f.log.String())
			}
		})
	}
}

func TestRunEndsCallsInFlight(t *testing.T) {
	for name, end := range map[string]func(f *fixture, cancel func(), client io.Closer){
		"when its context ends": func(_ *fixture, cancel func(), _ io.Closer) { cancel() },
		"when it is closed":     func(f *fixture, _ func(), _ io.Closer) { _ = f.Close() },
		"when the client goes":  func(_ *fixture, _ func(), client io.Closer) { _ = client.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, smallServer(t), Options{})
			h := newHang()
			f.answer = h.call
			inR, inW := io.Pipe()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ran := make(chan error, 1)
			go func() { ran <- f.Run(ctx, &mcp.IOTransport{Reader: inR, Writer: nopCloser{io.Discard}}) }()
			for _, line := range append(opening("2025-11-25"),
				`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"file_info","arguments":{"path":"a"}}}`) {
				if _, err := io.WriteString(inW, line+"\n"); err != nil {
					t.Fatal(err)
				}
			}
			<-h.began
			end(f, cancel, inW)
			<-h.ended
			if err := <-ran; err != nil {
				t.Errorf("Run: %v", err)
			}
		})
	}
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// A request that the client cancels gets no answer over stdio, and a method that nobody knows is no error of ours.
func TestCancelledRequestGetsNoAnswer(t *testing.T) {
	f := newFixture(t, smallServer(t), Options{})
	h := newHang()
	f.answer = h.call
	p := f.pipe(t)
	p.send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"file_info","arguments":{"path":"a"}` +
		statelessMeta + `}}`)
	<-h.began
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
	<-h.ended
	p.send(`{"jsonrpc":"2.0","id":8,"method":"no/such","params":{` + strings.TrimPrefix(statelessMeta, ",") + `}}`)
	if got := p.receive(); !strings.Contains(got, `"id":8`) || !strings.Contains(got, "-32601") {
		t.Errorf("the next answer is %s", got)
	}
	if strings.Contains(f.log.String(), "level=ERROR") {
		t.Errorf("logged as an error:\n%s", f.log.String())
	}
}
