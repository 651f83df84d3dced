package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// searchPatience and changePatience are how long clients wait for an answer.
const (
	searchPatience = 10 * time.Second
	changePatience = 60 * time.Second
)

// aMark finds the marks of tenants in a text.
var aMark = regexp.MustCompile(`qz[a-z]+?qz`)

// foreign returns a mark of another tenant in a text, or "".
func (h *holder) foreign(text []byte) string {
	for _, m := range aMark.FindAll(text, -1) {
		if string(m) != h.mark {
			return string(m)
		}
	}
	return ""
}

// failed is a search without a good answer.
type failed struct {
	begin, end time.Time
	why        string
	broken     bool // the connection broke, or the balancer says that its did
}

// events keeps what failed and what was done when. It is safe for concurrent use.
type events struct {
	begin    time.Time
	inFlight atomic.Int64 // searches

	mu       sync.Mutex // guards the following
	searches int        // that were answered
	failures []failed
	repeated []failed // attempts of searches that got no answer, after which the client sent the search again
	leaks    []string
	kills    []kill
	faults   []happened
	cut      []failed  // changes that were neither acknowledged nor refused
	lastAck  time.Time // of a change
	wrong    []string  // what else may not be
}

// kill is one of a replica. What was in flight then may fail.
type kill struct {
	from, to time.Time
	inFlight int64 // searches, when it began and while it lasted
}

// happened is what was done to the cluster, and what came of it.
type happened struct {
	at    time.Duration
	what  string
	after string
}

// note adds a line to what happened.
func (e *events) note(what, after string, args ...any) {
	one := happened{time.Since(e.begin), what, fmt.Sprintf(after, args...)}
	says("%s: %s", one.what, one.after)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.faults = append(e.faults, one)
}

// load sends searches and changes at a steady pace until ctx ends, whether they are answered or not, and returns when
// all have been.
func (c *cluster) load(ctx context.Context) {
	var all sync.WaitGroup
	c.events.begin = time.Now()
	all.Go(func() {
		every(ctx, time.Second/searchRate, func() { all.Go(c.search) })
	})
	all.Go(func() {
		n := 0
		every(ctx, time.Second/changeRate, func() {
			kind := changeTurns[n%len(changeTurns)]
			n++
			all.Go(func() { c.change(kind) })
		})
	})
	all.Wait()
}

// every calls do at a steady pace until ctx ends. It makes up for turns that it missed.
func every(ctx context.Context, d time.Duration, do func()) {
	for next := time.Now(); pause(ctx, time.Until(next)); next = next.Add(d) {
		do()
	}
}

// search asks for a tool of a tenant by way of the balancer, and looks at the answer.
func (c *cluster) search() {
	ctx, cancel := context.WithTimeout(context.Background(), searchPatience)
	defer cancel()
	h := c.people[rand.IntN(len(c.people))]
	path := "/search?limit=5&q=" + url.QueryEscape(requests[rand.IntN(len(requests))])
	e := c.events
	var attempts atomic.Int64
	begin := time.Now()
	e.inFlight.Add(1)
	status, body, err := fetch(countAttempts(ctx, &attempts), http.MethodGet, c.base+path, h.token, nil)
	end := time.Now()
	e.inFlight.Add(-1)
	why := ""
	switch {
	case err != nil:
		why = err.Error()
	case status != http.StatusOK || !bytes.Contains(body, []byte(`"tools":[`)) || !bytes.Contains(body, []byte(h.mark)):
		why = fmt.Sprintf("for %s: status %d: %.300s", h.tenant, status, body)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for range attempts.Load() - 1 {
		e.repeated = append(e.repeated, failed{begin, end, "a kept connection ended without an answer", true})
	}
	if leak := h.foreign(body); leak != "" {
		e.leaks = append(e.leaks, fmt.Sprintf("a search of %s shows %s: %.300s", h.tenant, leak, body))
	}
	if why != "" {
		e.failures = append(e.failures, failed{begin, end, why, err != nil || status == http.StatusBadGateway})
		return
	}
	e.searches++
	c.tally.add("search", end.Sub(begin))
}

// killReplica kills a replica, and notes how many searches were in flight.
func (c *cluster) killReplica(r *replica) {
	k := kill{from: time.Now(), inFlight: c.events.inFlight.Load()}
	r.kill()
	k.to = time.Now()
	k.inFlight = max(k.inFlight, c.events.inFlight.Load())
	c.events.mu.Lock()
	defer c.events.mu.Unlock()
	c.events.kills = append(c.events.kills, k)
}

// unexplained returns the searches that failed though they were not in flight on a replica when it was killed, and how
// many were.
func (e *events) unexplained() (bad []failed, explained int) {
	for _, f := range e.failures {
		if e.byKill(f) {
			explained++
		} else {
			bad = append(bad, f)
		}
	}
	return bad, explained
}

// byKill reports whether a replica was killed while something that broke was in flight.
func (e *events) byKill(f failed) bool {
	return f.broken && slices.ContainsFunc(e.kills, func(k kill) bool { return f.begin.Before(k.to) && f.end.After(k.from) })
}

// countAttempts counts the connections that a request is sent on. Go's client sends one that only reads again, without
// a word, if the kept connection that it chose ends before an answer begins.
func countAttempts(ctx context.Context, n *atomic.Int64) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { n.Add(1) }})
}

// inFlightAtKills returns how many searches were in flight when replicas were killed.
func (e *events) inFlightAtKills() (n int64) {
	for _, k := range e.kills {
		n += k.inFlight
	}
	return n
}
