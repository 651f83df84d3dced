package embed

import (
	"context"
	_ "embed"
	"encoding/binary"
	"math"
	"sync"
)

// How many rows of a text are read, as in training. Names rarely have more than a dozen, and what a description says
// after a hundred words is usually how to call the tool, not what it is for.
const (
	queryTokens       = 128
	nameTokens        = 24
	descriptionTokens = 96
	parameterTokens   = 64
)

// maxWeight is the greatest weight of a row. maxTokens rows of it, at the greatest byte, sum to less than 2^32.
const maxWeight = 65535

//go:embed table.bin
var table []byte

// builtin opens the table at the first call and shares it.
var builtin = sync.OnceValues(func() (*Static, error) { return Open(table) })

// Builtin returns the table that is compiled into the binary. It is shared by all callers; the first call takes about a
// tenth of a millisecond, and none reads the rows before they are needed.
func Builtin() (*Static, error) { return builtin() }

// sums is a bag of rows added up, two components in a word: in group g of eight, word 4g+i holds components 8g+i and
// 8g+i+4. All of it is integer arithmetic, so that every machine gets the same sums.
type sums [Dims / 2]uint64

// low selects the bytes 0 and 4 of a word, which become the two halves of a sum.
const low = 0x000000ff_000000ff

// addAll sets a to the sum of rows times their weights. The bytes of a row are 128 too great, which addNormalized takes
// off. It goes through all rows for each few components, because four sums fit the registers and all of them do not.
// One multiplication adds two components: a byte times a 16-bit weight, summed over 256 rows, stays below 2^32 and
// cannot carry into the other half.
func (a *sums) addAll(rows []byte, g *tokenBag, weights *[maxTokens]uint64) {
	for i := 0; i < Dims; i += 8 {
		var c0, c1, c2, c3 uint64
		for k, r := range g.rows[:g.n] {
			x, w := binary.LittleEndian.Uint64(rows[int(r)*Dims+i:]), weights[k]
			c0 += (x & low) * w
			c1 += (x >> 8 & low) * w
			c2 += (x >> 16 & low) * w
			c3 += (x >> 24 & low) * w
		}
		*(*[4]uint64)(a[i/2:]) = [4]uint64{c0, c1, c2, c3}
	}
}

// addNormalized adds the sums to out, in unit length times scale. total is the sum of the weights. Sums of zero length
// add nothing.
func (a *sums) addNormalized(out *[Dims]float64, total uint64, scale float64) {
	bias := int64(128 * total)
	var v [Dims]float64
	for i := range a {
		at := i/4*8 + i%4
		v[at] = float64(int64(a[i]&0xffffffff) - bias)
		v[at+4] = float64(int64(a[i]>>32) - bias)
	}
	n := vectorLength(&v)
	if n == 0 {
		return
	}
	scale /= n
	for i := range v {
		out[i] += float64(v[i] * scale)
	}
}

// vectorLength returns the Euclidean norm. The conversions keep the compiler from fusing a product with a sum, which
// would give other bits on machines that can.
func vectorLength(v *[Dims]float64) float64 {
	var a, b, c, d float64
	for i := 0; i < Dims; i += 4 {
		a += float64(v[i] * v[i])
		b += float64(v[i+1] * v[i+1])
		c += float64(v[i+2] * v[i+2])
		d += float64(v[i+3] * v[i+3])
	}
	return math.Sqrt((a + b) + (c + d))
}

// sumRows sums the first limit rows of text, with their weights in a document (side 0) or a query (side 1), and adds
// them to out in unit length times scale. A text without rows adds nothing.
func (s *Static) sumRows(out *[Dims]float64, text string, limit, side int, scale float64) {
	var g tokenBag
	s.readText(&g, text, limit)
	if g.n == 0 {
		return
	}
	var a sums
	var weights [maxTokens]uint64
	total := uint64(0)
	for i, r := range g.rows[:g.n] {
		weights[i] = uint64(binary.LittleEndian.Uint16(s.weights[4*int(r)+2*side:]))
		total += weights[i]
	}
	a.addAll(s.rows, &g, &weights)
	a.addNormalized(out, total, scale)
}

// Query writes the vector of a request into the first Dims places of into, which must be that long. It allocates
// nothing.
func (s *Static) Query(text string, into []float32) {
	into = into[:Dims]
	var out [Dims]float64
	s.sumRows(&out, text, queryTokens, 1, 1)
	for i, v := range out {
		into[i] = float32(v)
	}
}

// Document writes the vector of a tool into the first Dims places of into, which must be that long. It allocates
// nothing.
func (s *Static) Document(d Document, into []float32) {
	into = into[:Dims]
	var out [Dims]float64
	// Each field is brought to unit length before it is weighted, so that a long description does not drown the name.
	s.sumRows(&out, d.Name, nameTokens, 0, s.mix[0])
	s.sumRows(&out, d.Description, descriptionTokens, 0, s.mix[1])
	s.sumRows(&out, d.Parameters, parameterTokens, 0, s.mix[2])
	n := vectorLength(&out)
	if n == 0 {
		n = 1
	}
	for i, v := range out {
		into[i] = float32(v / n)
	}
}

// Queries implements [Embedder]. The only error is that of a context that has ended.
func (s *Static) Queries(ctx context.Context, texts []string) ([][]float32, error) {
	return makeVectors(ctx, len(texts), func(i int, into []float32) { s.Query(texts[i], into) })
}

// Documents implements [Embedder]. The only error is that of a context that has ended.
func (s *Static) Documents(ctx context.Context, docs []Document) ([][]float32, error) {
	return makeVectors(ctx, len(docs), func(i int, into []float32) { s.Document(docs[i], into) })
}

// makeVectors makes n vectors in one piece of memory, each with its capacity cut so that appending to one cannot reach
// the next. It checks the context every 128 vectors.
func makeVectors(ctx context.Context, n int, one func(int, []float32)) ([][]float32, error) {
	// one allocation for all vectors
	all := make([]float32, n*Dims)
	out := make([][]float32, n)
	for i := range out {
		if i%128 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		out[i] = all[i*Dims : (i+1)*Dims : (i+1)*Dims]
		one(i, out[i])
	}
	return out, nil
}
