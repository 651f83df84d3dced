package learn

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"

	"tooldex/tool"
)

// The tags of fields. They are stored: a tag is never reused for another meaning, and readers skip those they do not
// know.
const (
	tagProfile byte = iota + 1
	tagTool
	tagClient
	tagKind
	tagRequest
	tagCount
	tagFirst
	tagLast
	tagSession
	tagText
	tagWords
	tagModel
	tagVector
	tagFound
	tagNothing
	tagIgnored
	tagUnknown
	tagShown
	tagCalled
)

// errShort means that an entry is damaged: a field ends too early or has the wrong length.
var errShort = errors.New("entry is cut short")

// The bounds of what a reader takes from an entry, so that a damaged one cannot claim much memory. Those of text are in
// bytes, the others in elements.
const (
	maxWords  = 64
	maxFound  = 8
	maxDims   = 1 << 13
	maxText   = 4000
	maxString = 4096
)

// fieldWriter appends fields to b: a tag, the length of the value as a varint, and the value. Readers skip tags that
// they do not know, so that a newer process can add fields. Zero values are left out, so that a field costs nothing
// where it does not apply.
type fieldWriter struct{ b []byte }

// putBytes appends a field; an empty value is left out.
func (w *fieldWriter) putBytes(tag byte, v []byte) {
	if len(v) > 0 {
		w.b = append(w.b, tag)
		w.b = binary.AppendUvarint(w.b, uint64(len(v)))
		w.b = append(w.b, v...)
	}
}

// putNumber appends a number as a varint; zero is left out.
func (w *fieldWriter) putNumber(tag byte, n int64) {
	if n != 0 {
		w.putBytes(tag, binary.AppendVarint(nil, n))
	}
}

// putNumbers appends a list of numbers in one field, four bytes each, little-endian.
func (w *fieldWriter) putNumbers(tag byte, list []uint32) {
	var b []byte
	for _, n := range list {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	w.putBytes(tag, b)
}

// putIDs appends one field for each ID, in order.
func (w *fieldWriter) putIDs(tag byte, list []tool.ID) {
	for _, id := range list {
		w.putBytes(tag, []byte(id))
	}
}

// eachField calls fn with the fields of b in order, until an error. The values are parts of b.
func eachField(b []byte, fn func(tag byte, v []byte) error) error {
	for len(b) > 0 {
		n, used := binary.Uvarint(b[1:])
		// the length is checked before it is used, since a damaged one can be anything
		if used <= 0 || n > uint64(len(b)-1-used) {
			return errShort
		}
		tag, end := b[0], 1+used+int(n)
		if err := fn(tag, b[1+used:end]); err != nil {
			return err
		}
		b = b[end:]
	}
	return nil
}

// readNumber reads the value of a field that putNumber wrote.
func readNumber(v []byte) (int64, error) {
	n, used := binary.Varint(v)
	if used != len(v) || used <= 0 {
		return 0, errShort
	}
	return n, nil
}

// readCount reads a number that is not negative and fits 32 bits.
func readCount(v []byte) (uint32, error) {
	n, err := readNumber(v)
	if err != nil || n < 0 || n > math.MaxUint32 {
		return 0, errShort
	}
	return uint32(n), nil
}

// readNumbers reads a list that putNumbers wrote, and fails for more than `most` numbers.
func readNumbers(v []byte, most int) ([]uint32, error) {
	if len(v)%4 != 0 || len(v)/4 > most {
		return nil, errShort
	}
	out := make([]uint32, len(v)/4)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(v[4*i:])
	}
	return out, nil
}

// readText returns v as a string, and fails for more than `most` bytes. It does not check that v is UTF-8.
func readText(v []byte, most int) (string, error) {
	if len(v) > most {
		return "", fmt.Errorf("text of %d bytes", len(v))
	}
	return string(v), nil
}

