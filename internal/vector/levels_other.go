//go:build !amd64

package vector

func multiply(l *Levels, codes, sums []uint64) { l.multiplyPlain(codes, sums) }
