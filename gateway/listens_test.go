package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// listenMessages returns a request for a resource, its acknowledgement for other resources, and an error for it.
func listenMessages(t *testing.T, id float64, uri, agreed string) (*jsonrpc.Request, json.RawMessage, *jsonrpc.Response) {
	t.Helper()
	made, err := jsonrpc.MakeID(id)
	if err != nil {
		t.Fatal(err)
	}
	resources := func(uri string) string {
		return fmt.Sprintf(`"notifications":{"resourceSubscriptions":[%q]}`, uri)
	}
	return &jsonrpc.Request{ID: made, Method: methodListen, Params: json.RawMessage("{" + resources(uri) + "}")},
		json.RawMessage(fmt.Sprintf(`{"_meta":{"io.modelcontextprotocol/subscriptionId":%v},%s}`, id, resources(agreed))),
		&jsonrpc.Response{ID: made, Error: &jsonrpc.Error{Code: -32002, Message: "no such resource"}}
}

// TestListens follows requests to their acknowledgement, or to what comes in its place.
func TestListens(t *testing.T) {
	t.Run("acknowledged", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l listens
			req, ack, _ := listenMessages(t, 7, "test://one", "test://one")
			_, foreign, _ := listenMessages(t, 8, "test://one", "test://one")
			l.expect("test://one")
			waited := make(chan error, 1)
			go func() { waited <- l.wait(t.Context(), "test://one") }()
			l.acknowledge(ack) // of nothing that was sent
			l.begin(req)
			for _, params := range []json.RawMessage{foreign, nil, []byte("7"), []byte(`{"_meta":{"io.modelcontextprotocol/subscriptionId":{}}}`)} {
				l.acknowledge(params)
			}
			synctest.Wait()
			if len(waited) > 0 {
				t.Fatalf("it waited for nothing: %v", <-waited)
			}
			l.acknowledge(ack)
			l.acknowledge(ack)
			if err := <-waited; err != nil {
				t.Error(err)
			}
			l.expect("test://one") // which the SDK does not send again
			if err := l.wait(t.Context(), "test://one"); err != nil {
				t.Error(err)
			}
		})
	})
	t.Run("refused", func(t *testing.T) {
		for _, tt := range []struct {
			name string
			end  func(*listens, json.RawMessage, *jsonrpc.Response)
			code int64
		}{
			{"by an error", func(l *listens, _ json.RawMessage, res *jsonrpc.Response) { l.answer(res) }, -32002},
			{"by an end", func(l *listens, _ json.RawMessage, res *jsonrpc.Response) {
				l.answer(&jsonrpc.Response{ID: res.ID, Result: json.RawMessage("{}")})
			}, jsonrpc.CodeInternalError},
			{"by leaving it out", func(l *listens, ack json.RawMessage, _ *jsonrpc.Response) { l.acknowledge(ack) }, jsonrpc.CodeMethodNotFound},
		} {
			var l listens
			req, ack, res := listenMessages(t, 7, "test://one", "test://other")
			l.expect("test://one")
			l.begin(req)
			tt.end(&l, ack, res)
			var rpc *jsonrpc.Error
			if err := l.wait(t.Context(), "test://one"); !errors.As(err, &rpc) || rpc.Code != tt.code {
				t.Errorf("%s: %v", tt.name, err)
			}
			if l.end("test://one"); len(l.byID)+len(l.byURI) > 0 {
				t.Errorf("%s: %v %v are kept", tt.name, l.byID, l.byURI)
			}
		}
	})
	t.Run("neither", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l listens
			if err := l.wait(t.Context(), "test://older"); err != nil {
				t.Error(err)
			}
			l.expect("test://one")
			begin := time.Now()
			if err := l.wait(t.Context(), "test://one"); err != nil || time.Since(begin) != ackWait {
				t.Errorf("a server without acknowledgements: %v after %v", err, time.Since(begin))
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := l.wait(ctx, "test://one"); !errors.Is(err, context.Canceled) {
				t.Errorf("a caller who left: %v", err)
			}
		})
	})
}
