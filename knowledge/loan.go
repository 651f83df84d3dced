package knowledge

import (
	"encoding/binary"
	"errors"
	"math"
)

// loanLayout is the version of a loan's binary form.
const loanLayout = 1

// termUnits is how many steps of a stored weight make one.
const termUnits = 256

var errLoan = errors.New("knowledge: a stored loan cannot be read")

// MarshalBinary returns the loan in compact form: likeness in 255 steps, weights in steps of 1/256, the vector in one byte
// a component. Lend returns loans already rounded so, that a loan is the same before and after it was stored.
func (l *Loan) MarshalBinary() ([]byte, error) {
	b := []byte{loanLayout}
	b = binary.AppendUvarint(b, uint64(len(l.From)))
	for _, f := range l.From {
		b = binary.AppendUvarint(b, uint64(f.Archetype))
		b = append(b, toByte(f.Like), toByte(f.Weight))
	}
	b = binary.AppendUvarint(b, uint64(len(l.Terms)))
	for _, t := range l.Terms {
		b = binary.AppendUvarint(b, uint64(len(t.Text)))
		b = append(b, t.Text...)
		b = binary.AppendUvarint(b, uint64(t.Weight*termUnits+.5))
	}
	b = binary.AppendUvarint(b, uint64(len(l.Vector)))
	var most float32
	for _, x := range l.Vector {
		most = max(most, float32(math.Abs(float64(x))))
	}
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(most/127))
	for _, x := range l.Vector {
		var q int8
		if most > 0 {
			q = int8(math.Round(float64(x / most * 127)))
		}
		b = append(b, byte(q))
	}
	return b, nil
}

func toByte(x float32) byte { return byte(min(255, max(0, x*255+.5))) }

// UnmarshalBinary reads what MarshalBinary wrote. Bytes that it did not write give an error and never a panic.
func (l *Loan) UnmarshalBinary(b []byte) error {
	r := loanReader{b: b}
	if r.byte() != loanLayout {
		return errLoan
	}
	out := Loan{From: make([]Lent, r.count(3))}
	for i := range out.From {
		out.From[i] = Lent{Archetype: int(r.number()), Like: float32(r.byte()) / 255, Weight: float32(r.byte()) / 255}
	}
	out.Terms = make([]Term, r.count(2))
	text := string(r.b) // one copy for all the words
	for i := range out.Terms {
		n := int(min(r.number(), math.MaxInt32))
		at := len(text) - len(r.b)
		if r.skip(n); r.bad {
			return errLoan
		}
		out.Terms[i] = Term{text[at : at+n], float32(r.number()) / termUnits}
	}
	n := r.count(1)
	if len(r.b) != 4+n {
		return errLoan
	}
	scale := math.Float32frombits(binary.LittleEndian.Uint32(r.b))
	if n > 0 {
		out.Vector = make([]float32, n)
		for i := range out.Vector {
			out.Vector[i] = scale * float32(int8(r.b[4+i]))
		}
		normalize(out.Vector)
	}
	if r.bad {
		return errLoan
	}
	*l = out
	return nil
}

// loanReader reads values from the front of b; after a value that is not there, bad is set and all are zero.
type loanReader struct {
	b   []byte
	bad bool
}

func (r *loanReader) skip(n int) {
	if n < 0 || n > len(r.b) {
		r.bad, r.b = true, nil
		return
	}
	r.b = r.b[n:]
}

func (r *loanReader) byte() byte {
	if len(r.b) == 0 {
		r.bad = true
		return 0
	}
	v := r.b[0]
	r.b = r.b[1:]
	return v
}

func (r *loanReader) number() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

// count reads how many elements follow, each of at least size bytes.
func (r *loanReader) count(size int) int {
	n := r.number()
	if n > uint64(len(r.b)/size) {
		r.bad, r.b = true, nil
		return 0
	}
	return int(n)
}