// encodeUse writes a piece of evidence as it is stored. Equal evidence gives equal bytes.
func encodeUse(u *use) []byte {
	w := &fieldWriter{b: make([]byte, 0, 128+len(u.reading.vector)+4*len(u.reading.words)+len(u.text))}
	w.putBytes(tagProfile, []byte(u.profile))
	w.putBytes(tagTool, []byte(u.tool))
	w.putBytes(tagClient, []byte(u.client))
	w.putNumber(tagKind, int64(u.kind))
	w.putBytes(tagRequest, binary.BigEndian.AppendUint64(nil, u.request))
	w.putNumber(tagCount, int64(u.count))
	w.putNumber(tagFirst, u.first)
	w.putNumber(tagLast, u.last)
	w.putNumbers(tagSession, u.sessions)
	w.putBytes(tagText, []byte(u.text))
	r := u.reading
	w.putNumbers(tagWords, r.words)
	if len(r.vector) > 0 {
		w.putNumbers(tagModel, []uint32{r.model})
		// the scale comes first, then a signed byte for each component
		b := binary.LittleEndian.AppendUint32(make([]byte, 0, 4+len(r.vector)), math.Float32bits(r.scale))
		for _, x := range r.vector {
			b = append(b, byte(x))
		}
		w.putBytes(tagVector, b)
	}
	var b []byte
	for _, f := range r.found {
		b = binary.LittleEndian.AppendUint32(b, f.tool)
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f.score))
	}
	w.putBytes(tagFound, b)
	return w.b
}

// decodeUse reads what encodeUse wrote. The use keeps nothing of b. It fails without a tool, a known kind or a count;
// all else may be missing.
func decodeUse(b []byte) (*use, error) {
	u := &use{reading: &reading{}}
	// Entries of newer processes may lack or add fields; only what identifies the evidence is required.
	err := eachField(b, u.decodeField)
	if err == nil && (u.tool == "" || u.kind < Called || u.kind > Replayed || u.count == 0) {
		err = errors.New("evidence without a tool, a kind or a count")
	}
	return u, err
}

// decodeField reads one field into u. Tags that it does not know are left to the reading, which skips them.
func (u *use) decodeField(tag byte, v []byte) (err error) {
	switch tag {
	case tagProfile:
		u.profile, err = readText(v, maxString)
	case tagTool:
		var s string
		s, err = readText(v, maxString)
		u.tool = tool.ID(s)
	case tagClient:
		u.client, err = readText(v, maxString)
	case tagKind:
		var n int64
		n, err = readNumber(v)
		u.kind = EvidenceKind(min(max(n, 0), math.MaxUint8))
	case tagRequest:
		u.request, err = readRequest(v)
	case tagCount:
		u.count, err = readCount(v)
	case tagFirst:
		u.first, err = readNumber(v)
	case tagLast:
		u.last, err = readNumber(v)
	case tagSession:
		u.sessions, err = readNumbers(v, maxSessions)
	case tagText:
		u.text, err = readText(v, maxText)
	default:
		err = u.reading.decodeField(tag, v)
	}
	return err
}

// decodeField reads one field into r. It refuses numbers that no writer stores, since they would spoil a whole model.
func (r *reading) decodeField(tag byte, v []byte) (err error) {
	switch tag {
	case tagWords:
		r.words, err = readNumbers(v, maxWords)
	case tagModel:
		var one []uint32
		if one, err = readNumbers(v, 1); err == nil && len(one) == 1 {
			r.model = one[0]
		}
	case tagVector:
		if len(v) < 4 || len(v) > 4+maxDims {
			return errShort
		}
		r.scale = math.Float32frombits(binary.LittleEndian.Uint32(v))
		if !(r.scale >= 0 && r.scale <= 1) { // components of a unit vector
			return fmt.Errorf("scale %v", r.scale)
		}
		r.vector = make([]int8, len(v)-4)
		for i, x := range v[4:] {
			r.vector[i] = int8(x)
		}
	case tagFound:
		var pairs []uint32
		if pairs, err = readNumbers(v, 2*maxFound); err != nil || len(pairs)%2 != 0 {
			return errShort
		}
		for i := 0; i < len(pairs); i += 2 {
			score := math.Float32frombits(pairs[i+1])
			if !(score >= 0 && score < 1e3) {
				return fmt.Errorf("score %v", score)
			}
			r.found = append(r.found, found{pairs[i], score})
		}
	}
	return err
}

