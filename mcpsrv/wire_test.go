package mcpsrv

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tooldex/tool"
)

var update = flag.Bool("update", false, "rewrite golden files")

// pipe is a raw connection to a server, as over stdio.
type pipe struct {
	t   *testing.T
	in  *io.PipeWriter
	out *bufio.Reader
}

func (f *fixture) pipe(t *testing.T) *pipe {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ran := make(chan error, 1)
	go func() { ran <- f.Run(context.Background(), Lines(inR, outW)) }()
	t.Cleanup(func() {
		_ = inW.Close()
		if err := <-ran; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	return &pipe{t, inW, bufio.NewReader(outR)}
}

func (p *pipe) send(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

func (p *pipe) receive() string {
	p.t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		p.t.Fatal(err)
	}
	return strings.TrimSuffix(line, "\n")
}

// opening are the lines that open a session of each generation; the stateless one needs none.
func opening(revision string) []string {
	if revision >= statelessRevision {
		return nil
	}
	return []string{
		fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`, revision),
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
	}
}

// exchange sends lines after the opening and returns the answers to those that are requests.
func (f *fixture) exchange(t *testing.T, revision string, lines ...string) []string {
	t.Helper()
	p := f.pipe(t)
	var got []string
	for _, line := range append(opening(revision), lines...) {
		p.send(line)
		if strings.Contains(line, `"id":`) {
			got = append(got, p.receive())
		}
	}
	return got
}

// TestWire plays the requests of each transcript, lines that begin with ">", and compares what comes back,
// notifications with it, to the byte. A transcript is named after a revision, and its folder after a mode.
func TestWire(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "wire", "*", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		mode := Mode(filepath.Base(filepath.Dir(file)))
		t.Run(string(mode)+" "+strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			f := newFixture(t, smallServer(t), Options{Mode: mode})
			f.answer = func(_ context.Context, c tool.Call) (*tool.CallResult, error) {
				if c.ID.Name() == "file_info" {
					return nil, &tool.Error{Code: tool.Internal, Err: io.ErrUnexpectedEOF}
				}
				return &tool.CallResult{Raw: json.RawMessage(`{ "content" : [ {"type":"text","text":"<ok> & \u00e9"} ], "structuredContent":{"big":9007199254740993,"b":1,"a":2.50}, "_meta":{"io.modelcontextprotocol/serverInfo":{"name":"upstream"},"trace":"x"} }`)}, nil
			}
			p := f.pipe(t)
			var got bytes.Buffer
			for line := range strings.Lines(string(want)) {
				line = strings.TrimSuffix(line, "\n")
				if strings.HasPrefix(line, "< ") {
					continue
				}
				fmt.Fprintln(&got, line)
				if request, ok := strings.CutPrefix(line, "> "); ok {
					p.send(request)
					for waiting := strings.Contains(request, `"id":`); waiting; {
						line := p.receive()
						waiting = !strings.Contains(line, `"id":`)
						fmt.Fprintln(&got, "< "+requestID.ReplaceAllString(line, "request id XXXXXXXXXXXX"))
					}
				}
			}
			if *update {
				if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := gocmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("transcript (-want +got):\n%s", diff)
			}
		})
	}
}

var requestID = regexp.MustCompile(`request id [A-Z0-9]{12}`)
