package embed

import (
	"container/list"
	"context"
	"slices"
	"sync"
)

// Cache is an [Embedder] that remembers the vectors of recent queries of another. It is safe for concurrent use.
// Documents are passed on, since nobody asks for the same one twice. When the model changes, everything is forgotten.
type Cache struct {
	of   Embedder
	most int

	mu     sync.Mutex
	model  Model
	recent *list.List // of *cachedVector, the latest first
	byText map[string]*list.Element
	hits   uint64
	misses uint64
}

// cachedVector is one query with its vector.
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

// Model tells the model of the embedder behind.
func (c *Cache) Model() Model { return c.of.Model() }

// Documents asks the embedder behind.
func (c *Cache) Documents(ctx context.Context, docs []Document) ([][]float32, error) {
	return c.of.Documents(ctx, docs)
}

// Queries takes what it remembers and asks the embedder behind for the rest, in one call. The caller owns the vectors.
func (c *Cache) Queries(ctx context.Context, texts []string) ([][]float32, error) {
	before := c.of.Model()
	out, asked, places := c.lookup(before, texts)
	if len(asked) == 0 {
		return out, nil
	}
	fresh, err := c.of.Queries(ctx, asked)
	if err != nil {
		return nil, err
	}
	if c.of.Model() != before { // whose vectors these are is not certain, and they must not be mixed with others
		if len(asked) == len(texts) {
			return fresh, nil
		}
		return c.of.Queries(ctx, texts)
	}
	for i, v := range fresh {
		out[places[i]] = v
	}
	c.remember(before, asked, fresh)
	return out, nil
}

// lookup returns copies of the vectors it has, and the texts and places of those it has not.
func (c *Cache) lookup(m Model, texts []string) (out [][]float32, asked []string, places []int) {
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

// remember stores vectors of a model under their texts, and forgets those of other models.
func (c *Cache) remember(m Model, texts []string, vectors [][]float32) {
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

// stats tells how many queries were remembered and how many were not, since the cache was made.
func (c *Cache) stats() (hits, misses uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hits, c.misses
}
