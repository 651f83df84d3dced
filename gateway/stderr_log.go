package gateway

import (
	"slices"
	"sync"
	"time"

	"tooldex/upstream"
)

// stderrLog keeps the last lines that a server printed to stderr, and the events of all its runs. The zero value is
// empty and ready for use, and safe for concurrent use.
type stderrLog struct {
	mu    sync.Mutex
	lines []upstream.LogLine
}

// The bounds of a record: about as much as a person reads, and at most 120 KB. recordLines counts lines, recordLine
// bytes of one.
const (
	recordLines = 300
	recordLine  = 400
)

// addLine appends a line with the current time. The text must be redacted already.
func (r *stderrLog) addLine(from upstream.LogSource, text string) {
	line := upstream.LogLine{Time: time.Now().UTC(), From: from, Text: truncateText(text, recordLine)}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.lines) == recordLines {
		r.lines = slices.Delete(r.lines, 0, 1)
	}
	r.lines = append(r.lines, line)
}

// allLines returns the lines, oldest first. The slice belongs to the caller.
func (r *stderrLog) allLines() []upstream.LogLine {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.lines)
}
