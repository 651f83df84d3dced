package embed

import (
	"context"
	"io"
	"math"
	"net/http"
	"strings"
)

// batches embeds n texts, so many at a time. Text without a word is the zero vector and is not sent, since servers
// disagree about it: its place stays nil.
func batches(ctx context.Context, n, size int, text func(i int) (prefix, text string),
	ask func(context.Context, []string) ([][]float32, error),
) ([][]float32, error) {
	out := make([][]float32, n)
	var batch []string
	var places []int
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		vectors, err := ask(ctx, batch)
		for i, v := range vectors {
			out[places[i]] = v
		}
		batch, places = batch[:0], places[:0]
		return err
	}
	for i := range n {
		prefix, t := text(i)
		if sc := (scanner{text: t}); !sc.next() {
			continue
		}
		batch, places = append(batch, prefix+t), append(places, i)
		if len(batch) == size {
			if err := flush(); err != nil {
				return nil, err
			}
		}
	}
	return out, flush()
}

// zeroes puts the zero vector where there is none.
func zeroes(vectors [][]float32, dims int) [][]float32 {
	for i := range vectors {
		if vectors[i] == nil {
			vectors[i] = make([]float32, dims)
		}
	}
	return vectors
}

// scaleToUnit brings v to unit length. It returns the length that v had, and false where that is zero or no finite
// number.
func scaleToUnit(v []float32) (length float64, ok bool) {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	n := math.Sqrt(sum)
	if !(n > 1e-12) || math.IsInf(n, 1) {
		return n, false
	}
	for k := range v {
		v[k] = float32(float64(v[k]) / n)
	}
	return n, true
}

// text is a document for models that read running text.
func (d Document) text() string {
	parts := make([]string, 0, fields)
	if d.Name != "" {
		parts = append(parts, strings.NewReplacer("_", " ", "-", " ").Replace(d.Name))
	}
	if d.Description != "" {
		parts = append(parts, d.Description)
	}
	if d.Parameters != "" {
		parts = append(parts, "Parameters: "+d.Parameters)
	}
	return strings.Join(parts, "\n")
}

// limited is a transport that reads no answer longer than any honest one.
type limited struct{ base http.RoundTripper }

const maxAnswer = 64 << 20

// RoundTrip implements [http.RoundTripper].
func (l limited) RoundTrip(r *http.Request) (*http.Response, error) {
	base := l.base
	if base == nil {
		base = http.DefaultTransport
	}
	answer, err := base.RoundTrip(r)
	if err == nil {
		answer.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(answer.Body, maxAnswer), answer.Body}
	}
	return answer, err
}
