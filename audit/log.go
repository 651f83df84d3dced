package audit

import (
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"tooldex/internal/atomicfile"
	"tooldex/tool"
)

// Sync says when records are forced to the disk, so that they survive a power failure.
type Sync string

// The values of Sync.
const (
	Soon  Sync = "soon"  // within a second, and no call waits for it; the default
	Each  Sync = "each"  // before the answer of the call is passed on
	Never Sync = "never" // when the system does so by itself
)

// Options configures a Log. Dir is required; the zero value of the rest works.
type Options struct {
	// Dir holds the files. It is created with the first record.
	Dir string
	// Catalog is read to record which definition of a tool was called; with nil none is recorded.
	Catalog tool.Catalog
	// Required refuses calls that cannot be recorded. Otherwise they are made.
	Required bool
	// Arguments keeps the arguments of calls too, up to 16 KiB each. They may contain secrets.
	Arguments bool
	// Anchor is a file outside of Dir that gets the number and hash of each record, so that a removed end shows; "" for
	// none. The file must lie where those who may write to Dir cannot.
	Anchor string
	// Syslog is a syslog server that gets the number and hash of the last record, at most once a second: local for the
	// system's, or an address as CheckSyslog takes it; "" for none.
	Syslog string
	// Sync is when records are forced to the disk; "" means Soon.
	Sync Sync
	// A file is full when it has MaxSize bytes (zero means 10 MB) or is older than MaxAge (zero means thirty days).
	// MaxFiles are kept, including the current one (zero means five).
	MaxSize  int64
	MaxAge   time.Duration
	MaxFiles int
	// Logger receives a line when records cannot be written, and when they can again; nil means no log.
	Logger *slog.Logger
}

// withDefaults returns o with its defaults filled in.
func (o Options) withDefaults() Options {
	if o.Sync == "" {
		o.Sync = Soon
	}
	if o.MaxSize <= 0 {
		o.MaxSize = 10_000_000
	}
	if o.MaxAge <= 0 {
		o.MaxAge = 30 * 24 * time.Hour
	}
	if o.MaxFiles <= 0 {
		o.MaxFiles = 5
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Log writes records. It is safe for concurrent use by goroutines and, through Logs of the same directory, by
// processes. A nil Log records nothing.
type Log struct {
	o    Options
	defs definitions
	// fault, set only by tests, is called before each operation on files. It returns how much of b is written, and the
	// error of the operation.
	fault func(op string, b []byte) ([]byte, error)

	mu         sync.Mutex    // guards what follows; held while the directory is locked
	anchorLost bool          // the anchor could not be written
	syslog     *syslogSender // nil before the first record

	head   *os.File
	file   *os.File // the current file; nil if none is open
	number int      // of file
	// State of the head and of file when they were opened.
	headInfo, fileInfo fs.FileInfo
	salt               []byte
	// lost counts the records that could not be written since the last that could.
	lost int
	// failing is why the last record could not be written.
	failing error
	wrote   uint64      // lines by this Log
	timer   *time.Timer // of syncSoon; nil while none is scheduled
	closed  bool

	// syncing is held during a sync, without mu, so that records can be written meanwhile.
	syncing sync.Mutex
	synced  uint64 // of wrote; guarded by syncing
	unnamed bool   // a file was made whose name may not be on the disk; guarded by mu
}

// New returns a Log. It touches no file before there is something to record.
func New(o Options) *Log { return &Log{o: o.withDefaults()} }

// Err returns why the last record could not be written, or nil. It is nil for a nil Log.
func (l *Log) Err() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failing
}

// Required reports whether calls that cannot be recorded are refused.
func (l *Log) Required() bool { return l != nil && l.o.Required }

// Probe returns why records cannot be written, or nil if they can. It writes none.
func (l *Log) Probe() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := os.Stat(l.o.Dir); errors.Is(err, fs.ErrNotExist) {
		return nil // nothing exists yet, and the directory is created when it is needed
	}
	if _, err := l.lockAndVerify(); err != nil {
		return l.explainError(err)
	}
	return releaseLock(l.head)
}

// Close forces what was written to the disk, and closes the files. A Log must not be used after that.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	var err error
	if l.o.Sync != Never {
		err = l.syncWritten()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.syslog != nil {
		l.syslog.close()
		l.syslog = nil
	}
	if l.timer != nil {
		l.timer.Stop()
	}
	return errors.Join(err, l.closeFiles())
}

// closeFiles closes the files. The caller holds mu.
func (l *Log) closeFiles() error {
	var err error
	for _, f := range []**os.File{&l.file, &l.head} {
		if *f != nil {
			err = errors.Join(err, (*f).Close())
			*f = nil
		}
	}
	return err
}

// writeRecord appends a record, and syncs as Options.Sync says. It logs when writing begins to fail, and when it works
// again.
func (l *Log) writeRecord(r *Record) error {
	l.mu.Lock()
	err := l.appendLocked(r)
	if err != nil && r.Kind != Begin { // a call that is not made is not lost
		l.lost++
	}
	l.mu.Unlock()
	if err == nil && l.o.Sync == Each {
		err = l.syncWritten()
	}
	l.noteResult(err)
	return err
}

// noteResult stores err as the result of the last write, and logs the first failure and the first success after it.
func (l *Log) noteResult(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil:
		if l.failing == nil {
			l.o.Logger.Error("calls cannot be recorded", "dir", l.o.Dir, "refused", l.o.Required, "error", err)
		}
	case l.failing != nil:
		l.o.Logger.Warn("calls are recorded again", "dir", l.o.Dir)
	}
	l.failing = err
}

