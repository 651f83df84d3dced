package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"tooldex/tool"
)

// anchorSize is the size of an anchor file in bytes, so that each write replaces the whole of the one before.
const anchorSize = 128

// noteAnchor writes the last record's anchor to the file that Options.Anchor names. The record is in the log already, so
// a failure is only logged, once until it works again. The directory is locked.
func (l *Log) noteAnchor(a Anchor) {
	if l.o.Anchor == "" {
		return
	}
	err := writeAnchor(l.o.Anchor, a)
	if err != nil && !l.anchorLost {
		l.o.Logger.Warn("the anchor of the audit log cannot be written", "file", l.o.Anchor, "error", err)
	}
	l.anchorLost = err != nil
}

// writeAnchor writes an anchor to a file in one write. The file may be on another machine's disk, whose folders must
// exist.
func writeAnchor(path string, a Anchor) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%-*s\n", anchorSize-1, a)
	return errors.Join(err, f.Close())
}

// ReadAnchor reads the file that a Log with Options.Anchor writes. It returns false for a file that does not exist yet.
// The error is Invalid for a file that holds no anchor.
func ReadAnchor(path string) (a Anchor, written bool, err error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Anchor{}, false, nil
	}
	if err == nil {
		a, err = ParseAnchor(strings.TrimSpace(string(b)))
	}
	if err != nil {
		return Anchor{}, false, &tool.Error{
			Code: tool.Invalid, Op: "audit", Msg: "the anchor file " + path + " cannot be read",
			Hint: "see who has changed it: it holds the number and hash of the last record", Err: err,
		}
	}
	return a, true, nil
}
