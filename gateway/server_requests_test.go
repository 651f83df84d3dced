package gateway

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"tooldex/tool"
	"tooldex/upstream"
)

// begScript floods us with requests of its own before it answers a call, and does not read meanwhile. arg is the method
// of the requests.
func begScript(method string, _ json.RawMessage, arg string) []string {
	if method != "tools/call" {
		return scriptResult(`{"tools":[]}`)
	}
	params := "{}"
	switch arg {
	case "sampling/createMessage":
		params = `{"messages":[],"maxTokens":1}`
	case "elicitation/create":
		params = `{"message":"?","requestedSchema":{"type":"object"}}`
	case "huge":
		arg, params = "ping", `{"x":"`+strings.Repeat("x", maxOpenBytes)+`"}`
	}
	var lines []string
	for i := range 20_000 {
		lines = append(lines, fmt.Sprintf(`{"jsonrpc":"2.0","id":"s%d","method":%q,"params":%s}`, i, arg, params))
		if arg == "ping" && len(params) > 2 {
			break
		}
	}
	return append(lines, scriptResult(`{"content":[]}`)...)
}

func init() { scripted["beg"] = hello(begScript) }

// TestServerThatAsksWithoutEnd has servers send requests of their own whose answers nobody reads, beside one that
// works.
func TestServerThatAsksWithoutEnd(t *testing.T) {
	for method, want := range map[string]string{
		"ping": "64 requests of its own", "roots/list": "64 requests of its own",
		"sampling/createMessage": "64 requests of its own", "elicitation/create": "64 requests of its own",
		"unknown/method": "64 requests of its own", "huge": "sent a request of 83886",
	} {
		t.Run(method, func(t *testing.T) {
			g := startGateway(t, Options{requestGrace: 100 * time.Millisecond}, self(t, "bad", "beg:"+method),
				self(t, "good", "sdk"))
			call(t, g, "good/echo", "{}")
			before := runtime.NumGoroutine()
			e := callError(t, g, t.Context(), "bad/x", tool.Unavailable)
			if !strings.Contains(e.Msg, want) || !strings.Contains(e.Hint, "fault of the server") {
				t.Errorf("the call gives %v", e)
			}
			if now := runtime.NumGoroutine(); now > before+4*maxOpenRequests {
				t.Errorf("%d goroutines, %d before", now, before)
			}
			u, _ := g.Upstream("bad")
			waitFor(t, "the status to say why", func() bool { return strings.Contains(u.currentStatus().Error, want) })
			call(t, g, "good/echo", "{}")
		})
	}
}

// TestBurstsThatAreReadAreAnswered holds that many requests of a server, if it reads the answers, are no breach.
func TestBurstsThatAreReadAreAnswered(t *testing.T) {
	r := newServerRequests(t.Context(), "s", time.Minute)
	answers := make(chan jsonrpc.ID, maxOpenRequests)
	go func() {
		for id := range answers {
			r.endRequest(id)
		}
	}()
	defer close(answers)
	for i := range int64(10_000) {
		id, err := jsonrpc.MakeID(float64(i))
		if err != nil {
			t.Fatal(err)
		}
		if again, err := r.beginRequest(&jsonrpc.Request{ID: id, Method: "ping"}); again || err != nil {
			t.Fatalf("request %d: %v, %v", i, again, err)
		}
		answers <- id
	}
}

// TestServerThatAsksOverHTTP has a server send pings over a stream of events, and never accept an answer.
func TestServerThatAsksOverHTTP(t *testing.T) {
	var stuck atomic.Int64
	inner := handWritten(nil, false)
	srv := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var msg struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.Unmarshal(body, &msg)
		switch {
		case r.Method == http.MethodPost && msg.Method == "":
			stuck.Add(1)
			<-r.Context().Done()
		case msg.Method == "tools/call":
			w.Header().Set("Content-Type", "text/event-stream")
			for i := range 20_000 {
				if _, err := fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":\"s%d\",\"method\":\"ping\"}\n\n", i); err != nil {
					return
				}
			}
			_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[]}}\n\n", msg.ID)
		default:
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			inner.ServeHTTP(w, r)
		}
	}))
	g := startGateway(t, Options{requestGrace: 100 * time.Millisecond}, upstream.Server{Name: "bad", URL: srv.URL})
	e := callError(t, g, t.Context(), "bad/x", tool.Unavailable)
	if !strings.Contains(e.Msg, "64 requests of its own") {
		t.Errorf("the call gives %v", e)
	}
	if n := stuck.Load(); n > maxOpenRequests {
		t.Errorf("%d answers are on their way", n)
	}
}
