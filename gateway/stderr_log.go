package gateway

import (
	"slices"
	"sync"
	"time"

	"tooldex/upstream"
)

// stderrLog keeps the last lines of what a server prints to stderr and of what happened to it, through all of its runs.
type stderrLog struct {
	mu    sync.Mutex
	lines []upstream.LogLine
}

// The bounds of a record: about as much as a person reads, and never more than 120 KB.
const (
	recordLines = 300
	recordLine  = 400
)

func (r *stderrLog) add(from upstream.LogSource, text string) {
	line := upstream.LogLine{Time: time.Now().UTC(), From: from, Text: truncate(text, recordLine)}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.lines) == recordLines {
		r.lines = slices.Delete(r.lines, 0, 1)
	}
	r.lines = append(r.lines, line)
}

func (r *stderrLog) all() []upstream.LogLine {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.lines)
}
