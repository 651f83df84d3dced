package main

import (
	"math/rand/v2"

	"tooldex/internal/vector"
	"tooldex/knowledge"
)

// The kinds of requests beside those of talk.
const (
	answerable = "answerable"
	nearMiss   = "near miss"
	foreign    = "foreign"
)

// request is a request for an operation, or talk, which has none.
type request struct {
	kind, text string
	of         *operation
}

// Requests in the knowledge lean on what was said before ("is it current?"); those that people put to a search do not.
// So only those count that say enough of what they were written for, and of operations that the catalogue does not have
// only those that nothing in it does.
const (
	leastClear  = .45 // cosine of a request and its operation
	mostForeign = .5  // likeness of a foreign operation and a tool
	mostNear    = .7  // the same of a near miss
)

// drawRequests draws n requests that a tool of w serves, as many of operations that were left out, and as many of
// foreign ones, as far as there are so many; and talk. Of unknown operations fewer are drawn: people ask for what is
// common.
func (w *world) drawRequests(all []talk, enc knowledge.Encoder, n int, r *rand.Rand) []request {
	var out []request
	v := make([]float32, enc.Dims)
	draw := func(kind string, from []*operation, most float32) {
		found := 0
		for try := 0; found < n && try < 20*n && len(from) > 0; try++ {
			p := pick(from, r)
			if len(p.requests) == 0 || kind != answerable && !p.known && r.Float64() > .2 {
				continue
			}
			text := pick(p.requests, r)
			if enc.Query(text, v); vector.Dot(v, p.whole) < leastClear || w.has(p, most) {
				continue
			}
			out = append(out, request{kind, text, p})
			found++
		}
	}
	draw(answerable, w.tools, 2)
	draw(nearMiss, w.missing, mostNear)
	draw(foreign, w.foreign, mostForeign)
	for _, t := range all {
		if r.Float64() < .3 {
			out = append(out, request{kind: t.Kind, text: t.Text})
		}
	}
	return out
}

// has reports whether a tool of w is liker to p than most.
func (w *world) has(p *operation, most float32) bool {
	if most >= 1 {
		return false
	}
	for _, t := range w.tools {
		if p.likeness(t) > most {
			return true
		}
	}
	return false
}