// appendLocked writes r, after a record of those that were lost. The caller holds mu.
func (l *Log) appendLocked(r *Record) error {
	if l.closed {
		return &tool.Error{Code: tool.Unavailable, Op: "audit", Msg: "the audit log is closed"}
	}
	h, err := l.lockAndVerify()
	if err != nil {
		return l.explainError(err)
	}
	defer func() { _ = releaseLock(l.head) }() // a lock that cannot be released goes with the file
	if l.lost > 0 {
		if err := l.appendRecord(&h, &Record{Kind: Gap, Lost: l.lost}); err != nil {
			return l.explainError(err)
		}
		l.lost = 0
	}
	if err := l.appendRecord(&h, r); err != nil {
		return l.explainError(err)
	}
	return nil
}

// appendRecord writes one line after the head, and moves the head. It sets Seq, Prev, Time and Hash of r, and starts a
// new file if the current one is full. The caller holds mu and the lock of the directory.
func (l *Log) appendRecord(h *checkpoint, r *Record) error {
	now := time.Now().UTC()
	r.Seq, r.Prev, r.Time = h.Seq+1, h.Hash, now
	text, err := r.encodeLine()
	if err != nil {
		return err
	}
	// An empty file takes any record, however large.
	if h.Size > 0 && (h.Size+int64(len(text)) > l.o.MaxSize || now.Sub(h.Begun) > l.o.MaxAge) {
		if err := l.rotateFiles(h); err != nil {
			return err
		}
	}
	if h.Size == 0 {
		h.Begun = now
	}
	if err := l.writeTo(l.file, "write", text); err != nil {
		return err
	}
	h.Seq, h.Hash, h.Size = r.Seq, r.Hash, h.Size+int64(len(text))
	l.wrote++
	l.syncSoon()
	// If this fails, the record is safe all the same: the next writer finds it after the head.
	if err := l.writeCheckpoint(*h); err != nil {
		l.o.Logger.Debug("the head of the audit log could not be written", "error", err)
	}
	l.noteAnchor(h.Anchor)
	if l.o.Syslog != "" && !l.closed {
		if l.syslog == nil {
			l.syslog = startSyslog(l.o.Syslog, l.o.Dir, l.o.Logger)
		}
		l.syslog.note(h.Anchor)
	}
	return nil
}

// writeCheckpoint writes the head file in one write at its start. It does not sync.
func (l *Log) writeCheckpoint(h checkpoint) error {
	b, err := h.encodeHead()
	if err != nil {
		return err
	}
	part, fault := l.applyFault("write head", b)
	if _, err := l.head.WriteAt(part, 0); err != nil {
		return err
	}
	return fault
}

// writeTo writes b, as far as a test's fault allows.
func (l *Log) writeTo(w io.Writer, op string, b []byte) error {
	part, fault := l.applyFault(op, b)
	if _, err := w.Write(part); err != nil {
		return err
	}
	return fault
}

// applyFault returns how much of b a test's fault lets through.
func (l *Log) applyFault(op string, b []byte) ([]byte, error) {
	if l.fault == nil {
		return b, nil
	}
	return l.fault(op, b)
}

// checkFault returns a test's fault for an operation that writes nothing.
func (l *Log) checkFault(op string) error {
	_, err := l.applyFault(op, nil)
	return err
}

// filePath returns the path of a file in the directory.
func (l *Log) filePath(name string) string { return filepath.Join(l.o.Dir, name) }

// explainError turns an error of the file system into one that names the directory.
func (l *Log) explainError(err error) error {
	var known *tool.Error
	if errors.As(err, &known) {
		return err
	}
	return &tool.Error{
		Code: tool.Unavailable, Op: "audit", Msg: "the audit log in " + l.o.Dir + " cannot be written",
		Hint: "check the free space and the permissions of the folder; audit.dir sets another", Err: err,
	}
}

// syncWritten forces everything written so far to the disk. Callers that wait meanwhile share the next sync.
func (l *Log) syncWritten() error {
	l.mu.Lock()
	upto := l.wrote
	l.mu.Unlock()
	l.syncing.Lock()
	defer l.syncing.Unlock()
	if l.synced >= upto {
		return nil
	}
	l.mu.Lock()
	f, now, unnamed := l.file, l.wrote, l.unnamed
	l.unnamed = false
	l.mu.Unlock()
	if f == nil {
		return nil
	}
	err := l.checkFault("sync")
	if err == nil {
		err = f.Sync()
	}
	if err != nil && !errors.Is(err, os.ErrClosed) { // a file that was closed was synced before
		return l.explainError(err)
	}
	if unnamed {
		if err := l.syncNames(); err != nil {
			l.mu.Lock()
			l.unnamed = true
			l.mu.Unlock()
			return l.explainError(err)
		}
	}
	l.synced = now
	return nil
}

// syncNames brings the names of new files and of the folder to the disk. Systems that cannot sync folders do not need
// it.
func (l *Log) syncNames() error {
	for _, dir := range []string{l.o.Dir, filepath.Dir(l.o.Dir)} {
		if err := atomicfile.SyncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// syncEvery is how long Soon lets a record wait for the disk.
const syncEvery = time.Second

// syncSoon schedules a sync. The caller holds mu.
func (l *Log) syncSoon() {
	if l.o.Sync != Soon || l.timer != nil {
		return
	}
	l.timer = time.AfterFunc(syncEvery, func() {
		l.mu.Lock()
		l.timer = nil
		l.mu.Unlock()
		if err := l.syncWritten(); err != nil {
			l.o.Logger.Warn("the audit log could not be synced", "error", err)
		}
	})
}

// Recent is the function [Recent] for the directory of the log. A nil Log has no records.
func (l *Log) Recent(f Filter, most int, after uint64) ([]Record, uint64, error) {
	if l == nil {
		return nil, 0, nil
	}
	return Recent(l.o.Dir, f, most, after)
}
