package httpapi

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"tooldex/internal/limit"
	"tooldex/tool"
)

// What a result holds is held until it was written; and it arrives whole, small or large, compressed or not.
func TestResultIsHeldUntilWritten(t *testing.T) {
	f := newFixture(t, nil)
	var raw json.RawMessage
	released := make(chan struct{}, 1)
	f.answer = func(ctx context.Context, _ tool.Call) (*tool.CallResult, error) {
		limit.Hold(ctx, func() { released <- struct{}{} })
		if len(released) > 0 {
			t.Error("it is released before it was written")
		}
		return &tool.CallResult{Raw: raw}, nil
	}
	url, stop, served := f.serve(t)
	for _, size := range []int{0, 4 << 10, 5 << 20} {
		raw = json.RawMessage(`{"content":[],"x":"` + strings.Repeat("x", size) + `"}`)
		for _, encoding := range []string{"identity", "gzip"} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/api/tools/files/write_file/call",
				strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept-Encoding", encoding)
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			var body io.Reader = res.Body
			if res.Header.Get("Content-Encoding") == "gzip" {
				if body, err = gzip.NewReader(body); err != nil {
					t.Fatal(err)
				}
			} else if encoding == "gzip" && size > 0 {
				t.Error("a large result is not compressed")
			}
			got, err := io.ReadAll(body)
			_ = res.Body.Close()
			if err != nil || !bytes.Equal(got, raw) || res.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%d bytes, %s: got %d: %v", len(raw), encoding, len(got), err)
			}
			<-released
		}
	}
	stop()
	<-served
}
