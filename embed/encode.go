package embed

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// Table is what a static table is made of, before [Encode] packs it. Rows of buckets come last in all slices and have
// no token.
type Table struct {
	Tokens  []string   // words as the tokenizer normalises them, and pieces with a leading # that continue a word
	Buckets int        // how many rows follow those of Tokens, for characters that no token spells; at least 1
	Rows    []float32  // (len(Tokens)+Buckets) × Dims; a row's length is its weight in a document
	Query   []float32  // factor on each row's weight in a query
	Mix     [3]float32 // weights of name, description and parameters in a document
}

// Encode packs a table into the bytes that [Open] reads. The same table gives the same bytes.
func Encode(t Table) ([]byte, error) {
	n := len(t.Tokens) + t.Buckets
	if n > maxRows || t.Buckets < 1 || t.Buckets > maxBuckets {
		return nil, fmt.Errorf("encode table: %d tokens and %d buckets", len(t.Tokens), t.Buckets)
	}
	if len(t.Rows) != n*Dims || len(t.Query) != n {
		return nil, fmt.Errorf("encode table: %d values and %d query weights for %d rows", len(t.Rows), len(t.Query), n)
	}
	texts, offsets, err := packTexts(t)
	if err != nil {
		return nil, err
	}
	slots, err := packSlots(t, texts, offsets)
	if err != nil {
		return nil, err
	}
	rows, weights := packRows(t)

	out := make([]byte, headerSize, headerSize+len(slots)+4*len(offsets)+len(weights)+len(texts)+rowAlign+len(rows))
	copy(out, tableMagic)
	put := binary.LittleEndian.PutUint32
	put(out[8:], uint32(n))
	put(out[12:], uint32(len(slots)/4))
	put(out[16:], uint32(t.Buckets))
	put(out[20:], uint32(len(texts)))
	for i, w := range t.Mix {
		put(out[24+4*i:], math.Float32bits(w))
	}
	out = append(out, slots...)
	for _, o := range offsets {
		out = binary.LittleEndian.AppendUint32(out, o)
	}
	out = append(append(out, weights...), texts...)
	for len(out)%rowAlign != 0 {
		out = append(out, 0)
	}
	out = append(out, rows...)
	copy(out[36:], tableDigest(out))
	return out, nil
}

// packTexts joins the tokens of a table to one text, and returns where each begins; the last offset is the end of all.
// A bucket gets a mark and its number, so that no text can match it.
func packTexts(t Table) (texts []byte, offsets []uint32, err error) {
	for _, tok := range t.Tokens {
		if tok == "" || len(tok) > maxPiece || tok[0] == bucketMark || tok == string(continues) {
			return nil, nil, fmt.Errorf("encode table: token %q", tok)
		}
		offsets = append(offsets, uint32(len(texts)))
		texts = append(texts, tok...)
	}
	for i := range t.Buckets {
		offsets = append(offsets, uint32(len(texts)))
		texts = append(texts, bucketMark, byte(i), byte(i>>8))
	}
	return texts, append(offsets, uint32(len(texts))), nil
}

// packSlots fills the hash table that findRow reads. It is at most two thirds full, and buckets are not in it: they are
// reached by their number only.
func packSlots(t Table, texts []byte, offsets []uint32) ([]byte, error) {
	size := uint32(64)
	for int(size)*2 < 3*(len(offsets)-1) {
		size *= 2
	}
	slots := make([]byte, 4*size)
	for i := range slots {
		slots[i] = 0xff
	}
	seen := make(map[string]bool, len(t.Tokens))
	for row, tok := range t.Tokens {
		if seen[tok] {
			return nil, fmt.Errorf("encode table: token %q twice", tok)
		}
		seen[tok] = true
		place, tag := slotOf(hashBytes(hashBasis, texts[offsets[row]:offsets[row+1]]))
		at := place & (size - 1)
		for binary.LittleEndian.Uint32(slots[4*at:]) != freeSlot {
			at = (at + 1) & (size - 1)
		}
		binary.LittleEndian.PutUint32(slots[4*at:], tag<<16|uint32(row))
	}
	return slots, nil
}

// packRows rounds each row to signed bytes with a scale of its own, stored plus 128. The scale becomes part of the
// row's weights, which are rounded to 16 bits relative to the greatest; every row keeps at least 1.
func packRows(t Table) (rows, weights []byte) {
	n := len(t.Query)
	doc, query := make([]float64, n), make([]float64, n)
	rows = make([]byte, n*Dims)
	for i := range n {
		r := t.Rows[i*Dims : (i+1)*Dims]
		top := float32(0)
		for _, v := range r {
			top = max(top, v, -v)
		}
		if top == 0 || math.IsNaN(float64(top)) {
			top = 1
		}
		doc[i] = float64(top) / 127
		query[i] = doc[i] * float64(t.Query[i])
		for k, v := range r {
			rows[i*Dims+k] = byte(int(math.RoundToEven(float64(v)/float64(top)*127)) + 128)
		}
	}
	weights = make([]byte, 4*n)
	for part, w := range [][]float64{doc, query} {
		top := slices.Max(w)
		for i, v := range w {
			q := max(1, math.RoundToEven(v/top*maxWeight))
			binary.LittleEndian.PutUint16(weights[4*i+2*part:], uint16(q))
		}
	}
	return rows, weights
}
