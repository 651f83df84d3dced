package embed

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// ErrModelFile is wrapped by every error of [OpenModel2Vec] that lies in a file's content rather than in reading it.
var ErrModelFile = errors.New("not a usable model")

// unreadableModel returns the error of a model file that cannot be read.
func unreadableModel(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrModelFile, fmt.Sprintf(format, args...))
}

// tensor is one array of a safetensors file. Its elements are read where they lie in the file's bytes, little endian.
type tensor struct {
	kind  string // one of F32, F16, BF16, F64, I8, U8, I32, I64
	shape []int
	data  []byte
	size  int // bytes of one element
}

// maxHeader bounds the header of a safetensors file; the format itself allows 100 MB, and no model of one table needs a
// hundredth.
const maxHeader = 1 << 20

// parseTensors reads a safetensors file: the header's length in 8 bytes, the header in JSON, and the bytes of all
// tensors. The tensors refer to b, which must not change. Tensors of a type that is not supported are left out, since
// no model may need them.
func parseTensors(b []byte) (map[string]tensor, error) {
	if len(b) < 8 {
		return nil, unreadableModel("%d bytes are too few for safetensors", len(b))
	}
	n := binary.LittleEndian.Uint64(b)
	if n > maxHeader || n > uint64(len(b)-8) {
		return nil, unreadableModel("a safetensors header of %d bytes in a file of %d", n, len(b))
	}
	var header map[string]json.RawMessage
	if err := json.Unmarshal(b[8:8+n], &header); err != nil {
		return nil, unreadableModel("the safetensors header is not JSON: %v", err)
	}
	data := b[8+n:]
	out := make(map[string]tensor, len(header))
	for name, raw := range header {
		if name == "__metadata__" {
			continue
		}
		t, ok, err := parseTensor(raw, data)
		if err != nil {
			return nil, fmt.Errorf("tensor %.80q: %w", name, err)
		}
		if ok {
			out[name] = t
		}
	}
	return out, nil
}

// parseTensor reads the header of one tensor, whose shape must fill its bytes exactly. ok is false for a type that is
// not supported.
func parseTensor(raw json.RawMessage, data []byte) (t tensor, ok bool, err error) {
	var h struct {
		Kind    string   `json:"dtype"`
		Shape   []int    `json:"shape"`
		Offsets []uint64 `json:"data_offsets"`
	}
	if err := json.Unmarshal(raw, &h); err != nil {
		return t, false, unreadableModel("its header: %v", err)
	}
	size, ok := map[string]int{"F64": 8, "I64": 8, "F32": 4, "I32": 4, "F16": 2, "BF16": 2, "I8": 1, "U8": 1}[h.Kind]
	if !ok {
		return t, false, nil
	}
	if len(h.Offsets) != 2 || h.Offsets[0] > h.Offsets[1] || h.Offsets[1] > uint64(len(data)) {
		return t, false, unreadableModel("its bytes are %v of %d", h.Offsets, len(data))
	}
	t = tensor{kind: h.Kind, shape: h.Shape, data: data[h.Offsets[0]:h.Offsets[1]], size: size}
	count := 1
	for _, n := range h.Shape {
		// Both factors are at most len(t.data), so the product cannot overflow 64 bits.
		if n < 0 || n > len(t.data) || count > len(t.data) {
			return t, false, unreadableModel("its shape %v does not fit %d bytes", h.Shape, len(t.data))
		}
		count *= n
	}
	if count*size != len(t.data) {
		return t, false, unreadableModel("its shape %v of %s does not fit %d bytes", h.Shape, h.Kind, len(t.data))
	}
	return t, true, nil
}

// len returns the number of elements.
func (t *tensor) len() int { return len(t.data) / t.size }

// elementAt returns element i, counted over all dimensions, as a number.
func (t *tensor) elementAt(i int) float64 {
	b := t.data[i*t.size:]
	switch t.kind {
	case "F64":
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	case "F32":
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case "F16":
		return float64(halfFloat(binary.LittleEndian.Uint16(b)))
	case "BF16":
		return float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16))
	case "I64":
		return float64(int64(binary.LittleEndian.Uint64(b)))
	case "I32":
		return float64(int32(binary.LittleEndian.Uint32(b)))
	case "I8":
		return float64(int8(b[0]))
	}
	return float64(b[0])
}

// addRow adds row i of a matrix, times by, to into, which must be as long as a row. The conversions keep the compiler
// from fusing a product with a sum, so that every machine gets the same bits.
func (t *tensor) addRow(into []float64, i int, by float64) {
	d := len(into)
	row := t.data[i*d*t.size : (i+1)*d*t.size]
	switch t.kind { // the common kinds without a switch for each component
	case "F32":
		for k := range into {
			into[k] += float64(float64(math.Float32frombits(binary.LittleEndian.Uint32(row[4*k:]))) * by)
		}
	case "I8":
		for k := range into {
			into[k] += float64(float64(int8(row[k])) * by)
		}
	default:
		for k := range into {
			into[k] += float64(t.elementAt(i*d+k) * by)
		}
	}
}

// halfFloat widens an IEEE 754 half-precision number.
func halfFloat(h uint16) float32 {
	sign, exp, frac := uint32(h>>15)<<31, uint32(h>>10)&0x1f, uint32(h)&0x3ff
	switch exp {
	case 0x1f:
		return math.Float32frombits(sign | 0x7f800000 | frac<<13)
	case 0:
		v := float32(frac) / (1 << 24)
		return math.Float32frombits(math.Float32bits(v) | sign)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}
