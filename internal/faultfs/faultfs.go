package faultfs

import (
	"path/filepath"
	"strings"
	"syscall"
)

// Fault is what happens to an operation.
type Fault int

// The faults.
const (
	Fail  Fault = iota // it does nothing and returns the error
	Short              // a write writes half of its bytes, and from then on the disk is full; other operations fail
	Kill               // the command is killed before it
	// a write writes half of its bytes, then the command is killed; before other operations it is killed
	Tear
)

// String names the fault.
func (f Fault) String() string { return [...]string{"fail", "short", "kill", "tear"}[f] }

// Plan says what is to happen to a command. The zero Plan of a folder only counts.
type Plan struct {
	Dir   string // operations on what lies in it count; where it is a link, give what it points to
	N     int    // the operation to spoil, from 1; zero for none
	Fault Fault
	Errno syscall.Errno // what Fail returns; zero means ENOSPC
}

// Outcome is what became of a command.
type Outcome struct {
	Ops    []string // the operations that were counted, for example "fsync tooldex.db"
	Hit    bool     // the n-th was reached
	Killed bool     // by a signal, ours or another
	Code   int      // the exit code, if it was not killed
	Stdout []byte
	Stderr []byte
}

// Op names the operation that was spoiled, "" if there was none.
func (o *Outcome) Op(p Plan) string {
	if !o.Hit {
		return ""
	}
	return o.Ops[p.N-1]
}

// inside returns the name of path in dir, and false if it does not lie there.
func inside(dir, path string) (string, bool) {
	path = strings.TrimSuffix(path, " (deleted)")
	if path == dir {
		return ".", true
	}
	rest, ok := strings.CutPrefix(path, dir+string(filepath.Separator))
	return rest, ok
}
