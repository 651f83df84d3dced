package search

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"tooldex/embed"
	"tooldex/index"
	"tooldex/internal/sanitize"
	"tooldex/knowledge"
	"tooldex/tool"
	"tooldex/upstream"
	"tooldex/validate"
)

// Lookup returns the snapshot to search: the latest, or nil while there is none. *index.Index implements it.
type Lookup interface{ Current() *index.Snapshot }

// Options configure an Engine. Only Lookup is needed.
type Options struct {
	Lookup   Lookup
	Embedder embed.Embedder // makes query vectors; nil searches by words alone
	// Fallback makes query vectors while the index holds vectors of its model and not yet of Embedder's. With a
	// Fallback, an index whose vectors are of neither is searched by words alone.
	Fallback embed.Embedder
	Base     *knowledge.Base
	// Map encodes requests for the archetypes of Base, with the model that Base was compiled with; its zero value
	// leaves the archetypes out of the decision whether a tool fits.
	Map knowledge.Encoder
	// Usage and Servers decide which of several servers' copies of one tool is shown first. Both may be nil.
	Usage   Usage
	Servers Servers
	// Learned lifts the tools that use has shown to serve requests like the one that is ranked; nil lifts none.
	Learned Learned
}

// Usage measures how much a tool is used, in any unit that the tools of one catalogue share. It must be quick: it is
// asked for each of the copies of a tool that is found. It is safe for concurrent use.
type Usage interface{ Uses(id tool.ID) float64 }

// Servers reports the state of the servers, in any order. It is asked at most once a search, and must be quick. It is
// safe for concurrent use.
type Servers interface{ Status() []upstream.Status }

// Engine answers queries; it implements tool.Searcher.
type Engine struct {
	o Options
	// of *scratch; a search has one for itself
	scratch sync.Pool
	facts   atomic.Pointer[setFacts] // of the set that was searched last
}

// New returns an Engine, which is ready as soon as Lookup has a snapshot.
func New(o Options) *Engine {
	e := &Engine{o: o}
	e.scratch.New = func() any { return new(scratch) }
	return e
}

// maxQuery bounds the bytes of a request that are read: more than any request needs, less than any text pasted by
// mistake.
const maxQuery = 4000

// Search ranks the tools for q. It returns an Invalid error for a query without text, with too many needs, of an
// unknown mode, or whose filter names a server or category without tools, Unavailable while no index is loaded, and
// Timeout when ctx ends first.
func (e *Engine) Search(ctx context.Context, q tool.Query) (*tool.Result, error) {
	res, err := e.searchSnapshot(ctx, q)
	if err == nil {
		e.markFailed(res)
	}
	return res, err
}

// searchSnapshot answers q from the index as it is now: one ranking for one need, several rankings merged into groups
// for several needs or for a request that splits into parts.
func (e *Engine) searchSnapshot(ctx context.Context, q tool.Query) (*tool.Result, error) {
	needs, err := readNeeds(&q)
	if err != nil {
		return nil, err
	}
	// One snapshot serves the whole search, so that a change of the catalogue in between cannot mix two states.
	snap := e.o.Lookup.Current()
	if snap == nil {
		return nil, &tool.Error{
			Code: tool.Unavailable, Op: "search", Msg: "the catalogue is still being read",
			Hint: "try again in a moment",
		}
	}
	mayNameUnread := func(name string) bool { return e.mayNameUnread(name, &q.Filter) }
	if err := validate.FilterNames(snap.Set(), &q.Filter, mayNameUnread); err != nil {
		return nil, err
	}
	s := e.scratch.Get().(*scratch)
	defer e.scratch.Put(s)
	s.resizeFor(snap.Len())
	s.markAllowed(e.factsOf(snap.Set()), &q.Filter)
	// Without limits on the caller every tool is permitted, which needs no list.
	if q.Filter.Allow != nil {
		s.markPermitted(snap.Set(), q.Filter.Allow)
	}
	if len(needs) > 1 {
		a := request{snap: snap, query: &q}
		each, err := e.rankEach(ctx, a, needs, s)
		if err != nil {
			return nil, err
		}
		return groupResult(a, needs, each, s), nil
	}
	a := request{snap: snap, query: &q, text: needs[0]}
	// The whole request is ranked in any case: its parts may turn out to be one tool's work, and its scores are mixed
	// into theirs.
	parts := e.splitRequest(a.text, &s.analyzer)
	var some []string
	if parts == nil && q.Limit > clauseFrom && e.o.Base != nil {
		some = splitClauses(a.text, &s.analyzer)
	}
	a.keepScores = len(parts)+len(some) > 0
	whole, err := e.rankTools(ctx, a, s)
	if err != nil {
		return nil, err
	}
	a.whole = whole
	if parts != nil {
		each, err := e.rankEach(ctx, a, parts, s)
		if err != nil {
			return nil, err
		}
		if !whole.isOneTool(each) {
			return groupResult(a, parts, each, s), nil
		}
	}
	places, err := e.insertClauses(ctx, a, some, s)
	if err != nil {
		return nil, err
	}
	r := &tool.Result{
		Query: a.text, Tools: describeHits(snap, places, q.Detail), Confident: whole.isConfident,
		Advice: whole.advice, Degraded: whole.degraded,
	}
	r.Tokens = countTokens(r.Tools)
	return r, nil
}

