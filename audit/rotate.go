package audit

import (
	"os"
)

// rotateFiles continues the chain in a new file, and removes files beyond MaxFiles. The caller has the lock.
//
// The new file exists before the head names it, and the head records what is removed before it is gone: wherever a
// process dies, the next one finds a chain that it can continue.
func (l *Log) rotateFiles(h *checkpoint) error {
	if err := l.checkFault("list"); err != nil {
		return err
	}
	numbers, err := listFiles(l.o.Dir)
	if err != nil {
		return err
	}
	next := *h
	next.Size = 0
	for next.File++; ; next.File++ { // past files that somebody created there
		size, err := l.openFile(next.File)
		if err != nil {
			return err
		}
		if size == 0 {
			break
		}
	}
	if err := l.moveCheckpoint(next); err != nil {
		return err
	}
	*h = next
	if err := l.removeOld(h, append(numbers, next.File)); err != nil {
		l.o.Logger.Warn("old files of the audit log could not be removed", "dir", l.o.Dir, "error", err)
	}
	return nil
}

// moveCheckpoint stores a head with another file or another base. It syncs, because unlike a head that only advances,
// this one cannot be recovered from the records after the previous one. The names of files come first, so that the head
// on the disk names no record of a file that the disk does not have.
func (l *Log) moveCheckpoint(h checkpoint) error {
	if l.o.Sync == Never {
		return l.writeCheckpoint(h)
	}
	if l.unnamed {
		if err := l.syncNames(); err != nil {
			return err
		}
		l.unnamed = false
	}
	if err := l.writeCheckpoint(h); err != nil {
		return err
	}
	if err := l.checkFault("sync head"); err != nil {
		return err
	}
	return l.head.Sync()
}

// removeOld removes the oldest files beyond MaxFiles. The last of numbers is the new, empty one. The head gets the new
// base first, so that files which a dying process leaves behind count as removed.
func (l *Log) removeOld(h *checkpoint, numbers []int) error {
	if len(numbers) <= l.o.MaxFiles {
		return nil
	}
	old, kept := numbers[:len(numbers)-l.o.MaxFiles], numbers[len(numbers)-l.o.MaxFiles:]
	moved := *h
	moved.Base = h.Anchor
	if kept[0] != h.File {
		first, err := firstRecord(l.filePath(fileName(kept[0])))
		if err != nil {
			return err
		}
		moved.Base = Anchor{first.Seq - 1, first.Prev}
	}
	if err := l.moveCheckpoint(moved); err != nil {
		return err
	}
	*h = moved
	for _, number := range old {
		if err := l.checkFault("remove"); err != nil {
			return err
		}
		if err := os.Remove(l.filePath(fileName(number))); err != nil {
			return err
		}
	}
	return nil
}
