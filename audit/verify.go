package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Fault is what was done to a chain.
type Fault string

// The faults.
const (
	Altered   Fault = "altered"   // a record is not as it was written
	Deleted   Fault = "deleted"   // records are missing before this place
	Inserted  Fault = "inserted"  // a line was inserted
	Reordered Fault = "reordered" // a record is not where it was written
	Shortened Fault = "shortened" // the last records are missing
	Foreign   Fault = "foreign"   // this is not the chain that the anchor belongs to
)

// Break is a place where a chain does not hold.
type Break struct {
	File  string `json:"file"`
	Line  int    `json:"line"` // 1 for the first; 0 for the end of the file
	Fault Fault  `json:"fault"`
	Text  string `json:"text"`
}

// String returns the place and what is wrong there.
func (b Break) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", b.File, b.Line, b.Fault, b.Text)
}

// maxBreaks bounds the breaks that a Report lists.
const maxBreaks = 100

// Report is what Verify found.
type Report struct {
	Dir     string   `json:"dir"`
	Files   int      `json:"files"`
	Records int      `json:"records"`
	First   uint64   `json:"first,omitempty"` // Seq of the first record that is kept
	Head    *Anchor  `json:"head,omitempty"`  // the last record; nil if there is none
	Breaks  []Break  `json:"breaks"`          // the first hundred, in order; empty if the chain holds
	More    int      `json:"more,omitempty"`  // the number of further ones
	Notes   []string `json:"notes"`           // what the log itself says about missing or torn records
}

// OK reports whether the chain holds.
func (r *Report) OK() bool { return len(r.Breaks) == 0 }

// Verify reads all records of a directory, and reports whether they are one whole chain that passes through the
// anchors. Others may write to the directory meanwhile. An error means that the files cannot be read; whether they are
// as they were written is in the Report. A directory that does not exist has no faults, unless there are anchors.
func Verify(ctx context.Context, dir string, anchors ...Anchor) (*Report, error) {
	const tries = 3 // rotation may remove a file between listing and reading it
	for try := 1; ; try++ {
		v := &verifier{report: &Report{Dir: dir, Breaks: []Break{}, Notes: []string{}}, anchors: anchors, dir: dir}
		// Each try starts a new report.
		err := v.verifyChain(ctx)
		if err == nil || try == tries || !errors.Is(err, fs.ErrNotExist) {
			return v.report, err
		}
	}
}

// verifier follows a chain from file to file, and fills the report. One verifier does one try. It reads each record
// once, in order, and keeps no more than the last one, so that logs of any size can be verified.
type verifier struct {
	dir     string
	report  *Report
	anchors []Anchor
	head    checkpoint // as it was when the files were listed
	known   bool       // head was read
	last    Anchor     // the record that the next one must follow
	begun   bool       // last is set
	at      place      // of the last record
	bad     []scrap    // lines since then that are no records
	missing []gap      // of which a record may turn up later, out of place
}

// place is a line of a file.
type place struct {
	file string
	line int
}

// scrap is a line that is no record.
type scrap struct {
	place
	at   int64
	text []byte
}

// gap stands for the records after one number and before another, which were not where they belong.
type gap struct {
	after, before uint64
	index         int // of the Break that reports it
}

// verifyChain reads the chain from its first record to the end.
func (v *verifier) verifyChain(ctx context.Context) error {
	sizes, err := v.listSized()
	if err != nil || len(sizes) == 0 && len(v.anchors) == 0 {
		return err
	}
	for _, f := range sizes {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := v.checkFile(f.number, f.size); err != nil {
			return err
		}
	}
	v.checkEnd()
	return nil
}

// sized is a file with its size at the start.
type sized struct {
	number int
	size   int64
}

