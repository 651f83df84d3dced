package embed

import (
	"container/list"
	"context"
	"slices"
	"sync"
)

// Cache is an [Embedder] that remembers the vectors of recent queries of another, and drops the least recently used. It
// is safe for concurrent use. Documents are passed on, since the same one is rarely asked for twice. When the model
// changes, the cache is emptied.
type Cache struct {
	of   Embedder
	most int

	// mu guards the fields below. It is not held while the wrapped embedder works.
	mu     sync.Mutex
	model  Model      // whose vectors are held
	recent *list.List // of *cachedVector, the latest used first
	byText map[string]*list.Element
	hits   uint64
	misses uint64
}

// cachedVector is one query with its vector, which belongs to the cache: it is copied on the way in and out.
type cachedVector struct {
	text   string
	vector []float32
}

// NewCache remembers up to most queries of an embedder; 0 means 1,000. At 256 dimensions that is about a megabyte.
func NewCache(of Embedder, most int) *Cache {
	if most <= 0 {
		most = 1000
	}
	return &Cache{of: of, most: most, model: of.Model(), recent: list.New(), byText: map[string]*list.Element{}}
}

// Model returns the model of the wrapped embedder.
func (c *Cache) Model() Model { return c.of.Model() }

// Documents asks the wrapped embedder.
func (c *Cache) Documents(ctx context.Context, docs []Document) ([][]float32, error) {
	return c.of.Documents(ctx, docs)
}

// Queries takes what is cached and asks the wrapped embedder for the rest, in one call. The caller owns the vectors. If
// the model changes during that call, nothing is cached, and texts are embedded again rather than mixed with cached
// ones.
func (c *Cache) Queries(ctx context.Context, texts []string) ([][]float32, error) {
	before := c.of.Model()
	out, asked, places := c.lookupVectors(before, texts)
	if len(asked) == 0 {
		return out, nil
	}
	fresh, err := c.of.Queries(ctx, asked)
	if err != nil {
		return nil, err
	}
	if c.of.Model() != before { // these vectors may be of either model and must not be mixed with cached ones
		if len(asked) == len(texts) {
			return fresh, nil
		}
		return c.of.Queries(ctx, texts)
	}
	for i, v := range fresh {
		out[places[i]] = v
	}
	c.rememberVectors(before, asked, fresh)
	return out, nil
}

// lookupVectors returns copies of the cached vectors at their places in out, and the texts and places of the rest.
func (c *Cache) lookupVectors(m Model, texts []string) (out [][]float32, asked []string, places []int) {
	out = make([][]float32, len(texts))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgetOthers(m)
	for i, t := range texts {
		if e, ok := c.byText[t]; ok {
			c.recent.MoveToFront(e)
			out[i] = slices.Clone(e.Value.(*cachedVector).vector)
			c.hits++
			continue
		}
		c.misses++
		asked, places = append(asked, t), append(places, i)
	}
	return out, asked, places
}

// rememberVectors stores vectors of a model under their texts, and forgets those of other models.
func (c *Cache) rememberVectors(m Model, texts []string, vectors [][]float32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgetOthers(m)
	for i, t := range texts {
		if _, ok := c.byText[t]; ok {
			continue
		}
		c.byText[t] = c.recent.PushFront(&cachedVector{t, slices.Clone(vectors[i])})
		if c.recent.Len() > c.most {
			last := c.recent.Back()
			delete(c.byText, last.Value.(*cachedVector).text)
			c.recent.Remove(last)
		}
	}
}

// forgetOthers empties the cache if it holds vectors of another model than m. The lock is held.
func (c *Cache) forgetOthers(m Model) {
	if m != c.model {
		c.model = m
		c.recent.Init()
		clear(c.byText)
	}
}

// stats returns how many texts were found in the cache and how many were not, since it was made.
func (c *Cache) stats() (hits, misses uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hits, c.misses
}
