package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// Filter chooses records. A field that is empty excludes nothing.
type Filter struct {
	Since     time.Time // the first time
	Tool      string    // server/name, with * for any part of a name
	Outcome   Outcome
	Kind      Kind
	Client    string // the program, or the owner of the token
	Arguments string // the keyed hash of the arguments: Log.Fingerprint
}

// Check returns why the pattern of the tool cannot be used, nil if it can.
func (f *Filter) Check() error {
	_, err := path.Match(f.Tool, "")
	return err
}

// Matches reports whether a record passes. No record passes a Filter that Check refuses.
func (f *Filter) Matches(r *Record) bool {
	named, _ := path.Match(f.Tool, string(r.Tool))
	return (f.Since.IsZero() || !r.Time.Before(f.Since)) &&
		(f.Tool == "" || named) &&
		(f.Outcome == "" || r.Outcome == f.Outcome) &&
		(f.Kind == "" || r.Kind == f.Kind) &&
		(f.Client == "" || r.Who.Client == f.Client || r.Who.Principal == f.Client) &&
		(f.Arguments == "" || r.Arguments == f.Arguments)
}

// blockSize is how many bytes Recent reads at once.
const blockSize = 64 << 10

// Recent returns the last records in a directory that pass the filter, at most so many, oldest first, and the Seq of
// the last record of all. It reads from the end and stops at the record with the Seq after, so that following a log is
// cheap. It skips lines that are no records; [Verify] reports those.
func Recent(dir string, f Filter, most int, after uint64) (out []Record, last uint64, err error) {
	numbers, err := listFiles(dir)
	if err != nil {
		return nil, 0, fmt.Errorf("read audit log: %w", err)
	}
	for _, number := range slices.Backward(numbers) {
		done, err := eachLineBackward(filepath.Join(dir, fileName(number)), func(text []byte) bool {
			r, err := Decode(text)
			if err != nil {
				return true
			}
			last = max(last, r.Seq)
			if r.Seq <= after {
				return false
			}
			if f.Matches(&r) {
				out = append(out, r)
			}
			return len(out) < most
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // it was removed meanwhile
			return nil, 0, fmt.Errorf("read audit log: %w", err)
		}
		if done {
			break
		}
	}
	slices.Reverse(out)
	return out, last, nil
}

// eachLineBackward calls do with the whole lines of a file, the last first, until do returns false, and reports whether
// it did. What follows the last line feed may still be being written, and is left out.
func eachLineBackward(file string, do func([]byte) bool) (stopped bool, err error) {
	in, err := os.Open(file)
	if err != nil {
		return false, err
	}
	defer func() { _ = in.Close() }() // only read
	info, err := in.Stat()
	if err != nil {
		return false, err
	}
	var rest []byte // the beginning of a line, whose end was read before it
	whole := false  // rest ends with a line feed
	for at := info.Size(); at > 0; {
		n := min(at, blockSize)
		at -= n
		block := make([]byte, n, int(n)+len(rest))
		if _, err := in.ReadAt(block, at); err != nil {
			return false, err
		}
		rest = append(block, rest...)
		for {
			end := len(rest)
			if whole {
				end-- // its own line feed
			}
			i := bytes.LastIndexByte(rest[:end], '\n')
			if i < 0 {
				break
			}
			if text := rest[i+1:]; whole && !do(text) {
				return true, nil
			}
			rest, whole = rest[:i+1], true
		}
	}
	return whole && len(rest) > 0 && !do(rest), nil
}
