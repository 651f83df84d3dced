package embed

import (
	"bytes"
	"compress/gzip"
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestAnswersThatUnpack has services send an answer that is small on the wire, and has no end once it is unpacked.
func TestAnswersThatUnpack(t *testing.T) {
	if testing.Short() {
		t.Skip("computes for long, and alone")
	}
	packed := func(text []byte) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write(text); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	// a kilobyte that stands for a mebibyte
	start, piece := packed([]byte(`{"model":"`)), packed(bytes.Repeat([]byte("x"), 1<<20))
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		_, err := w.Write(start)
		for err == nil {
			_, err = w.Write(piece)
		}
	}))
	defer web.Close()
	ollama, err := NewOllama(OllamaOptions{URL: web.URL})
	if err != nil {
		t.Fatal(err)
	}
	openai, err := NewOpenAI(OpenAIOptions{URL: web.URL, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]interface {
		Documents(context.Context, []Document) ([][]float32, error)
	}{"ollama": ollama, "openai": openai} {
		if _, err := m.Documents(t.Context(), []Document{{Name: "a"}}); err == nil || t.Context().Err() != nil {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
