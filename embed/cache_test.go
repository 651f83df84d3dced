package embed

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// counter is an embedder of one component that counts what it is asked.
type counter struct {
	mu    sync.Mutex
	model Model
	asked [][]string
	after func() // called at the end of Queries, with the lock held
	err   error
}

func (c *counter) Model() Model {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.model
}

func (c *counter) Queries(_ context.Context, texts []string) ([][]float32, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, texts)
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = []float32{float32(len(t)) + float32(len(c.model.Fingerprint))/10}
	}
	if c.after != nil {
		c.after()
		c.after = nil
	}
	return out, c.err
}

func (c *counter) Documents(context.Context, []Document) ([][]float32, error) {
	return [][]float32{{42}}, nil
}

func ask(t *testing.T, c *Cache, texts ...string) [][]float32 {
	t.Helper()
	v, err := c.Queries(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestCacheAsksOnce(t *testing.T) {
	behind := &counter{}
	c := NewCache(behind, 2)
	for _, texts := range [][]string{{"a", "bb"}, {"bb", "a", "a"}, {"ccc", "a"}, {"bb"}, {"a"}} {
		got := ask(t, c, texts...)
		for i, text := range texts {
			if got[i][0] != float32(len(text)) {
				t.Errorf("vector of %q is %v", text, got[i])
			}
			got[i][0] = -1 // the caller's own, so nobody else sees this
		}
	}
	// Room for two: "ccc" puts out "bb", which was used before "a"; "bb" then puts out "a", found before "ccc" came in.
	if diff := cmp.Diff([][]string{{"a", "bb"}, {"ccc"}, {"bb"}, {"a"}}, behind.asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	if hits, misses := c.stats(); hits != 4 || misses != 5 {
		t.Errorf("%d hits and %d misses, want 4 and 5", hits, misses)
	}
}

func TestCachePassesOn(t *testing.T) {
	behind := &counter{model: Model{Name: "m", Dims: 1}}
	c := NewCache(behind, 0)
	if c.Model() != behind.model {
		t.Errorf("model %+v", c.Model())
	}
	if got, err := c.Documents(t.Context(), []Document{{}}); err != nil || got[0][0] != 42 {
		t.Errorf("documents %v, %v", got, err)
	}
	behind.err = errors.New("down")
	if got, err := c.Queries(t.Context(), []string{"a"}); !errors.Is(err, behind.err) || got != nil {
		t.Errorf("queries %v, %v", got, err)
	}
	behind.err = nil
	if ask(t, c, "a"); len(behind.asked) != 2 {
		t.Error("a failure was remembered")
	}
}

func TestCacheForgetsWithTheModel(t *testing.T) {
	behind := &counter{}
	c := NewCache(behind, 10)
	ask(t, c, "a", "bb")
	behind.model.Fingerprint = "x"
	if got := ask(t, c, "a"); got[0][0] != 1.1 {
		t.Errorf("after the model changed: %v", got)
	}
	behind.after = func() { behind.model.Fingerprint = "xy" } // the model changes while it is asked
	if got := ask(t, c, "a", "ccc"); got[0][0] != 1.2 || got[1][0] != 3.2 {
		t.Errorf("vectors of two models in one answer: %v", got)
	}
}

func TestCacheConcurrently(t *testing.T) {
	c := NewCache(&counter{}, 3)
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 200 {
				text := fmt.Sprintf("%0*d", 1+(i*7+w)%9, 0)
				v, err := c.Queries(context.Background(), []string{text, "x"})
				if err != nil || v[0][0] != float32(len(text)) || v[1][0] != 1 {
					t.Errorf("vectors of %q: %v, %v", text, v, err)
				}
			}
		})
	}
	wg.Wait()
	if n := c.recent.Len(); n > 3 || n != len(c.byText) {
		t.Errorf("%d remembered, %d findable", n, len(c.byText))
	}
}
