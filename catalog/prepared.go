package catalog

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"tooldex/embed"
	"tooldex/index"
	"tooldex/knowledge"
	"tooldex/store"
	"tooldex/tool"
)

// preparedLayout is the version of the binary form of prepared, and of the analysis that fills it. Raise it whenever
// the same tool would be analysed differently: entries of another version are made again.
const preparedLayout = 5

// prepared is a tool as it is stored for the index: its analysis, and what was lent to it.
type prepared struct {
	text      store.TextHash // of the text whose vector is the tool's own
	rivals    uint64         // the tools of its server when it was analysed, see rivalGroup
	effect    knowledge.Effect
	fields    [index.Server][]index.Term // all but that of the server, which is the same for all of its tools
	landmarks []index.Landmark
	lent      []float32 // mean of the vectors of the lent requests; nil if nothing was lent
}

// prepare analyses a tool.
func prepare(an *knowledge.Analyzer, t *tool.Tool, d *embed.Document, loan *knowledge.Loan) prepared {
	p := prepared{
		text: hashText(d), effect: an.NameEffect(t.Name), fields: indexFields(an, t, d, loan),
		landmarks: make([]index.Landmark, len(loan.From)), lent: loan.Vector,
	}
	for i, f := range loan.From {
		p.landmarks[i] = index.Landmark{Point: int32(f.Archetype), Like: f.Like, Lent: f.Weight}
	}
	return p
}

// withoutLoans reduces a loan to the archetypes that a tool is like, at weight 0, for tools that must not borrow. The
// tool gets no word and no vector from them, and its rank is its own. The likeness is kept for the catalogue as a
// whole: it decides whether some tool here could serve a request at all.
func withoutLoans(loan knowledge.Loan) knowledge.Loan {
	for i := range loan.From {
		loan.From[i].Weight = 0
	}
	return knowledge.Loan{From: loan.From}
}

// termUnits is the resolution of stored weights: weight 1 is stored as 256.
const termUnits = 256

// encode returns p in compact form: weights of words in steps of 1/256, likeness in 255 steps, and one byte for each
// component of the vector.
func (p *prepared) encode() []byte {
	b := append([]byte{preparedLayout}, p.text[:]...)
	b = binary.LittleEndian.AppendUint64(b, p.rivals)
	b = append(b, byte(p.effect))
	for _, terms := range p.fields {
		b = binary.AppendUvarint(b, uint64(len(terms)))
		for _, t := range terms {
			b = binary.AppendUvarint(b, uint64(len(t.Text)))
			b = append(b, t.Text...)
			b = binary.AppendUvarint(b, uint64(t.Weight*termUnits+.5))
		}
	}
	b = binary.AppendUvarint(b, uint64(len(p.landmarks)))
	for _, l := range p.landmarks {
		b = binary.AppendUvarint(b, uint64(l.Point))
		b = append(b, toByte(l.Like), toByte(l.Lent))
	}
	v := store.Quantize(p.lent)
	b = binary.AppendUvarint(b, uint64(len(v.Data)))
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v.Scale))
	for _, x := range v.Data {
		b = append(b, byte(x))
	}
	return b
}

// toByte rounds a number from 0 to 1 to 255 steps, and clamps others.
func toByte(x float32) byte { return byte(min(255, max(0, x*255+.5))) }

var errPrepared = errors.New("catalog: a stored analysis cannot be read")

// textOf decodes only which text was embedded. It returns false if b has another version or cannot be a prepared tool.
func textOf(b []byte) (h store.TextHash, ok bool) {
	if len(b) < 1+len(h) || b[0] != preparedLayout {
		return h, false
	}
	return store.TextHash(b[1:]), true
}

// rivalsOf decodes only with which tools of its server the tool was analysed. It returns false if b has another version
// or cannot be a prepared tool.
func rivalsOf(b []byte) (uint64, bool) {
	const at = 1 + len(store.TextHash{})
	if _, ok := textOf(b); !ok || len(b) < at+8 {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b[at:]), true
}

