package likeness

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Words of a sentence are hashed into this many buckets (Weinberger et al., Feature Hashing for Large Scale Multitask Learning, 2009).
const (
	bucketBits = 17
	buckets    = 1 << bucketBits
)

// stemLen is how many letters of a word stand for it where it is looked at beside others, so that its endings count little.
const stemLen = 5

// The kinds of features.
const (
	wholeWord uint64 = iota + 1
	stem
	pair  // of stems that follow each other
	apart // with one or two between them
	triple
)

// mix makes one hash of two, by the finaliser of SplitMix64.
func mix(a, b uint64) uint64 {
	x := bits.RotateLeft64(a, 23) ^ b*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// features calls yield with the bucket of each feature of a sentence.
func features(sentence string, yield func(bucket uint32)) {
	var before [3]uint64 // stems of the words before, the nearest first; 0 where there is none
	words(sentence, func(word, root uint64) {
		give := func(h uint64) { yield(uint32(h >> (64 - bucketBits))) }
		give(mix(wholeWord, word))
		give(mix(stem, root))
		give(mix(mix(pair, before[0]), root)) // the first word stands behind nothing
		if before[1] != 0 {
			give(mix(mix(apart, before[1]), root))
			give(mix(mix(mix(triple, before[1]), before[0]), root))
		}
		if before[2] != 0 {
			give(mix(mix(apart, before[2]), root))
		}
		before[2], before[1], before[0] = before[1], before[0], root
	})
}

// marks are the characters that count as words of their own.
const marks = "<>[]{}!?:@/~$*"

// words calls yield with hashes of each word and of its stem. Letters are folded to lower case, all numbers are one word, and a letter of a script
// without spaces is one.
func words(s string, yield func(word, root uint64)) {
	const seed, prime = 14695981039346656037, 1099511628211 // FNV-1a's
	word, root, n, digits := uint64(seed), uint64(seed), 0, false
	end := func() {
		if n > 0 {
			yield(word, root)
		}
		word, root, n, digits = seed, seed, 0, false
	}
	add := func(r rune) {
		word = (word ^ uint64(r)) * prime
		if n++; n <= stemLen {
			root = word
		}
	}
	for i := 0; i < len(s); {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		i += size
		switch {
		case r >= 'a' && r <= 'z':
			add(r)
		case r >= 'A' && r <= 'Z':
			add(r + 'a' - 'A')
		case r >= '0' && r <= '9':
			if !digits {
				add('0')
			}
			digits = true
			continue
		case r < utf8.RuneSelf:
			end()
			if strings.IndexByte(marks, byte(r)) >= 0 {
				add(r)
				end()
			}
		case unspaced(r):
			end()
			add(r)
			end()
		case unicode.IsLetter(r), unicode.IsMark(r):
			add(unicode.ToLower(r))
		default:
			end()
		}
		digits = false
	}
	end()
}

// unspaced reports whether r is of a script whose words stand together.
func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
