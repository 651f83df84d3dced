package gateway

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"tooldex/tool"
)

// hundred is an answer of 100 MiB, in lines that are written one piece at a time.
const hundred = 100 << 20

// badScript is a server that does one thing wrong, as its argument says.
func badScript(method string, params json.RawMessage, arg string) []string {
	switch {
	case method == "tools/list" && arg == "schema":
		return scriptResult(`{"tools":[{"name":"x","inputSchema":{"type":"object","required":["old"]}}]}`)
	case arg == "huge":
		return scriptResult(`{"content":[{"type":"text","text":"` + strings.Repeat("x", hundred) + `"}]}`)
	case method == "tools/list" && arg == "deep":
		return scriptResult(`{"tools":[{"name":"x","inputSchema":` + deep(hundredThousand) + `}]}`)
	case method == "tools/list" && arg == "nested":
		return scriptResult(`{"tools":[{"name":"x","inputSchema":` + deep(900) + `}]}`)
	case arg == "deep":
		return scriptResult(`{"content":[],"structuredContent":` + strings.Repeat("[", hundredThousand) +
			strings.Repeat("]", hundredThousand) + `}`)
	case arg == "many":
		return scriptResult(`{"content":[],"structuredContent":{"a":[` + strings.Repeat("0,", maxAnswerValues) + `0]}}`)
	case arg == "endless":
		_, _ = os.Stdout.WriteString(`{"jsonrpc":"2.0","result":"`)
		piece := []byte(strings.Repeat("x", 1<<20))
		for { // until nobody reads any more, of which the kernel tells by a signal
			if _, err := os.Stdout.Write(piece); err != nil {
				os.Exit(1)
			}
		}
	case arg == "invalid":
		return []string{
			`{"jsonrpc":"1.0","id":{id},"result":{}}`,
			`{"jsonrpc":"2.0","id":{id},"result":{},"error":{"code":1,"message":"both"}}`,
			`{"jsonrpc":"2.0","id":{id}}`,
		}
	}
	return scriptResult(`{"content":[{"type":"text","text":` + string(encodeString(string(params))) + `}]}`)
}

const hundredThousand = 100_000

// deep is an object with so many others within each other.
func deep(levels int) string {
	return strings.Repeat(`{"properties":`, levels) + "{}" + strings.Repeat("}", levels)
}

func encodeString(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return b
}

// TestBadServers has one server do something wrong while another is used: the error names the one, and the other
// answers.
func TestBadServers(t *testing.T) {
	tests := []struct {
		mode, want string
		code       tool.Code
	}{
		{"bad:huge", `server "bad" answered the call of "x" with too much`, tool.Invalid},
		{
			"bad:invalid", `server "bad" answered the call of "x" with something that is no valid message`,
			tool.Unavailable,
		},
		{
			"bad:deep", `server "bad" answered the call of "x" with too much: the JSON is nested more than 1000 deep`,
			tool.Invalid,
		},
		{"bad:endless", `server "bad" ended during the call of "x"`, tool.Unavailable},
		{"hang", `server "bad" did not answer in time while it was started`, tool.Timeout},
		{"exit", `server "bad" ended while it was started`, tool.Unavailable},
	}
	for _, tt := range tests {
		t.Run(tt.mode, func(t *testing.T) {
			g := startGateway(t, Options{
				StartTimeout: 3 * time.Second, maxMessage: 1 << 20,
				maxSkippedBytes: map[string]int{"bad:endless": 8 << 20}[tt.mode],
			}, self(t, "bad", tt.mode), self(t, "good", "sdk"))
			call(t, g, "good/echo", "{}") // is running
			done := make(chan *tool.Error, 1)
			go func() {
				_, err := g.Call(t.Context(), tool.Call{ID: "bad/x"})
				e, _ := err.(*tool.Error) //nolint:errorlint // the contract is the type itself
				done <- e
			}()
			for i := 0; ; i++ {
				if got := call(t, g, "good/echo", fmt.Sprintf(`{"i":%d}`, i)); got != fmt.Sprintf(`{"i":%d}`, i) {
					t.Fatalf("the other one answers %s", got)
				}
				select {
				case e := <-done:
					if e == nil || e.Code != tt.code || !strings.Contains(e.Msg, tt.want) {
						t.Errorf("error is %v", e)
					}
					return
				default:
				}
			}
		})
	}
}

// An answer of 100 MiB is read past without being kept.
func TestHugeAnswerIsNotKept(t *testing.T) {
	g := startGateway(t, Options{maxMessage: 1 << 20}, self(t, "bad", "bad:huge"))
	list(t, startGateway(t, Options{}, self(t, "s", "sdk")), "s") // what a first use allocates
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	callError(t, g, t.Context(), "bad/x", tool.Invalid)
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 32<<20 {
		t.Errorf("the heap grew by %d MiB", grown>>20)
	}
}

// A server that takes other arguments than it lists gets those that the client sent: whether they fit is for whoever
// reads the listing to say.
func TestSchemaThatIsNotKept(t *testing.T) {
	g := startGateway(t, Options{}, self(t, "s", "bad:schema"))
	if got := string(list(t, g, "s")[0].InputSchema); got != `{"type":"object","required":["old"]}` {
		t.Errorf("the schema is %s", got)
	}
	if got := call(t, g, "s/x", `{"new":9007199254740993}`); !strings.Contains(got,
		`"arguments":{"new":9007199254740993}`) {
		t.Errorf("the server gets %s", got)
	}
}