// decodePrepared decodes what encode returned. For any other bytes it returns an error and never panics. The result
// shares no memory with b.
func decodePrepared(b []byte) (p prepared, err error) {
	var ok bool
	if p.text, ok = textOf(b); !ok {
		return prepared{}, errPrepared
	}
	r := byteReader{b: b[1+len(p.text):]}
	p.rivals, _ = rivalsOf(b)
	r.skipBytes(8)
	p.effect = knowledge.Effect(r.readByte())
	text := string(r.b) // one copy for all the words
	for f := range p.fields {
		p.fields[f] = make([]index.Term, r.readCount(2))
		for i := range p.fields[f] {
			n := int(min(r.readNumber(), math.MaxInt32))
			at := len(text) - len(r.b)
			r.skipBytes(n)
			if r.bad {
				return prepared{}, errPrepared
			}
			p.fields[f][i] = index.Term{Text: text[at : at+n], Weight: float32(r.readNumber()) / termUnits}
		}
	}
	p.landmarks = r.appendLandmarks(nil)
	n := r.readCount(1)
	if r.bad || len(r.b) != 4+n {
		return prepared{}, errPrepared
	}
	if n == 0 {
		return p, nil
	}
	scale := math.Float32frombits(binary.LittleEndian.Uint32(r.b))
	p.lent = make([]float32, n)
	for i := range p.lent {
		p.lent[i] = scale * float32(int8(r.b[4+i]))
	}
	return p, nil
}

// skimPrepared decodes of what encode returned only the weights of the terms and the landmarks, into the slices of a
// document, which it reuses. It returns false for bytes that decodePrepared refuses.
func skimPrepared(b []byte, into *index.Doc) bool {
	if _, ok := textOf(b); !ok {
		return false
	}
	r := byteReader{b: b[1+len(store.TextHash{}):]}
	r.skipBytes(8) // the rivals
	into.Class = r.readByte()
	for f := range len(prepared{}.fields) {
		terms := into.Fields[f][:0]
		for range r.readCount(2) {
			r.skipBytes(int(min(r.readNumber(), math.MaxInt32)))
			terms = append(terms, index.Term{Weight: float32(r.readNumber()) / termUnits})
		}
		into.Fields[f] = terms
	}
	into.Landmarks = r.appendLandmarks(into.Landmarks[:0])
	n := r.readCount(1)
	return !r.bad && len(r.b) == 4+n
}

// landmarksOf decodes only the landmarks of what encode returned; nil if it cannot be decoded.
func landmarksOf(b []byte) []index.Landmark {
	if _, ok := textOf(b); !ok {
		return nil
	}
	r := byteReader{b: b[1+len(store.TextHash{}):]}
	r.skipBytes(8) // the rivals
	r.readByte()   // the effect
	for range len(prepared{}.fields) {
		for range r.readCount(2) {
			r.skipBytes(int(min(r.readNumber(), math.MaxInt32)))
			r.readNumber()
		}
	}
	return r.appendLandmarks(nil)
}

// appendLandmarks appends the landmarks of a tool to out; it returns nil if they cannot be read.
func (r *byteReader) appendLandmarks(out []index.Landmark) []index.Landmark {
	n := r.readCount(3)
	out = slices.Grow(out, n)
	for range n {
		out = append(out, index.Landmark{
			Point: int32(min(r.readNumber(), math.MaxInt32)), Like: float32(r.readByte()) / 255,
			Lent: float32(r.readByte()) / 255,
		})
	}
	if r.bad {
		return nil
	}
	return out
}

// byteReader reads values from the front of b. Once a value is missing, bad is set, and all further values are zero.
type byteReader struct {
	b   []byte
	bad bool
}

// skipBytes passes over n bytes.
func (r *byteReader) skipBytes(n int) {
	if n > len(r.b) {
		r.bad, r.b = true, nil
		return
	}
	r.b = r.b[n:]
}

// readByte reads one byte.
func (r *byteReader) readByte() byte {
	if len(r.b) == 0 {
		r.bad = true
		return 0
	}
	v := r.b[0]
	r.b = r.b[1:]
	return v
}

// readNumber reads an unsigned varint.
func (r *byteReader) readNumber() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

// readCount reads how many elements follow, each of at least size bytes. It rejects counts that b cannot hold, so that
// damaged data does not cause a large allocation.
func (r *byteReader) readCount(size int) int {
	n := r.readNumber()
	if n > uint64(len(r.b)/size) {
		r.bad, r.b = true, nil
		return 0
	}
	return int(n)
}
