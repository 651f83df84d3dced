package httpapi

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"tooldex/mcpsrv"
	"tooldex/tool"
)

// largeListing serves tools whose listing over MCP takes half a megabyte, with little room for what is not
// read.
func largeListing(t *testing.T) (f *fixture, address string) {
	t.Helper()
	f = newFixture(t, nil)
	var tools []*tool.Tool
	for i := range 50 {
		tools = append(tools, &tool.Tool{
			Server: "large", Name: fmt.Sprintf("tool%d", i), Description: strings.Repeat("text ", 2000),
			InputSchema: []byte(`{"type":"object"}`),
		})
	}
	f.set = tool.NewSet(tools, "")
	srv := mcpsrv.New(mcpsrv.Options{Searcher: f, Caller: f, Catalog: f, AnyHost: true, Mode: mcpsrv.Full})
	t.Cleanup(func() { _ = srv.Close() })
	both := http.NewServeMux()
	both.Handle("/mcp", srv.Handler())
	both.Handle("/sse", srv.SSEHandler())
	f.Server = newFixture(t, func(o *Options) {
		o.MCP, o.limits = both, limits{calls: 320, unread: 4 << 20, unreadEach: 4 << 20}
	}).Server
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	go func() { _ = f.Serve(ctx, smallBuffers{l}) }()
	return f, l.Addr().String()
}

// smallBuffers accepts connections for which the system keeps little of what is not read.
type smallBuffers struct{ net.Listener }

// Accept implements net.Listener.
func (l smallBuffers) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return c, c.(*net.TCPConn).SetWriteBuffer(64 << 10)
}

// dialSlow opens a connection whose buffer takes little, so that what is not read waits at the server.
func dialSlow(ctx context.Context, _, address string) (net.Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return c, c.(*net.TCPConn).SetReadBuffer(4 << 10)
}

// heapInUse returns what the process keeps after garbage was collected.
func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}

// holds waits until a condition holds.
func holds(t *testing.T, what string, is func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("it does not come that %s", what)
		}
	}
}

const (
	statelessMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}`
	statelessList = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + statelessMeta + `}}`
	mcpHeaders    = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMcp-Protocol-Version: 2026-07-28\r\n"
)

// TestStoppedReadersOverMCP has 300 connections ask for half a megabyte each and read nothing: they keep no places and
// little memory, and others are served.
func TestStoppedReadersOverMCP(t *testing.T) {
	f, address := largeListing(t)
	request := "POST /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Method: tools/list\r\n" + mcpHeaders +
		fmt.Sprintf("Content-Length: %d\r\n\r\n", len(statelessList)) + statelessList
	ask := func() net.Conn {
		c, err := dialSlow(t.Context(), "", address)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, request); err != nil {
			t.Fatal(err)
		}
		return c
	}
	read := func(c net.Conn) (status, size int) {
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			return 0, 0
		}
		b, _ := io.ReadAll(res.Body) // as far as it goes
		return res.StatusCode, len(b)
	}
	c := ask()
	if status, size := read(c); status != http.StatusOK || size < 500_000 {
		t.Fatalf("who reads gets %d with %d bytes", status, size)
	}
	_ = c.Close()
	before := heapInUse()
	for range 300 {
		defer ask().Close()
	}
	holds(t, "no call keeps its place", func() bool { return f.load.calls.Inside() == 0 })
	if _, waits := f.load.unread.Waiting(); waits == 0 || waits > 4<<20 {
		t.Errorf("%d bytes wait to be read", waits)
	}
	if now := heapInUse(); now > before+60<<20 {
		t.Errorf("what nobody reads keeps %d MB", (now-before)>>20)
	}
	if res := get(t, "http://"+address+"/search?q=tool1"); res.StatusCode != http.StatusOK {
		t.Errorf("a search beside them has %d", res.StatusCode)
	}
	ping := strings.Replace(strings.Replace(request, "tools/list", "server/discover", 1), "tools/list", "server/discover", 1)
	ping = strings.Replace(ping, fmt.Sprintf("Content-Length: %d", len(statelessList)), fmt.Sprintf("Content-Length: %d", len(statelessList)+5), 1)
	c, err := dialSlow(t.Context(), "", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, ping+strings.Repeat(" ", 5-len("server/discover")+len("tools/list"))); err != nil {
		t.Fatal(err)
	}
	if status, _ := read(c); status != http.StatusOK {
		t.Errorf("a message over MCP beside them has %d", status)
	}
}

// TestStoppedReaderOverSSE has a client post many requests to one session, and not read the stream that takes all of
// their answers: the session ends, and nothing of it stays in memory.
func TestStoppedReaderOverSSE(t *testing.T) {
	f, address := largeListing(t)
	client := &http.Client{Transport: &http.Transport{DialContext: dialSlow}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/sse", nil)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	lines := bufio.NewScanner(stream.Body)
	event := func() string {
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				return data
			}
		}
		t.Fatal(lines.Err())
		return ""
	}
	endpoint := "http://" + address + event()
	post := func(body string) int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, endpoint, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		return res.StatusCode
	}
	post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	event()
	post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	before := heapInUse()
	asked := 0
	holds(t, "the session ends", func() bool {
		asked++
		status := post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, asked))
		return status != http.StatusAccepted
	})
	if asked > 1000 {
		t.Errorf("%d requests were taken of a client that reads nothing", asked)
	}
	holds(t, "nothing waits to be read", func() bool { _, waits := f.load.unread.Waiting(); return waits == 0 })
	if now := heapInUse(); now > before+60<<20 {
		t.Errorf("what nobody reads keeps %d MB", (now-before)>>20)
	}
}