// readRequest reads the hash of a request.
func readRequest(v []byte) (uint64, error) {
	if len(v) != 8 {
		return 0, errShort
	}
	return binary.BigEndian.Uint64(v), nil
}

// encodeMissed writes a request that no tool served as it is stored.
func encodeMissed(m *missedRequest) []byte {
	w := &fieldWriter{}
	w.putBytes(tagProfile, []byte(m.profile))
	w.putBytes(tagRequest, binary.BigEndian.AppendUint64(nil, m.request))
	w.putNumber(tagNothing, int64(m.nothing))
	w.putNumber(tagIgnored, int64(m.ignored))
	w.putNumber(tagLast, m.last)
	w.putBytes(tagText, []byte(m.text))
	for _, s := range m.unknown {
		w.putBytes(tagUnknown, []byte(s))
	}
	w.putIDs(tagShown, m.shown)
	w.putIDs(tagCalled, m.called)
	return w.b
}

// decodeMissed reads what encodeMissed wrote. An error means that the entry is damaged.
func decodeMissed(b []byte) (*missedRequest, error) {
	m := &missedRequest{}
	err := eachField(b, func(tag byte, v []byte) (err error) {
		switch tag {
		case tagProfile:
			m.profile, err = readText(v, maxString)
		case tagRequest:
			m.request, err = readRequest(v)
		case tagNothing:
			m.nothing, err = readCount(v)
		case tagIgnored:
			m.ignored, err = readCount(v)
		case tagLast:
			m.last, err = readNumber(v)
		case tagText:
			m.text, err = readText(v, maxText)
		case tagUnknown:
			var s string
			if s, err = readText(v, maxString); len(m.unknown) < maxUnknown {
				m.unknown = append(m.unknown, s)
			}
		case tagShown:
			m.shown, err = readID(m.shown, v, maxShown)
		case tagCalled:
			m.called, err = readID(m.called, v, maxCalled)
		}
		return err
	})
	return m, err
}

// readID appends the ID in v to list, or drops it if list already has `most`.
func readID(list []tool.ID, v []byte, most int) ([]tool.ID, error) {
	s, err := readText(v, maxString)
	if len(list) < most {
		list = append(list, tool.ID(s))
	}
	return list, err
}

// encodeApproval writes an approval as it is stored.
func encodeApproval(a *approval) []byte {
	w := &fieldWriter{}
	w.putBytes(tagProfile, []byte(a.profile))
	w.putBytes(tagTool, []byte(a.tool))
	if a.request != 0 {
		w.putBytes(tagRequest, binary.BigEndian.AppendUint64(nil, a.request))
	}
	w.putNumber(tagLast, a.at)
	return w.b
}

// decodeApproval reads what encodeApproval wrote. An error means that the entry is damaged.
func decodeApproval(b []byte) (*approval, error) {
	a := &approval{}
	err := eachField(b, func(tag byte, v []byte) (err error) {
		switch tag {
		case tagProfile:
			a.profile, err = readText(v, maxString)
		case tagTool:
			var s string
			s, err = readText(v, maxString)
			a.tool = tool.ID(s)
		case tagRequest:
			a.request, err = readRequest(v)
		case tagLast:
			a.at, err = readNumber(v)
		}
		return err
	})
	if err == nil && a.tool == "" {
		err = errors.New("approval without a tool")
	}
	return a, err
}

// requestName returns the hash of a request as 16 hexadecimal digits, which stand for it in reports and scopes.
func requestName(r uint64) string {
	s := strconv.FormatUint(r, 16)
	for len(s) < 16 {
		s = "0" + s
	}
	return s
}
