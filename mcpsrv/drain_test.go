package mcpsrv

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// scripted is a connection that reads given messages and then ends.
type scripted struct {
	mcp.Connection
	messages []jsonrpc.Message
}

func (s *scripted) Connect(context.Context) (mcp.Connection, error) { return s, nil }

func (s *scripted) Read(context.Context) (jsonrpc.Message, error) {
	if len(s.messages) == 0 {
		return nil, io.EOF
	}
	msg := s.messages[0]
	s.messages = s.messages[1:]
	return msg, nil
}

func (s *scripted) Write(context.Context, jsonrpc.Message) error { return nil }
func (s *scripted) Close() error                                 { return nil }

func request(t *testing.T, id any, method string) *jsonrpc.Request {
	t.Helper()
	made, err := jsonrpc.MakeID(id)
	if err != nil {
		t.Fatal(err)
	}
	return &jsonrpc.Request{ID: made, Method: method}
}

func TestLinger(t *testing.T) {
	tests := []struct {
		name   string
		answer time.Duration // when the request is answered; zero means never
		close  time.Duration // when the connection is closed; zero means never
		want   time.Duration // when the end is seen
	}{
		{"the end waits for the answer", time.Second, 0, time.Second},
		{"but not for ever", 0, 0, 4 * time.Second},
		{"nor once the connection is closed", 0, 2 * time.Second, 2 * time.Second},
	}
	const linger = 4 * time.Second
	for _, method := range []string{"tools/call", "initialize"} {
		for _, tt := range tests {
			t.Run(method+"/"+tt.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					start := time.Now()
					var answers inFlight
					req := request(t, "a", method)
					conn, err := drainingTransport{
						&scripted{messages: []jsonrpc.Message{req}}, linger,
						&answers,
					}.Connect(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					if _, err := conn.Read(t.Context()); err != nil {
						t.Fatal(err)
					}
					if tt.answer > 0 {
						time.AfterFunc(tt.answer, func() { _ = conn.Write(t.Context(), &jsonrpc.Response{ID: req.ID}) })
					}
					if tt.close > 0 {
						time.AfterFunc(tt.close, func() { _ = conn.Close() })
					}
					_, err = conn.Read(t.Context())
					if got := time.Since(start); !errors.Is(err, io.EOF) || got < tt.want || got > 2*tt.want {
						t.Errorf("%v after %v, want EOF after %v", err, got, tt.want)
					}
					_ = conn.Close()
					if open := answers.waitUntilIdle(t.Context()); open != 0 {
						t.Errorf("%d requests are still counted", open)
					}
				})
			})
		}
	}
}

// TestUnanswered holds that no more requests are read of a client that does not take the answers, until it takes one.
func TestUnanswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var answers inFlight
		lines := &scripted{}
		for i := range maxUnanswered + 2 {
			lines.messages = append(lines.messages, request(t, float64(i), "ping"))
		}
		conn, err := drainingTransport{lines, time.Second, &answers}.Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		read := 0
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for {
				if _, err := conn.Read(t.Context()); err != nil {
					return
				}
				read++
			}
		}()
		synctest.Wait()
		if read != maxUnanswered {
			t.Errorf("%d requests were read, want %d", read, maxUnanswered)
		}
		id, err := jsonrpc.MakeID(float64(0))
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.Write(t.Context(), &jsonrpc.Response{ID: id}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if read != maxUnanswered+1 {
			t.Errorf("after an answer %d requests were read, want %d", read, maxUnanswered+1)
		}
		_ = conn.Close()
		<-ended
		if open := answers.waitUntilIdle(t.Context()); open != 0 {
			t.Errorf("%d requests are still counted", open)
		}
	})
}
