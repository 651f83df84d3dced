package vector

import "golang.org/x/sys/cpu"

//go:noescape
func levelsAVX2(codes, nibbles *uint64, n int, sums *uint64)

// wideIntegers is a property of the machine, not a setting.
var wideIntegers = cpu.X86.HasAVX2

// multiply is multiplyPlain for vectors of unitWords words, at least one.
func multiply(l *Levels, codes, sums []uint64) {
	if !wideIntegers {
		l.multiplyPlain(codes, sums)
		return
	}
	levelsAVX2(&codes[0], &l.nibbles[0], len(sums), &sums[0])
}
