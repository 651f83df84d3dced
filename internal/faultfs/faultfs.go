package faultfs

import (
	"path/filepath"
	"strings"
	"syscall"
)

// Fault is what is done to an operation.
type Fault int

// The faults.
const (
	Fail  Fault = iota // the operation does nothing and returns Plan.Errno
	Short              // a write writes half of its bytes, and from then on the disk is full; other operations fail
	Kill               // the command is killed before it
	// Of a write, half of the bytes are written, then the command is killed; other operations are as with Kill.
	Tear
	// The command is killed before it, and all is lost in the folder that was not synced: what was written to a file
	// since it was last synced, and names made, changed and removed in a folder since that was. With N zero, or larger
	// than the number of operations, that happens after the command has ended.
	Power
	// As Power, but an arbitrary part of what was not synced survives, which Plan.Seed chooses: sectors of files,
	// lengths of files, and the names of some folders. A write may so survive one that came before it.
	PowerPart
)

// String names the fault.
func (f Fault) String() string {
	return [...]string{"fail", "short", "kill", "tear", "power", "power part"}[f]
}

// Plan selects the operation to spoil. A Plan with only a Dir counts operations and spoils none.
type Plan struct {
	Dir   string // absolute, without links: only operations on it and on files in it count
	N     int    // the operation to spoil, from 1; zero for none
	Fault Fault
	Errno syscall.Errno // what Fail returns; zero means ENOSPC
	Seed  uint64        // of what PowerPart leaves
}

// Outcome reports how a command ended.
type Outcome struct {
	Ops    []string // the operations that were counted, for example "fsync tooldex.db"
	Hit    bool     // operation N was reached
	Killed bool     // by a signal, ours or another
	Code   int      // the exit code, if it was not killed
	Stdout []byte
	Stderr []byte
}

// Op returns the operation that was spoiled, "" if there was none. The plan must be the one of the run.
func (o *Outcome) Op(p Plan) string {
	if !o.Hit {
		return ""
	}
	return o.Ops[p.N-1]
}

// inside returns the path relative to dir, "." for dir itself, and false if the path is outside. Both must be clean.
// The mark of the system for a deleted file is ignored.
func inside(dir, path string) (string, bool) {
	path = strings.TrimSuffix(path, " (deleted)")
	if path == dir {
		return ".", true
	}
	rest, ok := strings.CutPrefix(path, dir+string(filepath.Separator))
	return rest, ok
}
