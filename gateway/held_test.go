package gateway

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tooldex/internal/limit"
	"tooldex/tool"
	"tooldex/upstream"
)

// big calls the tool echo of a server so that it answers with about n bytes, in a request that holds its result until
// end is called.
func big(t *testing.T, g *Gateway, server string, n int) (end func(), err error) {
	t.Helper()
	ctx, end := limit.WithHold(t.Context())
	args := fmt.Sprintf(`{"x":%q}`, strings.Repeat("x", n))
	res, err := g.Call(ctx, tool.Call{ID: tool.MakeID(server, "echo"), Arguments: []byte(args)})
	if err == nil && len(res.Raw) < n {
		t.Errorf("%s answers with %d bytes, want %d", server, len(res.Raw), n)
	}
	return end, err
}

// The bytes of messages that are in memory are bounded for each server and for all together, whichever way a server is
// reached; small messages always pass, and what was given back can be used again.
func TestMessageMemory(t *testing.T) {
	var servers []upstream.Server
	for i := range 3 {
		servers = append(servers, self(t, fmt.Sprint("s", i), "sdk"))
	}
	for i, kind := range httpKinds {
		srv := listen(t, kind.handler())
		servers = append(servers, upstream.Server{Name: fmt.Sprint("s", 3+i), URL: srv.URL, Transport: kind.transport})
	}
	g := startGateway(t, Options{MessageMemory: 8 << 20, roomTimeout: 50 * time.Millisecond}, servers...)
	var ends []func()
	for _, s := range servers {
		end, err := big(t, g, s.Name, 1800<<10) // of 2 MiB that one server may have
		if len(ends) < 4 {
			if err != nil {
				t.Fatalf("%s: %v", s.Name, err)
			}
			ends = append(ends, end)
			end, err = big(t, g, s.Name, 1<<20)
		}
		if tool.CodeOf(err) != tool.Unavailable || !strings.Contains(fmt.Sprint(err), "no room") {
			t.Errorf("%s has more than its share: %v", s.Name, err)
		}
		end()
		if got := call(t, g, tool.MakeID(s.Name, "echo"), `{"n":1}`); got != `{"n":1}` {
			t.Errorf("a small answer of %s is %s", s.Name, got)
		}
	}
	held, refused := g.MessageMemory()
	if held < 4*1800<<10 || held > 8<<20 || refused < 4 {
		t.Errorf("%d bytes are held, %d were refused", held, refused)
	}
	for _, end := range ends {
		end()
	}
	for _, s := range servers {
		end, err := big(t, g, s.Name, 1500<<10)
		if err != nil {
			t.Errorf("%s after the others: %v", s.Name, err)
		}
		end()
	}
	if held, _ := g.MessageMemory(); held != 0 {
		t.Errorf("%d bytes are held at the end", held)
	}
}

// Without a request that says when it ends, a result counts until the call returns; a listing, until it was read; what
// is too long, broken, or comes when nobody waits, not at all.
func TestMessageMemoryIsGivenBack(t *testing.T) {
	for _, mode := range []string{"bad:huge", "bad:invalid", "bad:deep", "sdk"} {
		t.Run(mode, func(t *testing.T) {
			g := startGateway(t, Options{maxMessage: 1 << 20, CallTimeout: 5 * time.Second}, self(t, "s", mode))
			u, _ := g.Upstream("s")
			_, _ = u.Tools(t.Context()) // some cannot be listed
			for _, args := range []string{`{}`, `{"x":"` + strings.Repeat("x", 500<<10) + `"}`} {
				_, _ = g.Call(t.Context(), tool.Call{ID: "s/echo", Arguments: []byte(args)}) // nor called
			}
			for deadline := time.Now().Add(10 * time.Second); ; {
				held, _ := g.MessageMemory()
				if held == 0 {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("%d bytes are still held", held)
				}
			}
		})
	}
}

// A message waits for room until another is given back.
func TestMessagesWaitForRoom(t *testing.T) {
	g := startGateway(t, Options{MessageMemory: 8 << 20}, self(t, "s", "sdk"))
	end, err := big(t, g, "s", 1500<<10)
	if err != nil {
		t.Fatal(err)
	}
	started := time.Now()
	time.AfterFunc(300*time.Millisecond, end)
	after, err := big(t, g, "s", 1500<<10)
	if err != nil || time.Since(started) < 300*time.Millisecond {
		t.Errorf("after %v: %v", time.Since(started), err)
	}
	after()
}

// The messages that wait for a call whose client reads nothing are bounded in bytes, too.
func TestNoticesAreBounded(t *testing.T) {
	tp := testRecorder()
	hold := make(chan struct{})
	var bytes int
	var last float64
	mail := newNotifier()
	token, stop := tp.watchProgress(mail, func(p tool.Progress) { <-hold; bytes += len(p.Message); last = p.Progress })
	for i := range 1000 {
		tp.deliverProgress(fmt.Appendf(nil, `{"progressToken":%d,"progress":%d,"message":%q}`, token, i,
			strings.Repeat("m", 20<<10)))
	}
	close(hold)
	stop()
	mail.close()
	if bytes > 2*maxMailBytes+maxNotice || bytes < 2*maxNotice || last != 999 {
		t.Errorf("%d bytes are delivered, the last is %v", bytes, last)
	}
}

// A buffer keeps the bytes of a message, and gives back what it holds.
func TestMessageBuffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := limit.NewBytes(1<<20, 2<<20)
		room := &messageRoom{all: all, server: "s", alive: context.Background(), wait: time.Second}
		b := messageBuffer{held: heldBytes{room: room}}
		part := []byte(strings.Repeat("abcdefgh", 4<<10))
		for range 20 {
			if !b.add(part, 4<<20) {
				t.Fatal("no room")
			}
		}
		if got := string(b.bytes()); got != strings.Repeat(string(part), 20) {
			t.Errorf("%d bytes, want %d", len(got), 20*len(part))
		}
		held := b.held.take()
		if _, n := all.Waiting(); n < int64(20*len(part)) {
			t.Errorf("%d bytes are held, want %d", n, 20*len(part))
		}
		other := messageBuffer{held: heldBytes{room: room}}
		for other.add(part, 4<<20) {
		}
		if over := other.give(part, true); !over.noRoom || over.size < 100<<10 {
			t.Errorf("%+v", over)
		}
		held.end()
		held.end()
		if _, n := all.Waiting(); n != 0 {
			t.Errorf("%d bytes are held at the end", n)
		}
	})
}

// Gateways that share the bound do not share what one server may have, though their servers have the same name.
func TestMessageMemoryOfSeveralGateways(t *testing.T) {
	var much []bool
	o := Options{
		MessageMemory: 8 << 20, Messages: NewMessages(8<<20, func(m bool) { much = append(much, m) }),
		roomTimeout: 50 * time.Millisecond,
	}
	var ends []func()
	for i := range 5 {
		end, err := big(t, startGateway(t, o, self(t, "s", "sdk")), "s", 1800<<10)
		if i < 4 != (err == nil) {
			t.Errorf("gateway %d: %v", i, err)
		}
		ends = append(ends, end)
	}
	for _, end := range ends {
		end()
	}
	if _, held := o.Messages.Waiting(); held != 0 || len(much) != 2 || !much[0] || much[1] {
		t.Errorf("%d bytes are held; reported %v", held, much)
	}
}
