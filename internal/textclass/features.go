package textclass

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Words of a sentence are hashed into this many buckets (Weinberger et al., Feature Hashing for Large Scale Multitask
// Learning, 2009).
const (
	bucketBits = 17
	buckets    = 1 << bucketBits
)

// stemLen is how many letters of a word count where it is combined with others, so that endings matter little.
const stemLen = 5

// The kinds of features.
const (
	wholeWord uint64 = iota + 1
	stem
	pair  // of stems that follow each other
	apart // with one or two between them
	triple
	together // of stems near each other, in any order
	classed  // of the classes of one word
	ordered  // of the classes of two words, in order
)

// mixHashes makes one hash of two, by the finaliser of SplitMix64.
func mixHashes(a, b uint64) uint64 {
	x := bits.RotateLeft64(a, 23) ^ b*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// reader reads the words of a sentence one by one, and remembers the three before.
type reader struct {
	text   string
	before [3]uint64 // stems of the words before, the nearest first; 0 where there is none
}

// nextFeatures sets the first elements of out to the buckets of the features of the next word, and returns their
// number: from 3 to 6, and 0 at the end.
func (r *reader) nextFeatures(out *[6]uint32) int {
	word, root := r.nextWord()
	if word == 0 {
		return 0
	}
	b := &r.before
	out[0] = bucketOf(mixHashes(wholeWord, word))
	out[1] = bucketOf(mixHashes(stem, root))
	out[2] = bucketOf(mixHashes(mixHashes(pair, b[0]), root)) // the first word stands behind nothing
	n := 3
	if b[1] != 0 {
		out[3] = bucketOf(mixHashes(mixHashes(apart, b[1]), root))
		out[4] = bucketOf(mixHashes(mixHashes(mixHashes(triple, b[1]), b[0]), root))
		n = 5
	}
	if b[2] != 0 {
		out[5] = bucketOf(mixHashes(mixHashes(apart, b[2]), root))
		n = 6
	}
	b[2], b[1], b[0] = b[1], b[0], root
	return n
}

// bucketOf returns the bucket of a hash: its upper bits.
func bucketOf(h uint64) uint32 { return uint32(h >> (64 - bucketBits)) }

// marks are the characters that count as words of their own.
const marks = "<>[]{}!?:@/~$*"

// The offset basis and the prime of 64-bit FNV-1a.
const seed, prime uint64 = 14695981039346656037, 1099511628211

// nextWord returns hashes of the next word and of its first stemLen letters, and 0 at the end. Letters are folded to
// lower case, all numbers are the same word, and each letter of a script without spaces is a word.
func (r *reader) nextWord() (word, root uint64) {
	word, root = seed, seed
	n, digits, i := 0, false, 0
	for i < len(r.text) {
		c, size := rune(r.text[i]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRuneInString(r.text[i:])
		}
		alone := false
		switch {
		case c >= 'a' && c <= 'z':
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		case c >= '0' && c <= '9':
			if digits {
				i += size
				continue
			}
			c = '0'
		case c < utf8.RuneSelf && strings.IndexByte(marks, byte(c)) >= 0, c >= utf8.RuneSelf && isUnspaced(c):
			alone = true
		case c >= utf8.RuneSelf && (unicode.IsLetter(c) || unicode.IsMark(c)):
			c = unicode.ToLower(c)
		default:
			c = -1
		}
		if n > 0 && (alone || c < 0) {
			break
		}
		i += size
		if c < 0 {
			continue
		}
		digits = c == '0'
		word = (word ^ uint64(c)) * prime
		if n++; n <= stemLen {
			root = word
		}
		if alone {
			break
		}
	}
	r.text = r.text[i:]
	if n == 0 {
		return 0, 0
	}
	return word, root
}

// isUnspaced reports whether r is of a script that sets no spaces between words.
func isUnspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
		unicode.Myanmar)
}

// Sentences whose words have classes of meaning have two more groups of features, with buckets of their own.
const (
	wideBits = 18
	wide     = 1 << wideBits
	nearby   = 8 // how many words two words may be apart, at the most, to count as together
	follows  = 6 // how many words apart two classes count as following each other
)

// wideBucket returns the bucket of a hash among those of the further groups.
func wideBucket(h uint64) uint32 { return uint32(h >> (64 - wideBits)) }

// eachTogether calls add with the bucket of each pair of stems that are near each other, in any order.
func eachTogether(sentence string, add func(uint32)) {
	var last [nearby]uint64
	r := reader{text: sentence}
	for n := 0; ; n++ {
		word, root := r.nextWord()
		if word == 0 {
			return
		}
		for _, other := range last[:min(n, nearby)] {
			add(wideBucket(mixHashes(together, root+other)))
		}
		last[n%nearby] = root
	}
}

// eachClass calls add with the bucket of each class of a word, and of each pair of classes of words that follow each
// other.
func eachClass(classes [][]uint64, add func(uint32)) {
	for i, of := range classes {
		for _, c := range of {
			add(wideBucket(mixHashes(classed, c)))
			for _, later := range classes[i+1 : min(len(classes), i+1+follows)] {
				for _, o := range later {
					add(wideBucket(mixHashes(mixHashes(ordered, c), o)))
				}
			}
		}
	}
}
