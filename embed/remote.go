package embed

import (
	"context"
	"io"
	"math"
	"net/http"
	"strings"
)

// embedBatches embeds n texts, at most size in one call of ask, one call after another. Text without a letter or digit
// is not sent, since servers disagree about it: its place in the result stays nil, for zeroes to fill. The first error
// ends it.
func embedBatches(ctx context.Context, n, size int, text func(i int) (prefix, text string),
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
		if sc := (scanner{text: t}); !sc.nextRun() {
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

// fillZeroes puts the zero vector of dims components where there is none, and returns vectors.
func fillZeroes(vectors [][]float32, dims int) [][]float32 {
	for i := range vectors {
		if vectors[i] == nil {
			vectors[i] = make([]float32, dims)
		}
	}
	return vectors
}

// scaleToUnit scales v in place to unit length. It returns the length that v had, and false where that is almost zero
// or no finite number; then v is unchanged.
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

// runningText returns a document as models of running text read it: a line for each field that is not empty.
func (d Document) runningText() string {
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

// limited is a transport that ends a body after maxAnswer bytes, so that a server cannot exhaust the memory. A nil base
// means http.DefaultTransport.
type limited struct{ base http.RoundTripper }

// A batch of 128 vectors of 4,096 components in JSON is about a tenth of it.
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
