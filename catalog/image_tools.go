package catalog

import (
	"encoding/binary"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"tooldex/internal/flatfile"
	"tooldex/tool"
)

// The texts of a tool in an image, in the order in which they lie one after the other.
const (
	partServer = iota
	partName
	partTitle
	partSummary
	partCategory
	partDeprecated
	partWarning
	partHint        // the title of the annotations
	partHeld        // why the tool is held; "" if it is not
	partExposed     // the name under which clients see the tool; "" in a segment
	partDescription // from here on texts that are read only when they are shown
	partInput
	partOutput
	partMeta
	partIcons
	partLists // what lists the tool has, as appendLists writes them
	numParts
)

// toolRow says where the texts of a tool lie in an image, and what else there is to it. Rows are written as they lie in
// memory, so their layout is part of the format of the image: a change needs a new version of it (image.go). The mapped
// file is used in place, without decoding.
type toolRow struct {
	// at is the offset of the first text among the texts of the image. The texts follow each other without separators;
	// lengths has their lengths in bytes. An absent text has length 0.
	at      uint64
	lengths [numParts]uint32
	flags   uint32
	first   int64 // when the tool was first seen, in milliseconds since 1970; 0 if that is not known
}

// The flags of a row. The four hints of the annotations follow, two bits each: 0 not given, 1 false, 2 true.
const (
	flagDisabled = 1 << iota
	flagAlways
	flagNoBorrow
	flagAnnotated
	flagDerived        // the category is derived
	flagServerText     // it carries the text of its server, which imageMeta has
	hintBits       = 6 // the lowest bit of the first hint
)

// firstSeen returns when the tool was first seen.
func (r *toolRow) firstSeen() time.Time {
	if r.first == 0 {
		return time.Time{}
	}
	return time.UnixMilli(r.first).UTC()
}

// toolNotes is what a row has beside the tool.
type toolNotes struct {
	held    string // why the tool is held; "" if it is not
	exposed string
	first   time.Time // when it was first seen
}

