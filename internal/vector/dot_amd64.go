package vector

import "golang.org/x/sys/cpu"

//go:noescape
func dotAVX(a, b *float32, n int) float32

//go:noescape
func axpyAVX(y, x *float32, a float32, n int)

// wideVectors is a property of the machine, not a setting.
var wideVectors = cpu.X86.HasAVX

// dot is the inner product of a and b, whose length is a multiple of 32.
func dot(a, b []float32) float32 {
	if !wideVectors {
		return dotPlain(a, b)
	}
	b = b[:len(a)]
	return dotAVX(&a[0], &b[0], len(a))
}

// axpy adds f times x to y, whose length is a multiple of 32.
func axpy(y, x []float32, f float32) {
	if !wideVectors {
		axpyPlain(y, x, f)
		return
	}
	x = x[:len(y)]
	axpyAVX(&y[0], &x[0], f, len(y))
}
