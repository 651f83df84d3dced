package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"time"

	"tooldex/internal/atomicfile"
	"tooldex/tool"
)

// How long to wait for the lock: lockWait in all, between attempts firstWait at first and mostWait at most. A process
// that holds it writes a few lines and releases it.
const (
	lockWait  = 5 * time.Second
	firstWait = 20 * time.Microsecond
	mostWait  = 2 * time.Millisecond
)

// lockAndVerify locks the directory, and makes sure that the current file is open and ends with the record that the
// head names. The caller holds mu, and unlocks l.head if there is no error.
func (l *Log) lockAndVerify() (h checkpoint, err error) {
	if err := l.lockFile(); err != nil {
		return checkpoint{}, err
	}
	defer func() {
		if err != nil {
			_ = releaseLock(l.head)
		}
	}()
	if err := l.checkFault("read head"); err != nil {
		return checkpoint{}, err
	}
	h, err = readCheckpoint(l.head)
	var rebuilt bool
	// The head is a cache of where the chain ends; the files have all of it.
	if errors.Is(err, errNoHead) {
		if h, rebuilt, err = l.rebuildCheckpoint(); err == nil && !rebuilt {
			err = l.beginHead(h)
		}
	}
	if err != nil {
		return checkpoint{}, err
	}
	size, err := l.openFile(h.File)
	if err != nil {
		return checkpoint{}, err
	}
	// Another process may have written since this one had the lock.
	if err := l.catchUp(&h, size); err != nil {
		return checkpoint{}, err
	}
	if rebuilt {
		// A process that dies leaves a broken head, or an empty one before the second record; later, an empty one is
		// new.
		kind := Resume
		if info, statErr := l.head.Stat(); statErr == nil && info.Size() == 0 && h.Seq > 1 {
			kind = Headless
		}
		err = l.appendRecord(&h, &Record{Kind: kind})
	}
	return h, err
}

// beginHead stores the head of a new chain. It syncs, because an empty head beside records that reached the disk before
// it would look like one that was removed.
func (l *Log) beginHead(h checkpoint) error {
	if err := l.moveCheckpoint(h); err != nil || l.o.Sync == Never {
		return err
	}
	return l.syncNames()
}

// lockFile takes the lock of the directory, and creates the directory if there is none. The caller holds mu, so that
// one goroutine of this process waits at a time, and unlocks l.head. The error is of code Timeout after lockWait.
func (l *Log) lockFile() error {
	deadline := time.Now().Add(lockWait)
	for wait := firstWait; ; wait = min(2*wait, mostWait) {
		if err := l.openCheckpoint(); err != nil {
			return err
		}
		if err := l.checkFault("lock"); err != nil {
			return err
		}
		ok, err := tryLock(l.head)
		if err != nil {
			return fmt.Errorf("lock: %w", err)
		}
		if ok {
			// A lock on a file that was replaced protects nothing, so the name is looked up again.
			if _, ok := l.unchangedSize(l.headInfo, headName); ok {
				return nil
			}
			if err := l.closeFiles(); err != nil { // somebody removed or moved the directory
				return err
			}
			continue
		}
		if time.Now().After(deadline) {
			return &tool.Error{
				Code: tool.Timeout, Op: "audit", Msg: "gave up waiting for the audit log in " + l.o.Dir,
				Hint: "end the process that keeps " + l.filePath(headName) + " locked",
			}
		}
		// Random, so that processes that wait together do not try together.
		time.Sleep(wait/2 + rand.N(wait))
	}
}

// openCheckpoint opens or creates the head file.
func (l *Log) openCheckpoint() error {
	if l.head != nil {
		return nil
	}
	if err := l.checkFault("open head"); err != nil {
		return err
	}
	f, err := os.OpenFile(l.filePath(headName), os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err = atomicfile.MkdirAll(l.o.Dir, 0o700); err == nil {
			f, err = os.OpenFile(l.filePath(headName), os.O_RDWR|os.O_CREATE, 0o600)
		}
	}
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	l.head, l.headInfo = f, info
	return nil
}

// unchangedSize reports whether an open file is still the one of that name, and its size.
func (l *Log) unchangedSize(open fs.FileInfo, name string) (int64, bool) {
	there, err := os.Stat(l.filePath(name))
	if err != nil || !os.SameFile(open, there) {
		return 0, false
	}
	return there.Size(), true
}

