package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"
)

// progress reports on work that takes longer than a second: on a terminal in one line that is overwritten, elsewhere in
// the log at level info. It is safe for concurrent use.
type progress struct {
	w        io.Writer
	log      *slog.Logger
	terminal bool

	mu      sync.Mutex
	start   time.Time
	last    time.Time // of the last report, or the start
	written bool      // a report stands on the terminal's line
}

// patience is the time before the first report and between two in the log. Terminals are updated ten times as often.
const patience = time.Second

func (a *app) newProgress() *progress {
	now := time.Now()
	return &progress{w: a.stderr, log: a.log, terminal: isTerminal(a.stderr), start: now, last: now}
}

// update shows how far the work is: first after a second, then once a second in the log, or ten times on a terminal. It
// is safe for concurrent use.
func (p *progress) update(what string, done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	pause := patience
	if p.written && p.terminal {
		pause = patience / 10
	}
	if time.Since(p.last) < pause {
		return
	}
	p.last, p.written = time.Now(), true
	rate, left := pace(done, total, time.Since(p.start))
	if !p.terminal {
		p.log.Log(context.Background(), slog.LevelInfo, what, "done", done, "of", total, "per second", rate, "left", left)
		return
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s: %d of %d, %.0f a second, %v left", what, done, total, rate, left)
	if done >= total {
		p.clear()
	}
}

// pace returns how many steps were done a second, and how long the others take at that rate.
func pace(done, total int, took time.Duration) (rate float64, left time.Duration) {
	if done <= 0 || took <= 0 {
		return 0, 0
	}
	rate = float64(done) / took.Seconds()
	return rate, time.Duration(float64(total-done) / rate * float64(time.Second)).Round(time.Second)
}

// clearLine clears the line on the terminal. It may be called more than once.
func (p *progress) clearLine() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

func (p *progress) clear() {
	if p.written && p.terminal {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
	p.written = false
}
