package mcpsrv

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	gocmp "github.com/google/go-cmp/cmp"
)

// lines runs f as over stdio, with the lines of a client that goes after so many answers, and returns the answers.
func (f *fixture) lines(t *testing.T, answers int, lines ...string) []string {
	t.Helper()
	outR, outW := io.Pipe()
	inR, inW := io.Pipe()
	ran := make(chan error, 1)
	go func() {
		ran <- f.Run(context.Background(), Lines(inR, outW))
		_ = outW.Close()
	}()
	go func() { _, _ = io.WriteString(inW, strings.Join(lines, "\n")+"\n") }()
	var got []string
	scanner := bufio.NewScanner(outR)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		got = append(got, scanner.Text())
		if len(got) == answers {
			_ = inW.Close()
		}
	}
	if err := <-ran; err != nil {
		t.Errorf("Run: %v", err)
	}
	return got
}

// TestBadLinesDoNotEndTheSession sends a line that is no message, and then a good one.
func TestBadLinesDoNotEndTheSession(t *testing.T) {
	ping := `{"jsonrpc":"2.0","id":99,"method":"ping"}`
	pong := `{"jsonrpc":"2.0","id":99,"result":{}}`
	refused := func(id, code, text string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":` + code + `,"message":"` + text
	}
	for name, c := range map[string]struct{ revision, line, want string }{
		"words": {"2025-11-25", "hello", refused("null", "-32700", "the line is not JSON")},
		"cut off": {
			"2025-11-25", `{"jsonrpc":"2.0","id":5,"met`,
			refused("null", "-32700", "the line is not JSON"),
		},
		"two on a line": {"2025-11-25", ping + ping, refused("null", "-32700", "the line is not JSON")},
		"no version": {
			"2025-11-25", `{"id":6,"method":"ping"}`,
			refused("6", "-32600", "the line is not a JSON-RPC message"),
		},
		"text for an id": {
			"2025-11-25", `{"id":"six","method":"ping"}`,
			refused(`"six"`, "-32600", "the line is not"),
		},
		"object for an id": {
			"2025-11-25", `{"jsonrpc":"2.0","id":{},"method":"ping"}`,
			refused("null", "-32600", "the line is not"),
		},
		"number": {"2025-11-25", "7", refused("null", "-32600", "the line is not")},
		"deep": {"2025-11-25", `{"jsonrpc":"2.0","id":5,"method":"ping","params":` +
			strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + "}", refused("5", "-32600", "the JSON is nested")},
		"very deep": {
			"2025-11-25", `{"jsonrpc":"2.0","id":5,"method":"ping","params":` +
				strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "}",
			refused("null", "-32700", "the line is not"),
		},
		"too much in one": {"2025-11-25", `{"jsonrpc":"2.0","id":5,"method":"ping","params":{"a":[` +
			strings.Repeat("0,", 300_000) + "0]}}", refused("5", "-32600", "the JSON holds more")},
		"batch where none are": {
			"2025-11-25", "[" + strings.Replace(ping, "99", "98", 1) + "]",
			refused("null", "-32600", "a batch is empty, or"),
		},
		"empty batch":        {"2025-03-26", "[]", refused("null", "-32600", "a batch is empty, or")},
		"bad one in a batch": {"2025-03-26", `[{"id":1}]`, refused("null", "-32600", "the batch holds")},
		"batch": {
			"2025-03-26", "[" + strings.Replace(ping, "99", "98", 1) + "]",
			`[{"jsonrpc":"2.0","id":98,"result":{}}]`,
		},
		"nothing": {"2025-11-25", "  ", pong},
		"carriage return": {
			"2025-11-25", strings.Replace(ping, "99", "98", 1) + "\r",
			`{"jsonrpc":"2.0","id":98,"result":{}}`,
		},
		"parameters of no sort": {
			"2025-11-25", `{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":7}}`,
			refused("8", "-32602", ""),
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, nil, Options{})
			answers := 3
			if c.want == pong {
				answers = 2
			}
			got := f.lines(t, answers, append(opening(c.revision), c.line, ping)...)
			// Requests are answered side by side, so the two may come in either order.
			found, pongs := false, 0
			for _, line := range got {
				found = found || strings.HasPrefix(line, c.want)
				if line == pong {
					pongs++
				}
			}
			if !found || pongs != 1 {
				t.Errorf("got %q, want one that begins with %q, and one pong", got, c.want)
			}
		})
	}
}

func TestTooLongLine(t *testing.T) {
	var answers bytes.Buffer
	in := strings.Repeat("x", 10_000) + "\n" + `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	l := &lineReader{r: bufio.NewReaderSize(strings.NewReader(in), 64), answer: &lineWriter{w: &answers}, most: 1000}
	msgs, _, err := l.nextMessages()
	if err != nil {
		t.Fatal(err)
	}
	if r, ok := msgs[0].(*jsonrpc.Request); !ok || len(msgs) != 1 || r.Method != "ping" || r.ID.Raw() != int64(1) {
		t.Errorf("passed on %+v", msgs)
	}
	if _, _, err := l.nextMessages(); !errors.Is(err, io.EOF) {
		t.Errorf("error %v at the end", err)
	}
	if diff := gocmp.Diff(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the message is too large"}}`+"\n", answers.String()); diff != "" {
		t.Errorf("answered (-want +got):\n%s", diff)
	}
}

func FuzzLines(f *testing.F) {
	f.Add("hello\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n")
	f.Add("[{}]\r\n\n{\"id\":{}}")
	f.Fuzz(func(t *testing.T, in string) {
		var answers bytes.Buffer
		l := &lineReader{r: bufio.NewReaderSize(strings.NewReader(in), 16), answer: &lineWriter{w: &answers}, most: 100}
		sent, read := 0, 0
		for {
			if _, _, err := l.nextMessages(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			read++
		}
		for line := range strings.Lines(in) {
			if strings.TrimSpace(line) != "" {
				sent++
			}
		}
		if n := read + bytes.Count(answers.Bytes(), []byte("\n")); n != sent {
			t.Errorf("%d lines sent, %d passed on or answered", sent, n)
		}
	})
}

// What is read without the SDK's decoder must be read as it reads it.
func FuzzDecodeMessage(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`, `{"jsonrpc":"2.0","method":"notifications/x"}`,
		`{"jsonrpc":"2.0","id":"a","method":"ping","params":null}`, `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`, `{"jsonrpc":"2.0","id":3,"result":{}}`, `{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}`,
		`{"jsonrpc":"2.0","id":true,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"method":""}`, `{"jsonrpc":"1.0","id":1,"method":"a"}`,
		`{"jsonrpc":"2.0","id":1,"method":null}`, `{"jsonrpc":"2.0","id":1e400,"method":"a"}`, `{"JSONRPC":"2.0","id":1,"method":"a"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		if !json.Valid([]byte(in)) {
			return
		}
		got, err := decodeMessage([]byte(in))
		want, wantErr := jsonrpc.DecodeMessage([]byte(in))
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%s: error %v, the SDK's %v", in, err, wantErr)
		}
		if err == nil && !reflect.DeepEqual(normalized(got), normalized(want)) {
			t.Errorf("%s: %+v, the SDK reads %+v", in, got, want)
		}
	})
}

// normalized returns a message in a form that does not distinguish parameters of null from none, which mean the same.
func normalized(m jsonrpc.Message) string {
	r, ok := m.(*jsonrpc.Request)
	if !ok {
		return fmt.Sprintf("%+v", m)
	}
	params := string(r.Params)
	if params == "null" {
		params = ""
	}
	return fmt.Sprintf("%v %q %s", r.ID.Raw(), r.Method, params)
}