// appendTool adds a tool to rows and texts.
func appendTool(rows []toolRow, texts []byte, t *tool.Tool, notes toolNotes) ([]toolRow, []byte) {
	row := toolRow{at: uint64(len(texts))}
	if !notes.first.IsZero() {
		row.first = notes.first.UnixMilli()
	}
	flag := func(set bool, bit uint32) {
		if set {
			row.flags |= bit
		}
	}
	flag(t.Disabled, flagDisabled)
	flag(t.Always, flagAlways)
	flag(t.NoBorrow, flagNoBorrow)
	flag(t.CategoryDerived, flagDerived)
	flag(t.ServerText != "", flagServerText)
	hint := ""
	if a := t.Annotations; a != nil {
		row.flags |= flagAnnotated
		hint = a.Title
		for i, h := range []*bool{a.ReadOnlyHint, a.DestructiveHint, a.IdempotentHint, a.OpenWorldHint} {
			if h != nil {
				row.flags |= (1 + uint32(b2i(*h))) << (hintBits + 2*i)
			}
		}
	}
	for part, text := range [partDescription]string{
		t.Server, t.Name, t.Title, t.Summary, t.Category, t.Deprecated, t.Warning, hint, notes.held, notes.exposed,
	} {
		row.lengths[part] = uint32(len(text))
		texts = append(texts, text...)
	}
	row.lengths[partDescription] = uint32(len(t.Description))
	texts = append(texts, t.Description...)
	for i, raw := range [][]byte{t.InputSchema, t.OutputSchema, t.Meta, t.Icons} {
		row.lengths[partInput+i] = uint32(len(raw))
		texts = append(texts, raw...)
	}
	before := len(texts)
	texts = appendLists(texts, t)
	row.lengths[partLists] = uint32(len(texts) - before)
	return append(rows, row), texts
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// appendLists appends the lists of a tool; nothing if all are empty. Numbers are varints: each list begins with its
// length, each text with its length in bytes.
func appendLists(b []byte, t *tool.Tool) []byte {
	if len(t.Keywords)+len(t.Synonyms)+len(t.Related)+len(t.Examples)+len(t.Utterances) == 0 {
		return b
	}
	count := func(n int) { b = binary.AppendUvarint(b, uint64(n)) }
	text := func(s string) {
		count(len(s))
		b = append(b, s...)
	}
	for _, list := range [][]string{t.Keywords, t.Synonyms} {
		count(len(list))
		for _, s := range list {
			text(s)
		}
	}
	count(len(t.Related))
	for _, id := range t.Related {
		text(string(id))
	}
	count(len(t.Examples))
	for _, e := range t.Examples {
		text(e.Description)
		text(string(e.Invocation))
		text(e.Output)
	}
	count(len(t.Utterances))
	for _, u := range t.Utterances {
		text(u.Text)
		text(string(u.From))
	}
	return b
}

// readLists sets the lists of t from what appendLists wrote. It returns false if b is damaged or longer than the lists.
func readLists(b []byte, t *tool.Tool) bool {
	r := byteReader{b: b}
	text := func() string {
		n := r.readNumber()
		if n > uint64(len(r.b)) {
			r.bad = true
			return ""
		}
		s := string(r.b[:n])
		r.skipBytes(int(n))
		return s
	}
	texts := func() (out []string) {
		for range r.readCount(1) {
			out = append(out, text())
		}
		return out
	}
	t.Keywords, t.Synonyms = texts(), texts()
	for range r.readCount(1) {
		t.Related = append(t.Related, tool.ID(text()))
	}
	for range r.readCount(3) {
		e := tool.Example{Description: text()}
		if invocation := text(); invocation != "" {
			e.Invocation = json.RawMessage(invocation)
		}
		e.Output = text()
		t.Examples = append(t.Examples, e)
	}
	for range r.readCount(2) {
		t.Utterances = append(t.Utterances, tool.Utterance{Text: text(), From: tool.Provenance(text())})
	}
	return !r.bad && len(r.b) == 0
}

// storedTools are the tools of an image or a segment, as they are used. Their texts stay where they lie.
type storedTools struct {
	tools   []*tool.Tool
	exposed []string              // by the same index
	held    map[*tool.Tool]string // why those are held that are
}

// openTools returns the tools of rows. Servers has what servers say of themselves. It returns false if the rows are not
// those of these texts.
func openTools(rows []toolRow, texts []byte, servers map[string]string) (storedTools, bool) {
	// All tools and annotations are allocated at once, and true and false are shared, so that opening a large image
	// takes few allocations.
	all, annotations := make([]tool.Tool, len(rows)), make([]tool.Annotations, len(rows))
	said := [...]*bool{nil, new(bool), new(bool), nil}
	*said[2] = true
	out := storedTools{make([]*tool.Tool, len(rows)), make([]string, len(rows)), map[*tool.Tool]string{}}
	var (
		bad  atomic.Bool
		held sync.Mutex
	)
	inParallel(len(rows), func() func(i int) {
		return func(i int) {
			row, t := &rows[i], &all[i]
			parts, ok := row.parts(texts)
			if !ok {
				bad.Store(true)
				return
			}
			t.Server, t.Name = parts[partServer], parts[partName]
			t.Title, t.Summary = parts[partTitle], parts[partSummary]
			t.Category, t.Deprecated, t.Warning = parts[partCategory], parts[partDeprecated], parts[partWarning]
			t.Description = parts[partDescription]
			// Schemas share their bytes with the mapped file, which must not be written to.
			t.InputSchema, t.OutputSchema = rawOf(parts[partInput]), rawOf(parts[partOutput])
			t.Meta, t.Icons = rawOf(parts[partMeta]), rawOf(parts[partIcons])
			t.Disabled, t.Always = row.flags&flagDisabled != 0, row.flags&flagAlways != 0
			t.NoBorrow, t.CategoryDerived = row.flags&flagNoBorrow != 0, row.flags&flagDerived != 0
			if row.flags&flagServerText != 0 {
				t.ServerText = servers[t.Server]
			}
			if row.flags&flagAnnotated != 0 {
				hint := func(k int) *bool { return said[row.flags>>(hintBits+2*k)&3] }
				annotations[i] = tool.Annotations{
					Title: parts[partHint], ReadOnlyHint: hint(0), DestructiveHint: hint(1), IdempotentHint: hint(2),
					OpenWorldHint: hint(3),
				}
				t.Annotations = &annotations[i]
			}
			if lists := parts[partLists]; lists != "" && !readLists([]byte(lists), t) {
				bad.Store(true)
			}
			if why := parts[partHeld]; why != "" {
				held.Lock()
				out.held[t] = why
				held.Unlock()
			}
			out.tools[i], out.exposed[i] = t, parts[partExposed]
		}
	})
	return out, !bad.Load()
}

// parts returns the texts of a row, and false if they are not all among texts.
func (r *toolRow) parts(texts []byte) (parts [numParts]string, ok bool) {
	at := r.at
	for p, n := range r.lengths {
		if n == 0 {
			continue
		}
		if parts[p], ok = flatfile.String(texts, at, uint64(n)); !ok {
			return parts, false
		}
		at += uint64(n)
	}
	return parts, true
}

// rawOf returns the bytes of a text without copying them, nil for "".
func rawOf(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return flatfile.BytesOf(s)
}
