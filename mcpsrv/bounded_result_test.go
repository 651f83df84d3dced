package mcpsrv

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/orderedjson"
	"tooldex/tool"
)

// A result beyond the bound is cut, and can be read on to its end; one within it stays as it is to the byte.
func TestLargeResults(t *testing.T) {
	whole := strings.Repeat("gnu, ", 99) + strings.Repeat("größe ", 3000)
	results := map[string]string{
		"text":       `{"content":[{"type":"text","text":` + string(orderedjson.Encode(whole)) + `}]}`,
		"two texts":  `{"content":[{"type":"text","text":` + string(orderedjson.Encode(whole[:495])) + `},{"type":"text","text":` + string(orderedjson.Encode(whole[495:])) + `}]}`,
		"structured": `{"content":[],"structuredContent":{"all":` + string(orderedjson.Encode(whole)) + `}}`,
	}
	for name, raw := range results {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, smallServer(t), Options{MaxResult: 500})
			f.answer = func(context.Context, tool.Call) (*tool.CallResult, error) {
				return &tool.CallResult{Raw: json.RawMessage(raw)}, nil
			}
			session := f.connect(t, "", nil)
			got, failed := ask(t, session, invokeName, `{"name":"file_info","arguments":{"path":"a"}}`)
			if failed || len(got) > 2800 {
				t.Fatalf("error %v, %d bytes", failed, len(got))
			}
			next := regexp.MustCompile(`"id":"(\w+)","offset":(\d+)`).FindStringSubmatch(got)
			if next == nil {
				t.Fatalf("it does not say how to read on: %s", got)
			}
			at := strings.Index(got, "[Cut: bytes")
			read := strings.TrimSuffix(got[:at], "\n")
			for offset := next[2]; ; {
				part, failed := ask(t, session, invokeName, fmt.Sprintf(`{"name":"read_result","arguments":{"id":%q,"offset":%s}}`,
					next[1], offset))
				if failed || len(part) > 2400 {
					t.Fatalf("part from %s: error %v, %d bytes: %s", offset, failed, len(part), part)
				}
				more := regexp.MustCompile(`\n?\[Bytes \d+ to \d+ of \d+\. The next offset is (\d+)\.\]$`).FindStringSubmatch(part)
				if more == nil {
					read += part
					break
				}
				read, offset = read+strings.TrimSuffix(part, more[0]), more[1]
			}
			if !strings.Contains(strings.ReplaceAll(read, "\n", ""), whole) {
				t.Errorf("of %d bytes %d were read", len(whole), len(read))
			}
		})
	}
	t.Run("within the bound", func(t *testing.T) {
		f := newFixture(t, smallServer(t), Options{MaxResult: 500})
		raw := json.RawMessage(`{ "content" : [ ] , "x":1.50}`)
		if got, _ := f.boundResult(t.Context(), &mcp.CallToolRequest{}, &tool.Tool{}, raw, false); string(got) != string(raw) {
			t.Errorf("it becomes %s", got)
		}
	})
	t.Run("an image stays", func(t *testing.T) {
		f := newFixture(t, smallServer(t), Options{MaxResult: 500})
		raw := json.RawMessage(`{"content":[{"type":"image","mimeType":"image/png","data":"` + strings.Repeat("A", 1<<20) + `"}]}`)
		if got, _ := f.boundResult(t.Context(), &mcp.CallToolRequest{}, &tool.Tool{}, raw, false); string(got) != string(raw) {
			t.Errorf("it becomes %.200s", got)
		}
	})
	t.Run("an image beyond all measure", func(t *testing.T) {
		f := newFixture(t, smallServer(t), Options{MaxResult: 500})
		raw := json.RawMessage(`{"content":[{"type":"image","mimeType":"image/png","data":"` + strings.Repeat("A", 9<<20) + `"}]}`)
		bounded, _ := f.boundResult(t.Context(), &mcp.CallToolRequest{}, &tool.Tool{}, raw, false)
		got := string(bounded)
		if len(got) > 2000 || !strings.Contains(got, "part 0, image") || !strings.Contains(got, readResultName) {
			t.Errorf("it becomes %.500s", got)
		}
	})
	t.Run("somebody else's", func(t *testing.T) {
		f := newFixture(t, smallServer(t), Options{MaxResult: 500})
		f.kept.keep(&keptResult{id: "x", owner: "another", text: "secret"})
		if got, failed := ask(t, f.connect(t, "", nil), readResultName, `{"id":"x"}`); !failed || strings.Contains(got, "secret") {
			t.Errorf("read_result answers %s", got)
		}
	})
}

// TestReadResultIsListedWhenNeeded holds that read_result is listed to the session that had a result cut, after a
// notification, and to no other.
func TestReadResultIsListedWhenNeeded(t *testing.T) {
	for _, mode := range []Mode{Search, Dynamic, Lazy, Full} {
		t.Run(string(mode), func(t *testing.T) {
			f := newFixture(t, smallServer(t), Options{MaxResult: 50, Mode: mode})
			size := 10
			f.answer = func(context.Context, tool.Call) (*tool.CallResult, error) {
				return &tool.CallResult{Raw: textResult(strings.Repeat("x", size)).raw}, nil
			}
			changes := make(chan struct{}, 8)
			session := f.connect(t, "2025-11-25", &mcp.ClientOptions{
				ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changes <- struct{}{} },
			})
			other := f.connect(t, "2025-11-25", nil)
			lists := func(session *mcp.ClientSession) bool {
				res, err := session.ListTools(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				return slices.ContainsFunc(res.Tools, func(m *mcp.Tool) bool { return m.Name == readResultName })
			}
			const call = `{"name":"file_info","arguments":{"path":"a"}}`
			ask(t, session, invokeName, call)
			if lists(session) {
				t.Error("it is listed before a result was cut")
			}
			size = 1000
			ask(t, session, invokeName, call)
			<-changes
			if !lists(session) {
				t.Error("it is not listed after a result was cut")
			}
			ask(t, session, invokeName, call)
			if lists(other) || len(changes) > 0 {
				t.Errorf("another session lists it: %v; %d more notifications", lists(other), len(changes))
			}
		})
	}
}
