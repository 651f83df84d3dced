package gateway

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
	"tooldex/upstream"
)

// The test binary is its own upstream: started with this variable it is an MCP server that behaves as its value says.
const serverVariable = "GATEWAY_TEST_SERVER"

func TestMain(m *testing.M) {
	if mode := os.Getenv(serverVariable); mode != "" {
		serve(mode)
		os.Exit(0)
	}
	before := runtime.NumGoroutine()
	code := m.Run()
	fuzzing := flag.Lookup("test.fuzz").Value.String() != "" // which leaves goroutines of its own
	if code == 0 && !fuzzing && leaked(before) {
		code = 1
	}
	os.Exit(code)
}

// leaked reports whether more goroutines run than before the tests. Those of closed connections may take a moment.
func leaked(before int) bool {
	deadline := time.Now().Add(10 * time.Second)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<20)
			fmt.Printf("goroutines leaked: %d before, now:\n%s\n", before, buf[:runtime.Stack(buf, true)])
			return true
		}
		runtime.Gosched()
	}
	return false
}

func serve(mode string) {
	name, arg, _ := strings.Cut(mode, ":")
	if scripted[name] != nil {
		serveScript(scripted[name], arg)
		return
	}
	if name == "parent" {
		serveParent()
	}
	if name == "hang" {
		fmt.Fprintln(os.Stderr, "waiting for a database")
		select {}
	}
	if name == "install" {
		serveInstall(arg)
		return
	}
	if name == "broken" {
		fmt.Fprintln(os.Stderr, "sh: 1: mcp: not found")
		os.Exit(127)
	}
	if name == "exit" {
		fmt.Fprintln(os.Stderr, "no licence found")
		os.Exit(7)
	}
	if name == "noisy" {
		fmt.Println("Server starting up...")
		fmt.Println(`{"level":"info","msg":"a log line that is JSON"}`)
		fmt.Println(`{"jsonrpc":"2.0","broken`)
		fmt.Println("")
	}
	server := sdkServer(name == "noisy")
	if name == "features" {
		server = featureServer()
	}
	if name == "shell" {
		server = shellServer()
	}
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
	}
	if name == "deaf" {
		time.Sleep(time.Hour) // not select: with no goroutine left, that would be a deadlock
	}
}

// serveParent is a gateway that has started a server which does not heed the end of its input, and prints its process
// ID.
func serveParent() {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	g := New(Options{LookupEnv: os.LookupEnv})
	g.Set([]upstream.Server{{Name: "s", Command: exe, Env: map[string]string{serverVariable: "deaf"}}})
	res, err := g.Call(context.Background(), tool.Call{ID: "s/pid"})
	if err != nil {
		panic(err)
	}
	var r struct{ Content []struct{ Text string } }
	if err := json.Unmarshal(res.Raw, &r); err != nil {
		panic(err)
	}
	fmt.Println(r.Content[0].Text)
	time.Sleep(time.Hour)
}

// serveInstall behaves as a package runner: it installs for a while, notes that it has done so in a file, and then runs
// the server that comes after the time and the file: "500ms:/tmp/x/installed:sdk".
func serveInstall(arg string) {
	parts := strings.SplitN(arg, ":", 3)
	pause, err := time.ParseDuration(parts[0])
	if err != nil {
		panic(err)
	}
	<-time.After(pause)
	if err := os.WriteFile(parts[1], nil, 0o600); err != nil {
		panic(err)
	}
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(exe)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), serverVariable+"="+parts[2])
	if cmd.Run() != nil {
		os.Exit(1)
	}
}

// object is the schema of a tool without declared parameters.
const object = `{"type":"object"}`

// exact holds numbers, an order of members and characters that do not survive being decoded and encoded again.
const exact = `{"z":9007199254740993,"a":1.0,"m":-0,"e":1e2,"html":"<a>&\u2028","big":123456789012345678901234567890}`

