package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"tooldex/tool"
)

// Record is one stored tool with its origin and history. Times have millisecond precision, so that a value read equals
// the value written.
type Record struct {
	Tool    *tool.Tool
	Source  string    // the name of the source that offers it
	Hash    tool.Hash // of Tool at the time of the write; Write stores it without comparing
	First   time.Time // when it was first seen, to the millisecond
	Changed time.Time // when its content last changed, to the millisecond
}

// The tags of a record's fields. A tag is never given a second meaning.
const (
	tagServer byte = iota + 1
	tagName
	tagTitle
	tagSummary
	tagDescription
	tagCategory
	tagKeyword
	tagSynonym
	tagExample
	tagUtterance
	tagInput
	tagOutput
	tagAnnotations
	tagMeta
	tagIcons
	tagRelated
	tagDisabled
	tagDeprecated
	tagAlways
	tagSource
	tagHash
	tagFirst
	tagChanged
	tagNoBorrow
)

// The tags inside an example, an utterance and the annotations.
const (
	tagText byte = iota + 1
	tagSecond
	tagThird
	tagHints
)

// EncodeRecord encodes a record as a list of fields. The same record always yields the same bytes. Empty fields are
// left out, so that a new field costs nothing for tools without it.
func EncodeRecord(r *Record) []byte {
	t := r.Tool
	w := &writer{b: make([]byte, 0, 512+len(t.Description)+len(t.InputSchema)+len(t.OutputSchema))}
	w.writeText(tagServer, t.Server)
	w.writeText(tagName, t.Name)
	w.writeText(tagTitle, t.Title)
	w.writeText(tagSummary, t.Summary)
	w.writeText(tagDescription, t.Description)
	w.writeText(tagCategory, t.Category)
	w.writeText(tagDeprecated, t.Deprecated)
	for _, s := range t.Keywords {
		w.writeElement(tagKeyword, s)
	}
	for _, s := range t.Synonyms {
		w.writeElement(tagSynonym, s)
	}
	for _, id := range t.Related {
		w.writeElement(tagRelated, string(id))
	}
	for _, e := range t.Examples {
		in := &writer{}
		in.writeText(tagText, e.Description)
		in.writeBytes(tagSecond, e.Invocation)
		in.writeText(tagThird, e.Output)
		w.writeField(tagExample, in.b)
	}
	for _, u := range t.Utterances {
		in := &writer{}
		in.writeText(tagText, u.Text)
		in.writeText(tagSecond, string(u.From))
		w.writeField(tagUtterance, in.b)
	}
	if t.Annotations != nil {
		w.writeField(tagAnnotations, encodeAnnotations(t.Annotations))
	}
	w.writeBytes(tagInput, t.InputSchema)
	w.writeBytes(tagOutput, t.OutputSchema)
	w.writeBytes(tagMeta, t.Meta)
	w.writeBytes(tagIcons, t.Icons)
	w.writeNumber(tagDisabled, boolNumber(t.Disabled))
	w.writeNumber(tagAlways, boolNumber(t.Always))
	w.writeNumber(tagNoBorrow, boolNumber(t.NoBorrow))
	w.writeText(tagSource, r.Source)
	w.writeBytes(tagHash, r.Hash[:])
	w.writeNumber(tagFirst, unixMillis(r.First))
	w.writeNumber(tagChanged, unixMillis(r.Changed))
	return w.b
}

// DecodeRecord decodes what [EncodeRecord] wrote. The record shares no memory with b. It fails on a record without a
// server or a name, which would have no ID.
func DecodeRecord(b []byte) (Record, error) {
	r := Record{Tool: &tool.Tool{}}
	err := eachField(b, func(tag byte, v []byte) error { return r.setField(tag, v) })
	if err == nil && (r.Tool.Server == "" || r.Tool.Name == "") {
		err = fmt.Errorf("record without a server or a name")
	}
	return r, err
}

