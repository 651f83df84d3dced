package metrics

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"tooldex/tool"
)

// Searcher returns a Searcher that passes queries on to next, and counts them for a profile, "" for all tools, except
// trials and failures. set holds the tools that its clients may see, for the cost of listing all of them instead of an
// answer.
func (m *Meter) Searcher(next tool.Searcher, set tool.Catalog, profile string) tool.Searcher {
	return &searcher{m: m, next: next, catalog: set, profile: profile}
}

// searcher counts the searches that pass through it.
type searcher struct {
	m       *Meter
	next    tool.Searcher
	catalog tool.Catalog
	profile string
	plain   atomic.Pointer[listing]
}

// listing is the cost of the plain listing of a set.
type listing struct {
	set    *tool.Set
	tokens int
}

// Search implements tool.Searcher.
func (s *searcher) Search(ctx context.Context, q tool.Query) (*tool.Result, error) {
	begin := time.Now()
	res, err := s.next.Search(ctx, q)
	if err == nil && !q.Trial {
		s.recordSearch(q, res, time.Since(begin))
	}
	return res, err
}

// listedTokens returns what all enabled tools cost in a plain listing. It computes that once for each version of the
// set.
func (s *searcher) listedTokens() int {
	set := s.catalog.Set()
	if set == nil {
		return 0
	}
	if p := s.plain.Load(); p != nil && p.set == set {
		return p.tokens
	}
	n := 0
	for _, t := range set.All() {
		if !t.Disabled {
			n += t.Tokens()
		}
	}
	s.plain.Store(&listing{set, n})
	return n
}

// recordSearch counts an answered search.
func (s *searcher) recordSearch(q tool.Query, res *tool.Result, took time.Duration) {
	m, listed := s.m, s.listedTokens()
	m.addCounts(func(c *counts) {
		mine := profileCounts{Searches: 1}
		c.Searches++
		c.Search.observeDuration(took)
		c.Tools += int64(len(res.Tools))
		c.Used += int64(res.Tokens)
		c.Saved += int64(max(listed-res.Tokens, 0))
		if res.Degraded != "" {
			c.Degraded++
		}
		if !res.Confident {
			c.Nothing++
			mine.Nothing++
		}
		c.addProfile(s.profile, mine)
		for _, h := range res.Tools {
			c.Categories[cmp.Or(h.Category, "other")]++
		}
	})
	for _, g := range res.Groups {
		if !g.Confident {
			m.recordFruitless(g.Query)
		}
	}
	if len(res.Groups) == 0 && !res.Confident {
		m.recordFruitless(q.Text)
	}
}

// recordFruitless keeps the text of a search that found nothing, cut to maxText bytes, in place of the oldest if there
// are maxFruitless.
func (m *Meter) recordFruitless(text string) {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxText {
		text = text[:maxText]
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.fruitless) == maxFruitless {
		m.fruitless = append(m.fruitless[:0], m.fruitless[1:]...)
	}
	m.fruitless = append(m.fruitless, fruitless{time.Now(), strings.ToValidUTF8(text, "")})
}

// Selected counts an answered selection: its tools, their cost in tokens, how many tokens more all tools would have
// cost, and whether the cache answered. The Searcher of the selection should not be one of this Meter, or its searches
// are counted too.
func (m *Meter) Selected(tools []tool.ID, tokens, saved int, cached bool) {
	var set *tool.Set
	if m.o.Catalog != nil {
		set = m.o.Catalog.Set()
	}
	m.addCounts(func(c *counts) {
		c.Selections++
		c.Tools += int64(len(tools))
		c.Used += int64(tokens)
		c.Saved += int64(max(saved, 0))
		if cached {
			c.Hits++
		}
		for _, id := range tools {
			category := ""
			if set != nil {
				if t, ok := set.Get(id); ok {
					category = t.Category
				}
			}
			c.Categories[cmp.Or(category, "other")]++
		}
	})
}

// Caller returns a Caller that passes calls on to next, and counts them for a profile, "" for all tools. A call of an
// unknown tool is not counted, and a call that its client cancels is no error.
func (m *Meter) Caller(next tool.Caller, profile string) tool.Caller { return caller{m, next, profile} }

// caller counts the calls that pass through it.
type caller struct {
	m       *Meter
	next    tool.Caller
	profile string
}

// Call implements tool.Caller.
func (c caller) Call(ctx context.Context, call tool.Call) (*tool.CallResult, error) {
	begin := time.Now()
	res, err := c.next.Call(ctx, call)
	took := time.Since(begin)
	if err != nil && tool.CodeOf(err) == tool.NotFound {
		return res, err
	}
	failed := err != nil && !errors.Is(ctx.Err(), context.Canceled) || res != nil && res.IsError
	c.m.addCounts(func(n *counts) {
		n.Called[string(call.ID)]++
		n.Last[string(call.ID)] = begin.Unix()
		s := n.serverOf(call.ID.Server())
		s.Calls++
		s.Took.observeDuration(took)
		mine := profileCounts{Calls: 1}
		if failed {
			s.Errors++
			mine.Errors++
		}
		n.addProfile(c.profile, mine)
	})
	return res, err
}
