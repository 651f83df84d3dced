package textclass

import "hash/fnv"

// Folds is how many parts [Fold] tells apart.
const Folds = 4

// Fold tells by a hash of its name which part of all a thing belongs to, so that what was trained on and what is
// measured stay apart.
func Fold(name string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // a hash takes everything
	return int(h.Sum32() % Folds)
}
