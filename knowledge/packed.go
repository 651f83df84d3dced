package knowledge

import (
	"math"
	"slices"
	"strings"

	"tooldex/internal/vector"
)

// Vectors are stored in few bits a component. A tool is compared with the description of each archetype, which needs
// more of them than the mean of an archetype's requests: what a tool borrows is a mean of sixteen of those, in which
// their errors cancel out.
const (
	vectorBits = 3
	meanBits   = 2
	groupSize  = 32  // components that share one scale
	scaleSteps = 400 // steps of a group's scale in one: 255 of them reach the largest component that occurs
)

// compileVectors packs the vector of each archetype's description, and the mean vector of its requests.
func compileVectors(all []Archetype, enc Encoder) (documents, means []byte) {
	v := make([]float32, enc.Dims)
	for _, a := range all {
		enc.Document(a.Name+" "+a.Server, a.Description, strings.Join(a.Params, " "), v)
		documents = appendPacked(documents, v, vectorBits)
		means = appendPacked(means, meanVector(enc, a.Utterances), meanBits)
	}
	return documents, means
}

// meanVector returns the direction of the mean of the requests' vectors, in unit length; zero without requests.
func meanVector(enc Encoder, requests []string) []float32 {
	sum, one := make([]float32, enc.Dims), make([]float32, enc.Dims)
	for _, u := range requests {
		enc.Query(u, one)
		vector.Axpy(sum, one, 1)
	}
	normalize(sum)
	return sum
}

// appendPacked writes v by groups: one byte of scale, then so many bits a component, lowest bits first. With n levels
// in these bits, a component is stored as one of -(n-1)/n, -(n-3)/n ... (n-1)/n of the group's scale. The largest
// component differs from group to group, so that a scale for each group loses less than one for the whole vector.
func appendPacked(out []byte, v []float32, bits int) []byte {
	for part := range slices.Chunk(v, groupSize) {
		scale := bestScale(part, bits)
		out = append(out, scale)
		var held uint32
		n := 0
		for _, x := range part {
			held |= uint32(levelOf(x, scale, bits)) << n
			for n += bits; n >= 8; n -= 8 {
				out = append(out, byte(held))
				held >>= 8
			}
		}
		if n > 0 {
			// Whole groups end at a full byte; only a last, shorter group leaves bits over.
			out = append(out, byte(held))
		}
	}
	return out
}

// levelOf returns the level that is nearest to a component. At scale 0, of a group of zeros, all levels mean 0.
func levelOf(x float32, scale byte, bits int) float64 {
	half := float64(int(1) << bits / 2)
	if scale == 0 {
		return 0
	}
	return min(2*half-1, max(0, math.Floor(float64(x)*scaleSteps/float64(scale)*half+half)))
}

// bestScale returns the scale at which the components of a group lose least: one that reaches the largest of them, or a
// lower one, which cuts the few largest off and stores the others more finely.
func bestScale(v []float32, bits int) (best byte) {
	var most float64
	for _, x := range v {
		most = max(most, math.Abs(float64(x)))
	}
	highest := min(255, math.Ceil(most*scaleSteps))
	least := math.Inf(1)
	half := float64(int(1) << bits / 2)
	for scale := highest; scale > 0 && scale >= highest/2; scale-- {
		var loss float64
		for _, x := range v {
			stored := (levelOf(x, byte(scale), bits) - half + .5) / half * scale / scaleSteps
			loss += (float64(x) - stored) * (float64(x) - stored)
		}
		if loss < least {
			least, best = loss, byte(scale)
		}
	}
	return best
}

// packedSize returns the number of bytes that a vector of dims components takes.
func packedSize(dims, bits int) int {
	n := dims / groupSize * (1 + groupSize*bits/8)
	if rest := dims % groupSize; rest > 0 {
		n += 1 + (rest*bits+7)/8
	}
	return n
}

// unpackRow unpacks the i-th of n vectors of len(v) components from what appendPacked wrote. It clears v if rows does
// not hold n such vectors.
func unpackRow(rows []byte, i, n int, v []float32, bits int) {
	size := packedSize(len(v), bits)
	if size*n != len(rows) {
		clear(v)
		return
	}
	b := rows[i*size : (i+1)*size]
	for part := range slices.Chunk(v, groupSize) {
		b = unpackGroup(b, part, bits)
	}
}

// unpackGroup unpacks one group of components and returns the bytes after it.
func unpackGroup(b []byte, v []float32, bits int) []byte {
	var value [1 << vectorBits]float32
	levels := 1 << bits
	step := float32(b[0]) * 2 / float32(levels*scaleSteps)
	for k := range levels {
		value[k] = (float32(k) - float32(levels-1)/2) * step
	}
	b = b[1:]
	// Eight components fill whole bytes, three or two of them. Shifts that are constants do not wait for each other.
	for len(v) >= 8 && len(b) >= bits {
		held := uint32(b[0]) | uint32(b[1])<<8
		to := (*[8]float32)(v)
		if bits == vectorBits {
			held |= uint32(b[2]) << 16
			to[0], to[1], to[2], to[3] = value[held&7], value[held>>3&7], value[held>>6&7], value[held>>9&7]
			to[4], to[5], to[6], to[7] = value[held>>12&7], value[held>>15&7], value[held>>18&7], value[held>>21&7]
		} else {
			to[0], to[1], to[2], to[3] = value[held&3], value[held>>2&3], value[held>>4&3], value[held>>6&3]
			to[4], to[5], to[6], to[7] = value[held>>8&3], value[held>>10&3], value[held>>12&3], value[held>>14&3]
		}
		v, b = v[8:], b[bits:]
	}
	var held uint32
	n := 0
	for i := range v {
		if n < bits {
			held |= uint32(b[0]) << n
			b = b[1:]
			n += 8
		}
		v[i] = value[held&uint32(levels-1)]
		held >>= bits
		n -= bits
	}
	return b
}