// openFile opens the file of that number for appending, unless it is open, and returns its size. The caller has the
// lock.
func (l *Log) openFile(number int) (int64, error) {
	if l.file != nil && l.number == number {
		if size, ok := l.unchangedSize(l.fileInfo, fileName(number)); ok {
			return size, nil
		}
	}
	if err := l.unlockFiles(); err != nil {
		return 0, err
	}
	if err := l.checkFault("open"); err != nil {
		return 0, err
	}
	f, err := os.OpenFile(l.filePath(fileName(number)), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return 0, errors.Join(err, f.Close())
	}
	l.file, l.fileInfo, l.number = f, info, number
	// a new file's name must be synced with its directory
	l.unnamed = l.unnamed || info.Size() == 0
	return info.Size(), nil
}

// unlockFiles syncs and closes the current file.
func (l *Log) unlockFiles() error {
	if l.file == nil {
		return nil
	}
	if l.o.Sync != Never {
		if err := l.checkFault("sync"); err != nil {
			return err
		}
		if err := l.file.Sync(); err != nil {
			return err
		}
	}
	err := l.file.Close()
	l.file = nil
	return err
}

// catchUp moves the head to the end of the file. It takes over records of a process that died before it moved the head,
// and adds a record about bytes that are no whole record, or about a file that became shorter.
func (l *Log) catchUp(h *checkpoint, size int64) error {
	switch {
	case size == h.Size:
		return nil
	case size < h.Size:
		missing := h.Size - size
		h.Size = size
		if err := l.endLine(h); err != nil {
			return err
		}
		return l.appendRecord(h, &Record{Kind: Cut, Torn: &Scrap{At: size, Bytes: missing}})
	}
	if err := l.checkFault("read"); err != nil {
		return err
	}
	rest := make([]byte, size-h.Size)
	if _, err := l.file.ReadAt(rest, h.Size); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	for {
		// A record belongs to the chain if it is whole, has the next number and the hash of the one before.
		text, _, whole := bytes.Cut(rest, []byte("\n"))
		r, err := Decode(text)
		if !whole || err != nil || r.Seq != h.Seq+1 || r.Prev != h.Hash {
			break
		}
		rest = rest[len(text)+1:]
		if h.Size == 0 {
			h.Begun = r.Time
		}
		h.Seq, h.Hash, h.Size = r.Seq, r.Hash, h.Size+int64(len(text))+1
	}
	if len(rest) == 0 {
		return l.writeCheckpoint(*h)
	}
	// The bytes stay in the file: nothing that was written is ever removed. The record after them has their hash, so
	// that Verify can tell them from an insertion.
	scrap := &Scrap{At: h.Size, Bytes: int64(len(rest)), Hash: hashOf(rest)}
	h.Size = size
	if err := l.endLine(h); err != nil {
		return err
	}
	return l.appendRecord(h, &Record{Kind: Torn, Torn: scrap})
}

// endLine adds a line feed to a line that has none.
func (l *Log) endLine(h *checkpoint) error {
	last := make([]byte, 1)
	if h.Size > 0 {
		if _, err := l.file.ReadAt(last, h.Size-1); err != nil {
			return err
		}
	}
	if h.Size == 0 || last[0] == '\n' {
		return nil
	}
	if err := l.writeTo(l.file, "write", []byte("\n")); err != nil {
		return err
	}
	h.Size++
	return nil
}

// rebuildCheckpoint computes the checkpoint from the files. It reports false if there are none. It does not check the
// chain, which Verify does.
func (l *Log) rebuildCheckpoint() (checkpoint, bool, error) {
	fresh := checkpoint{Anchor: Anchor{Hash: zeroHash}, Base: Anchor{Hash: zeroHash}, File: 1}
	if err := l.checkFault("list"); err != nil {
		return checkpoint{}, false, err
	}
	numbers, err := listFiles(l.o.Dir)
	if err != nil || len(numbers) == 0 {
		return fresh, false, err
	}
	h := fresh
	for i, number := range numbers {
		// The last whole record of the last file is where the chain ends.
		h.File, h.Size, h.Begun = number, 0, time.Time{}
		_, err := eachLine(l.filePath(fileName(number)), 0, -1, func(line line) error {
			r, err := Decode(line.text)
			if err != nil || !line.hasEnd() {
				return nil
			}
			if i == 0 && h.Size == 0 {
				h.Base = Anchor{r.Seq - 1, r.Prev}
			}
			if h.Size == 0 {
				h.Begun = r.Time
			}
			h.Anchor, h.Size = Anchor{r.Seq, r.Hash}, line.at+int64(len(line.text))
			return nil
		})
		if err != nil {
			return checkpoint{}, false, err
		}
	}
	return h, true, nil
}
