//go:build !amd64

package vector

func dot(a, b []float32) float32     { return dotPlain(a, b) }
func axpy(y, x []float32, f float32) { axpyPlain(y, x, f) }