// sdkServer is a well-behaved server, built on the SDK as most are.
func sdkServer(noisy bool) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ServerOptions{PageSize: 3})
	add := func(name string, h mcp.ToolHandler) {
		s.AddTool(&mcp.Tool{Name: name, Description: "Tests " + name, InputSchema: json.RawMessage(object)}, h)
	}
	text := func(s string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
	}
	add("echo", func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if noisy {
			fmt.Println("echo was called")
		}
		return text(string(req.Params.Arguments)), nil
	})
	add("meta", func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		b, err := json.Marshal(req.Params.Meta)
		res := text(string(b))
		res.Meta = mcp.Meta{"test/trace": json.RawMessage(`9007199254740993`)}
		return res, err
	})
	add("env", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(strings.Join(os.Environ(), "\n")), nil
	})
	add("pid", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(fmt.Sprint(os.Getpid())), nil
	})
	add("fail", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		res := text("out of paper")
		res.IsError = true
		return res, nil
	})
	add("refuse", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, fmt.Errorf("the disk is full")
	})
	add("die", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "panic: no more memory")
		os.Exit(3)
		return nil, nil
	})
	add("wait", waitTool)
	add("count", countTool)
	add("grow", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		add("grown", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return text("grown"), nil
		})
		return text("ok"), nil
	})
	s.AddTool(&mcp.Tool{
		Name: "exact", InputSchema: json.RawMessage(`{"type":"object","maximum":9007199254740993,"a":1.0}`),
		Meta:         mcp.Meta{"k": json.RawMessage(exact)},
		OutputSchema: json.RawMessage(`{"type":"object","const":` + exact + `}`),
		Icons:        []mcp.Icon{{Source: "data:,x"}},
	}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{}, StructuredContent: json.RawMessage(exact)}, nil
	})
	return s
}

// shellServer runs any command of a shell, as a hostile server may.
func shellServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "sh", InputSchema: json.RawMessage(object)},
		func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var args struct{ Run string }
			if err := json.Unmarshal(req.Params.Arguments, &args); err != nil {
				return nil, err
			}
			out, err := exec.CommandContext(ctx, "sh", "-c", args.Run).CombinedOutput()
			if err != nil {
				out = fmt.Appendf(out, "failed: %v", err)
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(out)}}}, nil
		})
	return s
}

var errNotCancelled = errors.New("not cancelled")

// waitTool says that it runs, waits until it is cancelled, and leaves a file that says so.
func waitTool(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	ctx, stop := context.WithTimeoutCause(ctx, 20*time.Second, errNotCancelled) // so that no failed test hangs
	defer stop()
	var args struct{ File string }
	if err := json.Unmarshal(req.Params.Arguments, &args); err != nil {
		return nil, err
	}
	if err := progress(ctx, req, 1, "running"); err != nil {
		return nil, err
	}
	<-ctx.Done()
	if args.File == "" || errors.Is(context.Cause(ctx), errNotCancelled) {
		return nil, ctx.Err()
	}
	return &mcp.CallToolResult{Content: []mcp.Content{}}, os.WriteFile(args.File, []byte("cancelled"), 0o600)
}

// countTool sends n progress notifications.
func countTool(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var args struct{ N int }
	if err := json.Unmarshal(req.Params.Arguments, &args); err != nil {
		return nil, err
	}
	for i := range args.N {
		if err := progress(ctx, req, float64(i+1), fmt.Sprint("step ", i+1)); err != nil {
			return nil, err
		}
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "counted"}}}, nil
}

func progress(ctx context.Context, req *mcp.CallToolRequest, n float64, message string) error {
	if req.Params.GetProgressToken() == nil {
		return nil
	}
	return req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
		ProgressToken: req.Params.GetProgressToken(), Progress: n, Total: 100, Message: message,
	})
}

// A script answers requests with lines written by hand, as no SDK would. Each function returns the lines to print for
// one request; {id} stands for its ID.
type script func(method string, params json.RawMessage, arg string) []string

const scriptHello = `{"jsonrpc":"2.0","id":{id},"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"script","version":"1"}}}`

func serveScript(answer script, arg string) {
	in := bufio.NewReader(os.Stdin)
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var req struct {
			ID     json.RawMessage
			Method string
			Params json.RawMessage
		}
		if json.Unmarshal(line, &req) != nil || len(req.ID) == 0 {
			continue
		}
		for _, l := range answer(req.Method, req.Params, arg) {
			_, _ = out.WriteString(strings.ReplaceAll(l, "{id}", string(req.ID)) + "\n")
		}
		_ = out.Flush()
	}
}

func scriptResult(result string) []string {
	return []string{`{"jsonrpc":"2.0","id":{id},"result":` + result + `}`}
}

const unknownMethod = `{"jsonrpc":"2.0","id":{id},"error":{"code":-32601,"message":"Method not found"}}`

// hello answers the handshake, and leaves all else to the script.
func hello(next script) script {
	return func(method string, params json.RawMessage, arg string) []string {
		switch method {
		case "initialize":
			return []string{scriptHello}
		case "server/discover":
			return []string{unknownMethod}
		}
		return next(method, params, arg)
	}
}

// spaced is a page of tools with white space and members as a server may write them.
const spaced = `{ "tools" : [ { "name":"spaced" , "inputSchema" : { "type" : "object", "maximum":9007199254740993 , "a":1.0 }, "_meta":{ "n":1e2 } } ] }`

