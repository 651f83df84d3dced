//go:build !unix

package httpapi

import "math"

// openFiles returns how many files this process may open. Here only memory bounds them.
func openFiles() int { return math.MaxInt32 }
