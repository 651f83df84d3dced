package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// attack is what one hostile upstream does.
type attack struct {
	name, does string
	calls      int // callers that keep calling it
	// answer writes the answer of a call, or something in its place. It may write for ever.
	answer func(w *hostileWriter, id json.RawMessage, n int)
	// pages are those of its listing, and the bytes of the tools of each; zero means one page with one tool.
	pages, pageBytes int
	unasked          func(w *hostileWriter) // runs from the start, for ever; nil for nothing
}

// hostilePrefix marks the kinds of upstreams that are hostile.
const hostilePrefix = "hostile-"

// quiet is the hostile upstream that behaves well: what the others are compared with.
const quiet = "nothing"

func attacks() []attack {
	plain := func(w *hostileWriter, id json.RawMessage, n int) { w.text(id, 20) }
	return []attack{
		{name: quiet, does: "answers as the others do", calls: 4, answer: plain},
		{
			name: "endless output", does: "answers a call with a line that never ends", calls: 4,
			answer: func(w *hostileWriter, id json.RawMessage, n int) {
				w.write([]byte(`{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"`))
				for {
					w.write(filler64)
				}
			},
		},
		{
			name: "giant results", does: "answers each call with 15 MiB", calls: 8,
			answer: func(w *hostileWriter, id json.RawMessage, n int) { w.text(id, 15<<20) },
		},
		{
			name: "large results", does: "answers each call with 2 MiB", calls: 32,
			answer: func(w *hostileWriter, id json.RawMessage, n int) { w.text(id, 2<<20) },
		},
		{
			name: "too large results", does: "answers each call with 200 MiB", calls: 4,
			answer: func(w *hostileWriter, id json.RawMessage, n int) { w.text(id, 200<<20) },
		},
		{
			name: "small notifications", does: "sends log messages, progress and announcements without end", calls: 4,
			answer: plain, unasked: flood(20),
		},
		{
			name: "large notifications", does: "sends log messages and progress of 1 MiB without end", calls: 4,
			answer: plain, unasked: flood(1 << 20),
		},
		{
			name: "pings", does: "sends pings without end, and reads no answer while it does", calls: 4, answer: plain,
			unasked: func(w *hostileWriter) {
				for i := 0; ; i++ {
					w.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"p%d","method":"ping"}`+"\n", i))
				}
			},
		},
		{
			name: "slow drips", does: "answers calls byte by byte, 100 a second, after 8 MiB at once", calls: 16,
			answer: func(w *hostileWriter, id json.RawMessage, n int) {
				w.mu.Lock()
				defer w.mu.Unlock()
				_, _ = w.Write([]byte(`{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"`))
				_, _ = w.Write(bytes.Repeat([]byte("x"), 8<<20))
				for {
					_, _ = w.Write([]byte("x"))
					time.Sleep(10 * time.Millisecond)
				}
			},
		},
		{
			name: "huge lists", does: "lists 60 MiB of tools, on 30 pages, and announces a change of them each second",
			calls: 4, answer: plain, pages: 30, pageBytes: 2 << 20,
			unasked: func(w *hostileWriter) {
				for range time.Tick(time.Second) {
					w.write([]byte(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n"))
				}
			},
		},
		{
			name: "endless lists", does: "lists tools on pages without end, of 2 MiB each", calls: 4, answer: plain,
			pages: 1 << 30, pageBytes: 2 << 20,
		},
	}
}

var filler64 = bytes.Repeat([]byte("x"), 64<<10)

// flood sends notifications of every kind, with texts of n bytes, as fast as they are read.
func flood(n int) func(w *hostileWriter) {
	text := strings.Repeat("x", n)
	return func(w *hostileWriter) {
		for i := 0; ; i++ {
			w.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"emergency","data":%q}}`+"\n", text))
			w.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%d,"progress":%d,"message":%q}}`+"\n", i%64, i, text))
			w.write([]byte(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n"))
		}
	}
}

// hostileWriter writes messages, each at once.
type hostileWriter struct {
	mu sync.Mutex
	io.Writer
}

// write writes some bytes. It ends the process when nobody reads any more.
func (w *hostileWriter) write(b []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := w.Write(b); err != nil {
		os.Exit(0)
	}
}

// text answers a call with a text of n bytes.
func (w *hostileWriter) text(id json.RawMessage, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, id)
	for ; n > 0; n -= len(filler64) {
		_, _ = w.Write(filler64[:min(n, len(filler64))])
	}
	_, _ = w.Write([]byte("\"}]}}\n"))
}

// serveHostile is a server on standard streams that speaks as much of the protocol as it takes to be called.
func serveHostile(name string) error {
	var a attack
	for _, one := range attacks() {
		if one.name == name {
			a = one
		}
	}
	if a.answer == nil {
		return fmt.Errorf("there is no attack %q", name)
	}
	w := &hostileWriter{Writer: os.Stdout}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var msg struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Cursor          string          `json:"cursor"`
				ProtocolVersion string          `json:"protocolVersion"`
				Arguments       struct{ N int } `json:"arguments"`
			} `json:"params"`
		}
		if json.Unmarshal(in.Bytes(), &msg) != nil || msg.ID == nil {
			continue
		}
		reply := func(result string) {
			w.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", msg.ID, result))
		}
		switch msg.Method {
		case "initialize":
			reply(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"logging":{}},"serverInfo":{"name":"h","version":"1"}}`)
			if a.unasked != nil {
				go a.unasked(w)
			}
		case "tools/list":
			reply(a.page(msg.Params.Cursor))
		case "tools/call":
			go a.answer(w, msg.ID, msg.Params.Arguments.N)
		case "ping", "logging/setLevel":
			reply(`{}`)
		default:
			w.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`+"\n", msg.ID))
		}
	}
	return in.Err()
}

// page returns one page of the listing. The first holds the tool that is called; all hold as many bytes as they should,
// in tools of 60 KiB.
func (a attack) page(cursor string) string {
	n := 0
	_, _ = fmt.Sscan(cursor, &n)
	var b strings.Builder
	b.WriteString(`{"tools":[`)
	if n == 0 {
		b.WriteString(`{"name":"echo_number","description":"Give a number back as it is","inputSchema":{"type":"object"}}`)
	}
	for i := 0; b.Len() < a.pageBytes; i++ {
		if b.Len() > len(`{"tools":[`) {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"name":"t%d_%d_%d","description":"%s","inputSchema":{"type":"object"}}`, n, i, time.Now().UnixNano(),
			strings.Repeat("word ", 60<<10/5))
	}
	b.WriteString("]")
	if n+1 < a.pages {
		fmt.Fprintf(&b, `,"nextCursor":"%d"`, n+1)
	}
	b.WriteString("}")
	return b.String()
}
