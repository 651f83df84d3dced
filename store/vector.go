package store

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"strconv"

	"tooldex/embed"
)

// modelKey returns the key of the bucket of a model's vectors. Vectors of two models, or of two versions of one, are
// never mixed.
func modelKey(m embed.Model) []byte {
	return []byte(m.Name + "\x00" + m.Fingerprint + "\x00" + strconv.Itoa(m.Dims))
}

// TextHash identifies the text that a vector was made of.
type TextHash [16]byte

// HashText returns the hash of a text in parts. The bounds of parts matter: HashText("ab", "c") is not HashText("a",
// "bc"). Stored vectors depend on it: it must not change within a layout.
func HashText(parts ...string) TextHash {
	h := sha256.New()
	var n [8]byte
	for _, p := range parts {
		binary.LittleEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write([]byte(p))
	}
	var sum [sha256.Size]byte
	return TextHash(h.Sum(sum[:0])[:len(TextHash{})])
}

// Vector is a vector of one byte for each dimension: component i is Scale * Data[i].
type Vector struct {
	Scale float32
	Data  []int8
}

// Quantize rounds v to one byte for each dimension; no component is off by more than half a 127th of the largest.
// Components that are not finite become zero. The zero vector has scale zero.
func Quantize(v []float32) Vector {
	var most float32
	for _, x := range v {
		if a := float32(math.Abs(float64(x))); a > most && !math.IsInf(float64(a), 0) {
			most = a
		}
	}
	out := Vector{Scale: most / 127, Data: make([]int8, len(v))}
	if out.Scale == 0 {
		return out
	}
	for i, x := range v {
		if r := math.Round(float64(x / out.Scale)); math.Abs(r) <= 127 {
			out.Data[i] = int8(r)
		}
	}
	return out
}

// Float32s appends the vector's components to into and returns the extended slice.
func (v Vector) Float32s(into []float32) []float32 {
	for _, x := range v.Data {
		into = append(into, v.Scale*float32(x))
	}
	return into
}

// EncodeVector encodes a vector: four bytes of scale, then one byte for each dimension.
func EncodeVector(v Vector) []byte {
	b := make([]byte, 0, 4+len(v.Data))
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v.Scale))
	for _, x := range v.Data {
		b = append(b, byte(x))
	}
	return b
}

// vectorLen is the length of an encoded vector.
func vectorLen(dims int) int { return 4 + dims }

// DecodeVector decodes what EncodeVector wrote, as a copy. It fails unless the vector has dims dimensions.
func DecodeVector(b []byte, dims int) (Vector, error) {
	if len(b) != vectorLen(dims) {
		return Vector{}, errTruncated
	}
	v := Vector{Scale: math.Float32frombits(binary.LittleEndian.Uint32(b)), Data: make([]int8, dims)}
	for i, x := range b[4:] {
		v.Data[i] = int8(x)
	}
	return v, nil
}