// listSized reads the head and the sizes of all files while it holds the lock, so that they belong together. Records
// that are written later are not checked.
func (v *verifier) listSized() ([]sized, error) {
	f, err := os.Open(filepath.Join(v.dir, headName))
	switch {
	case err == nil:
		defer func() { _ = f.Close() }() // only read
		info, err := f.Stat()
		if err != nil {
			return nil, err
		}
		// The lock of writers is held only for the list and the sizes; reading takes place without it.
		l := &Log{o: Options{Dir: v.dir}.withDefaults(), head: f, headInfo: info}
		if err := l.lockFile(); err != nil {
			return nil, err
		}
		defer func() { _ = releaseLock(l.head) }()
		v.head, err = readCheckpoint(l.head)
		v.known = err == nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	numbers, err := listFiles(v.dir)
	if err != nil {
		return nil, err
	}
	switch {
	case v.known || len(numbers) == 0:
	// Without any head, removed files at either end cannot be noticed. That itself is reported.
	case f == nil:
		v.addBreak(place{headName, 0}, Shortened, "the file was removed, so records may be missing at either end")
	default:
		v.addNote("the head file cannot be read, so records may be missing at either end")
	}
	var out []sized
	for _, n := range numbers {
		info, err := os.Stat(filepath.Join(v.dir, fileName(n)))
		if err != nil {
			return nil, err
		}
		out = append(out, sized{n, info.Size()})
	}
	if v.known {
		v.last, v.begun = v.head.Base, true
		if len(out) == 0 && v.head.Seq > 0 {
			v.addBreak(place{fileName(v.head.File), 0}, Shortened, "all files are missing")
		}
	}
	return out, nil
}

// addNote adds a note to the report.
func (v *verifier) addNote(format string, args ...any) {
	v.report.Notes = append(v.report.Notes, fmt.Sprintf(format, args...))
}

// addBreak adds a break to the report, and returns its index.
func (v *verifier) addBreak(p place, f Fault, format string, args ...any) int {
	v.report.Breaks = append(v.report.Breaks, Break{p.file, p.line, f, fmt.Sprintf(format, args...)})
	return len(v.report.Breaks) - 1
}

// checkFile checks the records of one file, up to a size.
func (v *verifier) checkFile(number int, size int64) error {
	name := fileName(number)
	v.report.Files++
	_, err := eachLine(filepath.Join(v.dir, name), 0, size, func(l line) error {
		here := place{name, l.number}
		r, err := Decode(l.text)
		if err != nil || !l.hasEnd() {
			// What a line without a record means depends on the records around it, so it is judged at the next record.
			v.bad = append(v.bad, scrap{here, l.at, bytes.Clone(l.text)})
			return nil
		}
		if v.known && r.Seq <= v.head.Base.Seq && !v.wasMissed(r.Seq) && v.report.Records == 0 {
			return nil // of a file whose removal was not completed
		}
		v.checkRecord(here, r)
		return nil
	})
	return err
}

// wasMissed reports whether a record of that number was missed before.
func (v *verifier) wasMissed(seq uint64) bool {
	return slices.ContainsFunc(v.missing, func(g gap) bool { return seq > g.after && seq < g.before })
}

// checkRecord checks the next record against the chain so far. Where records are missing it goes on from this one, so
// that one fault is reported once.
func (v *verifier) checkRecord(here place, r Record) {
	if !v.begun {
		v.last, v.begun = Anchor{r.Seq - 1, r.Prev}, true
	}
	v.report.Records++
	follows := r.Seq == v.last.Seq+1 && r.Prev == v.last.Hash
	altered := v.checkScraps(r, follows)
	next := v.last.Seq + 1 + uint64(altered)
	switch {
	case follows:
	case altered > 0 && r.Seq > v.last.Seq && r.Seq <= next:
	case r.Seq > next:
		index := v.addBreak(here, Deleted, "%s missing before this line", formatRange(next, r.Seq-1))
		v.missing = append(v.missing, gap{next - 1, r.Seq, index})
	case r.Seq == next && v.at == place{}:
		v.addBreak(here, Altered, "this record did not follow those that were removed with their files")
	case r.Seq == next:
		v.addBreak(v.at, Altered, "the next record does not follow the record on this line, number %d", v.last.Seq)
	default:
		v.checkPlace(here, r)
		return
	}
	v.last, v.at = Anchor{r.Seq, r.Hash}, here
	if v.report.First == 0 {
		v.report.First = r.Seq
	}
	v.noteRecord(here, r)
	for _, a := range v.anchors {
		if a.Seq == r.Seq && a.Hash != r.Hash {
			v.addBreak(here, Foreign, "record %d has another hash than the anchor", r.Seq)
		}
	}
}

// checkScraps reports the lines before a record that are no records, and returns how many of them once were.
func (v *verifier) checkScraps(r Record, follows bool) (altered int) {
	bad := v.bad
	v.bad = nil
	if len(bad) == 0 {
		return 0
	}
	if follows && r.Kind == Torn && r.Torn != nil && v.isTorn(bad, r.Torn) {
		return 0
	}
	for _, s := range bad {
		switch {
		case follows:
			v.addBreak(s.place, Inserted, "the records before and after this line follow each other")
		default:
			v.addBreak(s.place, Altered, "this line is not a record as it was written")
			altered++
		}
	}
	return altered
}

// isTorn reports whether lines are the bytes that a record says were the rest of one that was not written whole.
func (v *verifier) isTorn(bad []scrap, t *Scrap) bool {
	var all []byte
	for _, s := range bad {
		all = append(all, s.text...)
	}
	return bad[0].at == t.At && int64(len(all)) >= t.Bytes && hashOf(all[:t.Bytes]) == t.Hash &&
		len(bytes.TrimSpace(all[t.Bytes:])) == 0
}

// checkPlace checks a record whose number is lower than expected. If that number was missing before, the record was
// moved, and the break of a single missing record becomes Reordered.
func (v *verifier) checkPlace(here place, r Record) {
	for i, g := range v.missing {
		if r.Seq <= g.after || r.Seq >= g.before {
			continue
		}
		v.addBreak(here, Reordered, "record %d stands after %d", r.Seq, v.last.Seq)
		if g.before-g.after == 2 { // it was the only one that was missed
			v.report.Breaks[g.index].Fault = Reordered
			v.report.Breaks[g.index].Text = fmt.Sprintf("record %d was moved away from before this line", r.Seq)
			v.missing = slices.Delete(v.missing, i, i+1)
		}
		return
	}
	v.addBreak(here, Inserted, "record %d stands after %d, and is a duplicate or does not belong here", r.Seq,
		v.last.Seq)
}

// noteRecord adds notes for records about the log itself.
func (v *verifier) noteRecord(here place, r Record) {
	switch r.Kind {
	case Gap:
		v.addNote("%s:%d: %d records could not be written before this one", here.file, here.line, r.Lost)
	case Torn:
		v.addNote("%s:%d: a record was not written whole before this one", here.file, here.line)
	case Cut:
		v.addNote("%s:%d: the file was %d bytes shorter than it had been before this record", here.file, here.line,
			r.Torn.sizeInBytes())
	case Resume:
		v.addNote("%s:%d: the head file was broken and was rebuilt from the records", here.file, here.line)
	case Headless:
		v.addBreak(here, Shortened, "the head file was removed before this record, so records before it may be missing")
	}
}

// sizeInBytes returns the length of the scrap in bytes.
func (s *Scrap) sizeInBytes() int64 {
	if s == nil {
		return 0
	}
	return s.Bytes
}

// checkEnd checks the end of the chain against the head and the anchors.
func (v *verifier) checkEnd() {
	tip := place{headName, 0}
	if v.known {
		tip.file = fileName(v.head.File)
	}
	beyond := len(v.bad) > 0 && v.known && v.bad[0].file == tip.file && v.bad[0].at >= v.head.Size &&
		v.last == v.head.Anchor
	switch {
	// A process that died left these bytes; the next writer adds the record about them.
	case beyond:
		v.addNote("%s:%d: a record was not written whole; the next one will say so", v.bad[0].file, v.bad[0].line)
	case len(v.bad) > 0:
		for _, s := range v.bad {
			v.addBreak(s.place, Altered, "this line is not a record as it was written")
		}
	case v.known && v.head.Seq > v.last.Seq:
		v.addBreak(tip, Shortened, "%s missing at the end", formatRange(v.last.Seq+1, v.head.Seq))
	case v.known && v.head.Seq == v.last.Seq && v.head.Hash != v.last.Hash:
		v.addBreak(v.at, Altered, "the last record, number %d, is not the one that was written", v.last.Seq)
	}
	for _, a := range v.anchors {
		if a.Seq > v.last.Seq {
			v.addBreak(tip, Shortened, "the anchor names record %d, but the last one is %d", a.Seq, v.last.Seq)
		}
		if a.Seq < v.report.First {
			v.addNote("the anchor names record %d, but only records from %d on are kept", a.Seq, v.report.First)
		}
	}
	if v.report.Records > 0 {
		head := v.last
		v.report.Head = &head
	}
	if more := len(v.report.Breaks) - maxBreaks; more > 0 {
		v.report.Breaks, v.report.More = v.report.Breaks[:maxBreaks], more
	}
}

// formatRange names the records from one number to another.
func formatRange(from, to uint64) string {
	if from == to {
		return fmt.Sprintf("record %d is", from)
	}
	return fmt.Sprintf("records %d to %d are", from, to)
}
