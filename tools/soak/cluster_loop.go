package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// closedLoop is how requests went. Each connection sent the next request when it had the answer to the one before.
type closedLoop struct {
	*count
	took time.Duration
}

// rate is how many were answered in a second.
func (l *closedLoop) rate() float64 { return float64(len(l.times)) / l.took.Seconds() }

// loop asks for figuresTime over so many connections. It first asks for a second that does not count.
func loop(ctx context.Context, connections int, ask func(context.Context) error) (*closedLoop, error) {
	round := func(d time.Duration) (*closedLoop, error) {
		ctx, stop := context.WithTimeout(ctx, d)
		defer stop()
		t := &tally{all: map[string]*count{}}
		begin := time.Now()
		var all sync.WaitGroup
		for range connections {
			all.Go(func() {
				for ctx.Err() == nil {
					t.do(ctx, "search", ask)
				}
			})
		}
		all.Wait()
		if t.all["search"] == nil {
			return nil, fmt.Errorf("no request was answered in %v", d)
		}
		return &closedLoop{t.all["search"], time.Since(begin)}, nil
	}
	if _, err := round(time.Second); err != nil {
		return nil, err
	}
	return round(figuresTime)
}

// longestOpening is how long a server may take to open the tenant: the index of 100,000 tools takes minutes.
const longestOpening = 20 * time.Minute

// search returns a function that sends a server one search after the other, from any number of goroutines.
func (f *figures) search(base string) func(context.Context) error {
	var next atomic.Int64
	return func(ctx context.Context) error {
		q := f.queries[int(next.Add(1))%len(f.queries)]
		status, body, err := fetch(ctx, http.MethodGet, base+"/search?limit=5&q="+url.QueryEscape(q), f.h.token, nil)
		if err == nil && (status != http.StatusOK || !bytes.Contains(body, []byte(`"tools":[`))) {
			err = &refusal{status, string(body)}
		}
		return err
	}
}

// open has a server open the tenant. A server that has to build a large index answers 503 until it has it.
func (f *figures) open(ctx context.Context, base string) error {
	search, limit := f.search(base), time.Now().Add(longestOpening)
	for {
		err := search(ctx)
		var answered *refusal
		if !errors.As(err, &answered) || answered.status != http.StatusServiceUnavailable || time.Now().After(limit) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// count returns how many tools a server has.
func (f *figures) count(ctx context.Context, base string) (n int, err error) {
	for cursor := ""; ; {
		path := "/api/tools?include_disabled=true&limit=1000&cursor=" + url.QueryEscape(cursor)
		status, body, err := fetch(ctx, http.MethodGet, base+path, f.h.token, nil)
		if err == nil && status != http.StatusOK {
			err = &refusal{status, string(body)}
		}
		if err != nil {
			return n, fmt.Errorf("the tools of %s: %w", base, err)
		}
		var page struct {
			Tools      []json.RawMessage
			NextCursor string
		}
		if err := json.Unmarshal(body, &page); err != nil {
			return n, err
		}
		n += len(page.Tools)
		if cursor = page.NextCursor; cursor == "" {
			return n, nil
		}
	}
}
