package textclass

import "hash/fnv"

// Folds is the number of parts into which [Fold] divides.
const Folds = 4

// Fold returns the part, from 0 to Folds-1, that a thing belongs to, by a hash of its name. It separates what is
// trained on from what is measured, and is the same in every process.
func Fold(name string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // a hash takes everything
	return int(h.Sum32() % Folds)
}
