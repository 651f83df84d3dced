//go:build !unix

package httpapi

import "math"

// openFiles is how many files this process may have open: here nothing but memory bounds them.
func openFiles() int { return math.MaxInt32 }
