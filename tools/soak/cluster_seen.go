package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// seen is how long after the acknowledgement of a change other replicas answered with it.
type seen struct {
	what    string
	changes int
	count   // one time for each change and replica
}

// How changes are watched: so many, with a pause between them, for so long at most.
const (
	seenChanges = 50
	seenPause   = 100 * time.Millisecond
	seenTime    = 20 * time.Second
	seenWithin  = 30 * time.Second
)

// watch makes changes one by one and asks the replicas until they answer with them.
func (c *cluster) watch(ctx context.Context, f *figures) error {
	p := f.h.profiles[0]
	write := func(ctx context.Context, n int) error {
		status, body, err := fetch(ctx, http.MethodPut, c.replicas[0].base+p.preferences(), p.token,
			map[string]any{"tokenThreshold": n})
		if err == nil && status != http.StatusOK {
			err = &refusal{status, string(body)}
		}
		return err
	}
	read := func(ctx context.Context, base string) (string, error) {
		return value(ctx, base, p.preferences(), p.token, tokenThreshold)
	}
	if err := c.watchOne(ctx, "a preference, set through the first replica", c.replicas[1:], write, read); err != nil {
		return err
	}
	server := "news-" + f.h.mark
	write = func(ctx context.Context, n int) error {
		return c.changeBy(ctx, f.h, "import",
			c.peekDump(server, n, fmt.Sprintf("Read what %s keeps, form %d", f.h.mark, n)))
	}
	return c.watchOne(ctx, "a tool, imported by the command", c.replicas, write, described(f.h, server+"/peek"))
}

// watchOne makes changes of one kind. Write makes change n, and read returns the number of the change that a replica
// answers with.
func (c *cluster) watchOne(ctx context.Context, what string, others []*replica, write func(context.Context, int) error,
	read func(context.Context, string) (string, error),
) error {
	s := &seen{what: what}
	c.figures.seen = append(c.figures.seen, s)
	for end := time.Now().Add(seenTime); s.changes < seenChanges && time.Now().Before(end) && pause(ctx, seenPause); {
		s.changes++
		if err := write(ctx, s.changes); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		acknowledged := time.Now()
		took, errs := make([]time.Duration, len(others)), make([]error, len(others))
		var all sync.WaitGroup
		for i, r := range others {
			all.Go(func() {
				want, got := strconv.Itoa(s.changes), ""
				for ; got != want && errs[i] == nil; pause(ctx, time.Millisecond) {
					got, errs[i] = read(ctx, r.base)
					took[i] = time.Since(acknowledged)
					if took[i] > seenWithin && errs[i] == nil {
						errs[i] = fmt.Errorf("%v after change %s it still answers %q", seenWithin, want, got)
					}
				}
			})
		}
		all.Wait()
		for i, err := range errs {
			if err != nil {
				return fmt.Errorf("%s, replica %d: %w", what, others[i].number, err)
			}
		}
		s.times = append(s.times, took...)
	}
	return ctx.Err()
}