// readNeeds fills in the defaults of a valid query and returns its needs, normalised and without empty ones. It returns
// an Invalid error if nothing remains to search for.
func readNeeds(q *tool.Query) ([]string, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	texts := q.Texts
	if len(texts) == 0 {
		texts = []string{q.Text}
	}
	needs := make([]string, 0, len(texts))
	for _, t := range texts {
		if t = normalizeText(strings.Join(
			strings.Fields(strings.ToValidUTF8(sanitize.Cut(t, maxQuery), " ")), " ",
		)); t != "" {
			needs = append(needs, t)
		}
	}
	if len(needs) == 0 { // quotes with nothing between them
		return nil, new(tool.Query).Validate()
	}
	q.Limit = min(cmp.Or(q.Limit, tool.DefaultLimit), tool.MaxLimit)
	q.Mode = cmp.Or(q.Mode, tool.Hybrid)
	q.Detail = cmp.Or(q.Detail, tool.DetailSummary)
	return needs, nil
}

// wraps are the quotes and brackets that may stand around a whole request, the first of each before it.
var wraps = []string{`""`, "''", "``", "“”", "„“", "«»", "‘’", "()", "[]"}

// normalizeText returns a request without the quotes or brackets around all of it, and not shouted: capitals alone say
// nothing.
func normalizeText(text string) string {
	for _, w := range wraps {
		_, size := utf8.DecodeRuneInString(w)
		inner, opened := strings.CutPrefix(text, w[:size])
		inner, closed := strings.CutSuffix(inner, w[size:])
		if opened && closed && !strings.Contains(inner, w[size:]) {
			text = strings.TrimSpace(inner)
			break
		}
	}
	if strings.Contains(text, " ") && strings.IndexFunc(text, unicode.IsLower) < 0 {
		return strings.ToLower(text)
	}
	return text
}

// embedQuery returns the vector of text, or nil and the reason for the answer's Degraded. The only error is Timeout: a
// model that fails costs the answer its meaning scores, not the answer.
func (e *Engine) embedQuery(ctx context.Context, snap *index.Snapshot, text string) (vector []float32, degraded string,
	err error,
) {
	if e.o.Embedder == nil {
		return nil, "no embedding model: searched by words only", nil
	}
	if snap.Len() == 0 {
		return nil, "", nil // nothing to be like
	}
	by := e.queryEmbedder(snap)
	if by == nil {
		return nil, "the catalogue is not embedded with this model yet: searched by words only", nil
	}
	vs, err := by.Queries(ctx, []string{text})
	switch {
	case ctx.Err() != nil:
		return nil, "", timeoutError(ctx)
	case err != nil:
		return nil, "the embedding model did not answer: searched by words only", nil
	// The model has changed, and the catalogue is being embedded again.
	case len(vs) != 1 || len(vs[0]) != snap.Dims():
		return nil, "the catalogue is not embedded with this model yet: searched by words only", nil
	}
	return vs[0], "", nil
}

// queryEmbedder returns the embedder whose vectors snap holds, or nil. Without a Fallback it is always Embedder, and
// embedQuery notices another width.
func (e *Engine) queryEmbedder(snap *index.Snapshot) embed.Embedder {
	switch {
	case e.o.Fallback == nil:
		return e.o.Embedder
	case snap.Dims() == 0:
		return nil
	case e.o.Embedder.Model().Fingerprint == snap.Model():
		return e.o.Embedder
	case e.o.Fallback.Model().Fingerprint == snap.Model():
		return e.o.Fallback
	}
	return nil
}

// timeoutError returns the Timeout error of a search whose context has ended.
func timeoutError(ctx context.Context) error {
	code, msg := tool.Timeout, "the search took too long"
	if errors.Is(ctx.Err(), context.Canceled) {
		msg = "the search was cancelled"
	}
	return &tool.Error{Code: code, Op: "search", Msg: msg, Err: ctx.Err()}
}

// leastRelated is the cosine below which two tools are not reported as related.
const leastRelated = .45

// Related returns the enabled tools that are nearest to a tool in meaning, at most n, nearest first. A tool that is not
// in the index, or has no vector, has none. The error is Timeout when ctx ends first.
func (e *Engine) Related(ctx context.Context, id tool.ID, n int) ([]tool.ID, error) {
	snap := e.o.Lookup.Current()
	if snap == nil {
		return nil, nil
	}
	place := snap.Set().Spelled(string(id))
	if len(place) != 1 {
		return nil, nil
	}
	near, err := snap.Neighbours(ctx, place[0], n)
	if err != nil {
		return nil, err
	}
	var out []tool.ID
	for _, d := range near {
		if t := snap.Set().All()[d.Doc]; !t.Disabled && d.Cosine >= leastRelated {
			out = append(out, t.ID())
		}
	}
	return out, nil
}

// mayNameUnread reports whether name is a configured server without known tools, some of which Allow would show. The
// advice reports on it.
func (e *Engine) mayNameUnread(name string, f *tool.Filter) bool {
	if e.o.Servers == nil || f.Allow != nil && !f.Allow(&tool.Tool{Server: name}) {
		return false
	}
	for _, st := range e.o.Servers.Status() {
		if st.Server == name {
			return true
		}
	}
	return false
}
