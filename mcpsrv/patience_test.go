package mcpsrv

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
)

// A call that takes long is answered before the client gives up; a client that asks for progress hears that it goes on.
func TestAnswersBeforeClientsGiveUp(t *testing.T) {
	slow := func(ctx context.Context, _ tool.Call) (*tool.CallResult, error) {
		select {
		case <-time.After(100 * time.Second):
			return &tool.CallResult{Raw: json.RawMessage(`{"content":[{"type":"text","text":"done"}]}`)}, nil
		case <-ctx.Done():
			return nil, &tool.Error{Code: tool.Timeout, Msg: `the call that waited for server "files" to start was cancelled`}
		}
	}
	for name, c := range map[string]struct {
		token any
		want  string
		after time.Duration
		heard int32
	}{
		"without progress": {nil, `files/file_info has not answered within 50s: the call that waited for server "files"`, 50 * time.Second, 0},
		"with progress":    {"t", "done", 100 * time.Second, 9},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, smallServer(t), Options{AnswerWithin: 50 * time.Second})
				f.answer = slow
				var heard atomic.Int32
				session := f.connect(t, "2025-11-25", &mcp.ClientOptions{
					ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) { heard.Add(1) },
				})
				params := &mcp.CallToolParams{Name: "file_info", Arguments: json.RawMessage(`{"path":"a"}`)}
				if c.token != nil {
					params.SetProgressToken(c.token)
				}
				began := time.Now()
				res, err := session.CallTool(t.Context(), params)
				if err != nil {
					t.Fatal(err)
				}
				took := time.Since(began)
				text, _ := res.Content[0].(*mcp.TextContent)
				if took != c.after || text == nil || !strings.Contains(text.Text, c.want) {
					t.Errorf("after %v the answer is %+v", took, text)
				}
				if n := heard.Load(); n < c.heard {
					t.Errorf("the client heard %d times of it, want %d", n, c.heard)
				}
			})
		})
	}
}