var scripted = map[string]script{
	"rounds": roundsScript,
	"bad":    hello(badScript),
	"spaced": hello(func(method string, params json.RawMessage, _ string) []string {
		if method == "tools/list" {
			return scriptResult(spaced)
		}
		return scriptResult(`{ "content" : [ ] , "structuredContent":` + exact + ` , "unknown":[ 1.50 ], "sent":` +
			string(params) + ` }`)
	}),
	// An older server that ends on a first message it does not know.
	"exit-on-unknown": func(method string, _ json.RawMessage, arg string) []string {
		switch method {
		case "initialize":
			return []string{scriptHello}
		case "tools/list":
			return scriptResult(`{"tools":[{"name":"old","inputSchema":{"type":"object"}}]}`)
		}
		appendFile(arg, "x")
		os.Exit(1)
		return nil
	},
	// An older server that says nothing to what it does not know.
	"mute-on-unknown": func(method string, _ json.RawMessage, _ string) []string {
		switch method {
		case "initialize":
			return []string{scriptHello}
		case "tools/list":
			return scriptResult(`{"tools":[{"name":"old","inputSchema":{"type":"object"}}]}`)
		}
		return nil
	},
	"round": hello(func(_ string, params json.RawMessage, _ string) []string {
		var p struct{ Cursor string }
		_ = json.Unmarshal(params, &p)
		return scriptResult(fmt.Sprintf(`{"tools":[{"name":"t%s","inputSchema":{"type":"object"}},{"name":"same","title":"%s"}],"nextCursor":"%s"}`, p.Cursor, p.Cursor,
			map[string]string{"": "a", "a": "b", "b": "a"}[p.Cursor]))
	}),
	"endless": hello(func(_ string, params json.RawMessage, _ string) []string {
		var p struct{ Cursor string }
		_ = json.Unmarshal(params, &p)
		return scriptResult(`{"tools":[],"nextCursor":"` + p.Cursor + `x"}`)
	}),
	"odd": hello(func(string, json.RawMessage, string) []string {
		return scriptResult(`{"tools":[{"name":"array","inputSchema":{"type":"array"}},{"name":"none"},{"name":"true","inputSchema":true},` +
			`{"name":"null","inputSchema":null},{"name":"loop","inputSchema":{"type":"object","$ref":"#"}},{"inputSchema":{}},{"name":5},"no",{"name":"a b.c\u202e"},` +
			`{"name":"hints","annotations":{"readOnlyHint":"yes","title":"T"},"description":7,"NAME":"other","icons":null,"_meta":null}]}`)
	}),
	"answers": hello(func(_ string, params json.RawMessage, _ string) []string {
		var p struct{ Name string }
		_ = json.Unmarshal(params, &p)
		switch p.Name {
		case "huge":
			return scriptResult(`{"content":[{"type":"text","text":"` + strings.Repeat("x", 3<<20) + `"}]}`)
		case "huge-id-last":
			return []string{`{"result":{"id":99,"content":"` + strings.Repeat("x", 3<<20) +
				`"},"jsonrpc":"2.0","id":{id}}`}
		case "nan":
			return scriptResult(`{"content":[],"structuredContent":{"mean":NaN}}`)
		case "deep":
			return scriptResult(`{"content":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`)
		case "odd-error":
			return []string{`{"jsonrpc":"2.0","id":{id},"error":"no"}`}
		case "odd-content":
			return scriptResult(`{"content":[{"type":"hologram","x":1}],"isError":true}`)
		case "array":
			return scriptResult(`[1]`)
		case "ask":
			return scriptResult(`{"resultType":"input_required","inputRequests":{}}`)
		case "unknown":
			return []string{`{"jsonrpc":"2.0","id":{id},"error":{"code":-32602,"message":"Unknown tool: unknown"}}`}
		case "info":
			return scriptResult(`{"_meta":{"a":1.0, "io.modelcontextprotocol\/serverInfo":{"name":"x"}},"content":[]}`)
		}
		return scriptResult(`{"content":[],"fine":true}`)
	}),
	"flood": hello(func(_ string, params json.RawMessage, _ string) []string {
		var p struct {
			Meta struct{ ProgressToken json.RawMessage } `json:"_meta"`
		}
		_ = json.Unmarshal(params, &p)
		lines := make([]string, 0, 25_000)
		for i := range 5_000 {
			lines = append(lines, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`,
				`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`,
				`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x:y"}}`,
				fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`, p.Meta.ProgressToken, i+1))
		}
		return append(lines, scriptResult(`{"content":[]}`)...)
	}),
}

func appendFile(name, s string) {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	_, _ = f.WriteString(s)
}
