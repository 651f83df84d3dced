package scan

import (
	"bytes"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// token is one word of a text. A token refers to its text by offsets, so that splitting allocates nothing but the list.
type token struct {
	*entry           // never nil once it is in a list of tokens
	start, end int32 // byte offsets in the text; maxText keeps them small
	last       bool  // it ends a sentence
}

// splitWords returns the words of text, folded and looked up. It reuses the space of out, whose contents are lost. The
// last word of each sentence is marked. Paths and addresses are one word each.
func splitWords(text string, out []token) []token {
	out = out[:0]
	for i := 0; i < len(text); {
		r, n := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(text[i:])
		}
		// Paths come before words, since they contain words.
		if end, e, is := pathAt(text, i); is {
			out = append(out, token{entry: e, start: int32(i), end: int32(end)})
			i = end
			continue
		}
		if inWord(r) {
			t := wordAt(text, i, r)
			if t.entry == nil {
				i += n
				continue
			}
			// A compound such as "no need" is recognised at its last word, which takes the entry of the whole.
			if n := len(out); n > 0 && out[n-1].next != nil && !out[n-1].last {
				if both := out[n-1].next[t.entry]; both != nil {
					t.entry = both
				}
			}
			// "never ... without asking" is the opposite of "without asking"
			if t.intersects(&lexicon().sans) && isDenied(out) {
				t.entry = unknown
			}
			out = append(out, t)
			i = int(t.end)
			continue
		}
		if len(out) > 0 && endsSentence(text, i, n, r) {
			out[len(out)-1].last = true
		}
		i += n
	}
	if len(out) > 0 {
		out[len(out)-1].last = true
	}
	return out
}

// eachSentence yields the words of each sentence. The slices share memory with words.
func eachSentence(words []token) iter.Seq[[]token] {
	return func(yield func([]token) bool) {
		from := 0
		for i := range words {
			if !words[i].last {
				continue
			}
			if !yield(words[from : i+1]) {
				return
			}
			from = i + 1
		}
	}
}

// The kinds of ASCII bytes. A byte of no kind ends a path.
const (
	wordByte  = iota + 1
	opensPath // may stand before what marks a path
	marksPath
	inPath
)

// kinds holds the kind of each byte. It is read-only.
var kinds = func() (out [256]byte) {
	for c := byte('!'); c < 0x7f; c++ {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_':
			out[c] = wordByte
		case strings.IndexByte(":~$%-", c) >= 0:
			out[c] = opensPath
		case strings.IndexByte("/.@\\", c) >= 0:
			out[c] = marksPath
		case strings.IndexByte("\"'`,;()<>[]{}|", c) < 0:
			out[c] = inPath
		}
	}
	return out
}()

// inWord reports whether r is part of words. Marks are, since Indian scripts write vowels as marks.
func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return kinds[r] == wordByte
	}
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)
}

// isDenied reports whether one of the words before a "without" makes it a condition, as in "never call it without
// asking".
func isDenied(before []token) bool {
	for n := len(before) - 1; n >= max(0, len(before)-7) && !before[n].last; n-- {
		if before[n].intersects(&lexicon().denial) {
			return true
		}
	}
	return false
}

// wordAt returns the word that begins at i with r. Its entry is nil where the script sets no spaces between words and
// the lexicon has no word that begins here.
func wordAt(text string, i int, r rune) token {
	if joinsWords(r) {
		e, n := lexicon().findUnspaced(text[i:])
		return token{entry: e, start: int32(i), end: int32(i + n)}
	}
	end := wordEnd(text, i)
	return token{entry: lookUp(text[i:end]), start: int32(i), end: int32(end)}
}

// wordEnd returns where the word that begins at i ends.
func wordEnd(text string, i int) int {
	for i < len(text) {
		if c := text[i]; c < utf8.RuneSelf {
			if kinds[c] != wordByte {
				return i
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		if !inWord(r) || joinsWords(r) {
			return i
		}
		i += n
	}
	return i
}

// maxPath bounds how many bytes a path may have. Without a bound, a long run without spaces would be read again from
// each of its bytes.
const maxPath = 200

// pathAt returns the end and the classes of the path or address that begins at i. It returns false if none begins
// there, or if it is of no interest to a pattern.
func pathAt(text string, i int) (end int, e *entry, is bool) {
	// A path begins at a boundary, with a character that may open or mark one.
	if k := kinds[text[i]]; k == 0 || k == inPath || i > 0 && kinds[text[i-1]] == wordByte {
		return i, unknown, false
	}
	marked := false
	for end = i; end < len(text) && end-i < maxPath; end++ {
		k := kinds[text[end]]
		if k == 0 {
			break
		}
		marked = marked || k == marksPath
		// characters such as + or # belong to a path only behind a mark
		if !marked && k == inPath {
			break
		}
	}
	if !marked {
		return i, unknown, false
	}
	// punctuation behind a path belongs to the sentence
	word := strings.TrimRight(text[i:end], ".:!?*")
	e, is = pathClass(word)
	return i + len(word), e, is
}

// endsSentence reports whether the character r of n bytes at i ends a sentence: a full stop before a space, an empty
// line, a line break before the next point of a list. A full stop inside a word or number does not.
func endsSentence(text string, i, n int, r rune) bool {
	switch r {
	case '.', '!', '?', ';':
		return i+n >= len(text) || text[i+n] == ' ' || text[i+n] == '\n' || text[i+n] == '<' || text[i+n] == '"' ||
			text[i+n] == '\t'
	case '。', '！', '？', '؟', '।', '；':
		return true
	case '\n':
		rest := strings.TrimLeft(text[i+1:], " \t")
		return rest == "" || rest[0] == '\n' || rest[0] == '-' || rest[0] == '*' || rest[0] == '#' || rest[0] >= '0' &&
			rest[0] <= '9'
	}
	return false
}

// lookUp returns the entry of a word, unknown if it has none. ASCII words, which most are, are folded in a buffer on
// the stack; one that does not fit counts as unknown.
func lookUp(word string) *entry {
	var buf [24]byte
	// no known word is this long, in any script
	if len(word) > 4*len(buf) {
		return unknown
	}
	for i := range len(word) {
		c := word[i]
		if c >= utf8.RuneSelf {
			return lexicon().findEntry(foldWord(word))
		}
		if i >= len(buf) {
			return unknown
		}
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		buf[i] = c
	}
	if e, ok := lexicon().words[string(buf[:len(word)])]; ok {
		return e
	}
	for _, end := range secretNames {
		if bytes.HasSuffix(buf[:len(word)], end) {
			return lexicon().aSecret
		}
	}
	return lexicon().longestStem(buf[:len(word)])
}

// secretNames are the endings of names of variables that hold secrets. They are read-only.
var secretNames = [][]byte{[]byte("_api_key"), []byte("_secret_key"), []byte("_password"), []byte("_secret")}

// foldWord brings a word to the form in which the lexicon lists it: lower case, without accents. In a word that mixes
// Latin letters with lookalikes of other scripts, the lookalikes become Latin.
func foldWord(word string) string {
	word = strings.ToLower(word)
	if mixesScripts(word) {
		word = nameSkeleton(word)
	}
	var b strings.Builder
	for _, r := range norm.NFD.String(word) {
		switch {
		case r >= 0x300 && r <= 0x36f:
		case r == 'ı':
			b.WriteByte('i')
		case r == 'ł':
			b.WriteByte('l')
		default:
			b.WriteRune(r)
		}
	}
	return norm.NFC.String(b.String())
}
