package scan

import (
	"encoding/base64"
	"encoding/hex"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxDecoded bounds how often the result of a decoding is decoded again.
const maxDecoded = 3

// findEncoded finds instructions in a form that a person skips and a model understands: base64, hexadecimal, percent
// signs, escapes, entities, ROT13, backwards, letter by letter, with digits for letters. Decoded text is scanned by
// itself; it is reported only if a rule finds something in it that it did not find in the tool as written.
func (w *work) findEncoded(x text) {
	if w.depth >= maxDecoded || x.place == key {
		return
	}
	for _, s := range possibleDecodings(x.text) {
		// The decoded text is scanned as a part of the same tool, so that what the tool is about still counts.
		sub := &work{s: w.s, t: w.t, topic: w.topic, named: w.named, stated: w.stated, depth: w.depth + 1}
		sub.checkText(text{value, x.field, s})
		sub.sumClues()
		if slices.ContainsFunc(sub.found, func(f Finding) bool { return !w.hasFinding(f.Rule) }) {
			w.addFinding("encoded", x.field, s)
			return
		}
	}
	n := 0
	for _, t := range w.words { // left by phrases, which runs before
		if t.intersects(&lexicon().rotated) {
			n++
		}
	}
	// ROT13 words are in the lexicon; one of them may be a coincidence.
	if n > 1 && w.depth == 0 {
		w.addFinding("encoded", x.field, x.text)
	}
}

// least is the shortest run of letters, in bytes, that is worth decoding.
const least = 16

// possibleDecodings returns what runs of letters in a text may stand for. Their total length is at most a few times
// that of the text, which keeps the time of a scan linear.
func possibleDecodings(s string) []string {
	var out []string
	add := func(b []byte, err error) {
		if err == nil && isReadable(b) {
			out = append(out, string(b))
		}
	}
	for i := 0; i < len(s); {
		end := i
		for end < len(s) && isEncodingByte(s[end]) {
			end++
		}
		// Hexadecimal is tried first, since its digits are also valid base64.
		if run := strings.TrimRight(s[i:end], "="); len(run) >= least {
			if len(run)%2 == 0 && isHex(run) {
				add(hex.DecodeString(run))
			} else if len(run) > least+2 && run[0] == '0' && (run[1] == 'x' || run[1] == 'X') && isHex(run[2:]) &&
				len(run)%2 == 0 {
				add(hex.DecodeString(run[2:]))
			} else if strings.ContainsAny(run, "-_") {
				add(base64.RawURLEncoding.DecodeString(run))
			} else {
				add(base64.RawStdEncoding.DecodeString(run))
			}
		}
		i = end + 1
	}
	// The whole text is decoded for the remaining forms, which mix encoded and plain characters.
	if n := strings.Count(s, "%"); n >= least/2 && n*3 >= least {
		if d, err := url.PathUnescape(s); err == nil {
			out = append(out, d)
		}
	}
	if strings.Count(s, "&#") >= least/2 {
		out = append(out, html.UnescapeString(s))
	}
	if n := strings.Count(s, `\x`) + strings.Count(s, `\u`); n >= least/2 {
		out = append(out, replaceEscapes(s))
	}
	if plain := spelledOut(s); plain != "" {
		out = append(out, plain)
	}
	if plain := withoutDigits(s); plain != "" {
		out = append(out, plain)
	}
	return out
}

// spelledOut returns a text with words that are spelled letter by letter put together, such as i.g.n.o.r.e or i g n o r
// e. It returns "" if the text has hardly any, as abbreviations are.
func spelledOut(s string) string {
	alone := 0
	for i := 1; i+1 < len(s); i++ {
		if isLetter(s[i]) && !isLetter(s[i-1]) && !isLetter(s[i+1]) {
			alone++
		}
	}
	// a cheap test that nearly all texts fail
	if alone < least-6 {
		return ""
	}
	var b strings.Builder
	together := 0
	for i := 0; i < len(s); {
		end := i
		// The separator must stay the same within a word, and letters must stand alone.
		for sep := byteAt(s, i+1); end+2 < len(s) && isLetter(s[end]) && s[end+1] == sep &&
			strings.IndexByte(" .-*_", sep) >= 0 && isLetter(s[end+2]) && !isLetter(byteAt(s, end+3)); {
			end += 2
		}
		if n := (end-i)/2 + 1; end > i && n >= 3 && (i == 0 || !isLetter(s[i-1])) {
			for k := i; k <= end; k += 2 {
				b.WriteByte(s[k])
			}
			together += n
			i = end + 1
			continue
		}
		b.WriteByte(s[i])
		i++
	}
	if together < least-4 {
		return ""
	}
	return strings.ToValidUTF8(b.String(), "")
}

// withoutDigits returns a text with digits inside words read as the letters that they resemble, as in 1gn0r3. It
// returns "" if fewer than three words have such digits.
func withoutDigits(s string) string {
	if strings.Count(s, "0")+strings.Count(s, "1")+strings.Count(s, "3")+strings.Count(s, "4") < 3 {
		return ""
	}
	words := 0
	var b strings.Builder
	for i := 0; i < len(s); {
		end := i
		letters, digits := 0, 0
		for ; end < len(s) && (isLetter(s[end]) || strings.IndexByte("0134578@$", s[end]) >= 0); end++ {
			if isLetter(s[end]) {
				letters++
			} else {
				digits++
			}
		}
		if end == i {
			b.WriteByte(s[i])
			i++
			continue
		}
		word := s[i:end]
		if letters > 0 && digits > 0 && len(word) > 2 {
			words++
			word = strings.Map(func(r rune) rune {
				if k := strings.IndexRune("0134578@$", r); k >= 0 {
					return rune("oieastbas"[k])
				}
				return r
			}, word)
		}
		b.WriteString(word)
		i = end
	}
	// names such as s3 or web3 are common in honest texts
	if words < 3 {
		return ""
	}
	return strings.ToValidUTF8(b.String(), "")
}

// isLetter reports whether c is an ASCII letter; setting bit 0x20 makes it lower case.
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// isEncodingByte reports whether c belongs to the alphabets of base64, base64url or hexadecimal.
func isEncodingByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '-' ||
		c == '_' || c == '='
}

// isHex reports whether s has hexadecimal digits only.
func isHex(s string) bool {
	for i := range len(s) {
		if c := s[i] | 0x20; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// isReadable reports whether b is text: valid UTF-8 without control characters, at least 70 % letters and spaces.
// Decoding bytes that were never encoded seldom yields that.
func isReadable(b []byte) bool {
	if len(b) < least/2 || !utf8.Valid(b) {
		return false
	}
	letters := 0
	for _, r := range string(b) {
		if unicode.IsLetter(r) || r == ' ' {
			letters++
		} else if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return false
		}
	}
	return letters*10 >= utf8.RuneCount(b)*7
}

// replaceEscapes replaces \x41 and \u0041 by the characters that they stand for.
func replaceEscapes(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		if n := map[byte]int{'x': 2, 'u': 4}[byteAt(s, i+1)]; s[i] == '\\' && n > 0 && i+2+n <= len(s) {
			if v, err := strconv.ParseUint(s[i+2:i+2+n], 16, 32); err == nil {
				b.WriteRune(rune(v))
				i += 2 + n
				continue
			}
		}
		b.WriteByte(s[i])
		i++
	}
	return strings.ToValidUTF8(b.String(), "")
}

// byteAt returns the byte at i, and 0 beyond the end.
func byteAt(s string, i int) byte {
	if i < len(s) {
		return s[i]
	}
	return 0
}
