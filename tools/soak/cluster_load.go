package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// searchPatience and changePatience are how long clients wait for an answer.
const (
	searchPatience = 10 * time.Second
	changePatience = 60 * time.Second
)

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
			kind := changeSchedule[n%len(changeSchedule)]
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

// search searches for a tool of a tenant through the balancer, and checks the answer.
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

// countAttempts counts the connections that a request is sent on. Go's client sends one that only reads again, without
// a word, if the kept connection that it chose ends before an answer begins.
func countAttempts(ctx context.Context, n *atomic.Int64) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { n.Add(1) }})
}
