package knowledge

import (
	_ "embed" // the compiled base
	"sync"
)

//go:embed base.bin
var compiled []byte

var builtin = sync.OnceValues(func() (*Base, error) { return Open(compiled) })

// Builtin returns the knowledge that the binary carries. It is opened once and shared.
func Builtin() (*Base, error) { return builtin() }
