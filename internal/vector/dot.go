package vector

// lanes is how many sums are kept apart; what is left over after a multiple of it is added at the end, one by one.
const lanes = 32

// Dot is the inner product of a and b, which must be as long as a. Products are rounded before they are added, in an
// order that does not depend on the processor.
func Dot(a, b []float32) float32 {
	b = b[:len(a)]
	whole := len(a) &^ (lanes - 1)
	var sum float32
	if whole > 0 {
		sum = dot(a[:whole], b[:whole])
	}
	for i := whole; i < len(a); i++ {
		sum += float32(a[i] * b[i])
	}
	return sum
}

// Axpy adds f times x, which must be as long as y, to y.
func Axpy(y, x []float32, f float32) {
	x = x[:len(y)]
	whole := len(y) &^ (lanes - 1)
	if whole > 0 {
		axpy(y[:whole], x[:whole], f)
	}
	for i := whole; i < len(y); i++ {
		y[i] += float32(f * x[i])
	}
}

// dotPlain adds in the order in which the vector unit does: 32 lanes, folded by halves. The conversions forbid fused
// products.
func dotPlain(a, b []float32) float32 {
	var lane [lanes]float32
	b = b[:len(a)]
	for i := 0; i+lanes <= len(a); i += lanes {
		for k := range lane {
			lane[k] += float32(a[i+k] * b[i+k])
		}
	}
	for k := range 8 {
		lane[k] = (lane[k] + lane[8+k]) + (lane[16+k] + lane[24+k])
	}
	for k := range 4 {
		lane[k] += lane[4+k]
	}
	return (lane[0] + lane[2]) + (lane[1] + lane[3])
}

func axpyPlain(y, x []float32, f float32) {
	x = x[:len(y)]
	for i := range y {
		y[i] += float32(f * x[i])
	}
}