// setField stores one field in the record, as a copy. Unknown tags are ignored.
func (r *Record) setField(tag byte, v []byte) (err error) {
	t := r.Tool
	switch tag {
	case tagServer:
		t.Server = string(v)
	case tagName:
		t.Name = string(v)
	case tagTitle:
		t.Title = string(v)
	case tagSummary:
		t.Summary = string(v)
	case tagDescription:
		t.Description = string(v)
	case tagCategory:
		t.Category = string(v)
	case tagDeprecated:
		t.Deprecated = string(v)
	case tagKeyword:
		t.Keywords = append(t.Keywords, string(v))
	case tagSynonym:
		t.Synonyms = append(t.Synonyms, string(v))
	case tagRelated:
		t.Related = append(t.Related, tool.ID(v))
	case tagInput:
		t.InputSchema = bytes.Clone(v)
	case tagOutput:
		t.OutputSchema = bytes.Clone(v)
	case tagMeta:
		t.Meta = bytes.Clone(v)
	case tagIcons:
		t.Icons = bytes.Clone(v)
	case tagDisabled:
		t.Disabled = true
	case tagAlways:
		t.Always = true
	case tagNoBorrow:
		t.NoBorrow = true
	default:
		// an unknown tag is one of a newer program
		return r.setParsedField(tag, v)
	}
	return nil
}

// setParsedField stores the fields that have a format of their own, and fails if they violate it.
func (r *Record) setParsedField(tag byte, v []byte) (err error) {
	switch tag {
	case tagExample:
		var e tool.Example
		err = eachField(v, func(tag byte, v []byte) error {
			switch tag {
			case tagText:
				e.Description = string(v)
			case tagSecond:
				e.Invocation = json.RawMessage(bytes.Clone(v))
			case tagThird:
				e.Output = string(v)
			}
			return nil
		})
		r.Tool.Examples = append(r.Tool.Examples, e)
	case tagUtterance:
		var u tool.Utterance
		err = eachField(v, func(tag byte, v []byte) error {
			switch tag {
			case tagText:
				u.Text = string(v)
			case tagSecond:
				u.From = tool.Provenance(v)
			}
			return nil
		})
		r.Tool.Utterances = append(r.Tool.Utterances, u)
	case tagAnnotations:
		r.Tool.Annotations, err = decodeAnnotations(v)
	case tagSource:
		r.Source = string(v)
	// a hash of another length would compare as different forever
	case tagHash:
		if copy(r.Hash[:], v) != len(r.Hash) || len(v) != len(r.Hash) {
			err = errTruncated
		}
	case tagFirst:
		r.First, err = readTime(v)
	case tagChanged:
		r.Changed, err = readTime(v)
	}
	return err
}

// encodeAnnotations encodes each hint as a byte: 0 not given, 1 false, 2 true.
func encodeAnnotations(a *tool.Annotations) []byte {
	w := &writer{}
	w.writeText(tagText, a.Title)
	hints := make([]byte, 0, 4)
	for _, h := range []*bool{a.ReadOnlyHint, a.DestructiveHint, a.IdempotentHint, a.OpenWorldHint} {
		switch {
		case h == nil:
			hints = append(hints, 0)
		case *h:
			hints = append(hints, 2)
		default:
			hints = append(hints, 1)
		}
	}
	w.writeField(tagHints, hints)
	return w.b
}

// decodeAnnotations reads annotations. A hint has three states, so that "not given" survives: 0 is absent, 1 false, 2
// true.
func decodeAnnotations(b []byte) (*tool.Annotations, error) {
	a := &tool.Annotations{}
	hints := []**bool{&a.ReadOnlyHint, &a.DestructiveHint, &a.IdempotentHint, &a.OpenWorldHint}
	err := eachField(b, func(tag byte, v []byte) error {
		switch tag {
		case tagText:
			a.Title = string(v)
		case tagHints:
			for i := range min(len(v), len(hints)) {
				if v[i] > 0 {
					said := v[i] == 2
					*hints[i] = &said
				}
			}
		}
		return nil
	})
	return a, err
}

func boolNumber(set bool) int64 {
	if set {
		return 1
	}
	return 0
}

// unixMillis returns t in milliseconds, and zero for the zero time, which has its own meaning: unknown.
func unixMillis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// readTime reverses unixMillis; times are in UTC.
func readTime(v []byte) (time.Time, error) {
	n, err := readNumber(v)
	if err != nil || n == 0 {
		return time.Time{}, err
	}
	return time.UnixMilli(n).UTC(), nil
}
