package embed

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pretokenizer splits one part into several, which it appends to dst. It keeps no state. The implementations follow the
// Hugging Face tokenizers library exactly, including its edge cases: the rows of a model were trained on its output.
type pretokenizer func(dst []part, p part) []part

// parsePretokenizer appends the steps of a pre-tokenizer to dst, a sequence flattened. An absent or null one has no
// steps. A type that is not supported is an error.
func parsePretokenizer(dst []pretokenizer, raw json.RawMessage, depth int) ([]pretokenizer, error) {
	if isNull(raw) {
		return dst, nil
	}
	kind, err := jsonKind(raw)
	if err != nil {
		return nil, err
	}
	f := struct {
		Steps      []json.RawMessage `json:"pretokenizers"`
		Behavior   string            `json:"behavior"`
		Pattern    json.RawMessage   `json:"pattern"`
		Invert     bool              `json:"invert"`
		Individual bool              `json:"individual_digits"`
		Delimiter  string            `json:"delimiter"`
	}{}
	if err := unmarshalPart(raw, &f, "a pre-tokenizer"); err != nil {
		return nil, err
	}
	// most types are a finder with a behaviour
	one := func(find finder, behavior string) ([]pretokenizer, error) {
		by, err := newSplitter(find, behavior, f.Invert)
		return append(dst, by), err
	}
	switch kind {
	case "Sequence":
		if depth > maxDepth {
			return nil, unreadableModel("tokenizer: sequences of sequences without end")
		}
		for _, step := range f.Steps {
			if dst, err = parsePretokenizer(dst, step, depth+1); err != nil {
				return nil, err
			}
		}
		return dst, nil
	case "BertPreTokenizer":
		// BERT removes white space first, then isolates punctuation in what is left.
		if dst, err = one(findRunes(unicode.IsSpace), "Removed"); err != nil {
			return nil, err
		}
		return one(findRunes(isPunctuation), "Isolated")
	case "Whitespace":
		f.Invert = true
		return one(wordsAndSigns, "Removed")
	case "WhitespaceSplit":
		return one(findRunes(unicode.IsSpace), "Removed")
	case "Punctuation":
		if f.Behavior == "" {
			f.Behavior = "Isolated"
		}
		return one(findRunes(isPunctuation), f.Behavior)
	case "Digits":
		if f.Individual {
			return one(findRunes(unicode.IsNumber), "Isolated")
		}
		return one(findRunes(unicode.IsNumber), "Contiguous")
	case "CharDelimiterSplit":
		r, n := utf8.DecodeRuneInString(f.Delimiter)
		if n == 0 || n != len(f.Delimiter) {
			return nil, unreadableModel("tokenizer: the delimiter %.40q is not one character", f.Delimiter)
		}
		return one(findRunes(func(c rune) bool { return c == r }), "Removed")
	case "Split":
		p, err := parsePattern(f.Pattern)
		if err != nil {
			return nil, err
		}
		return one(p.allMatches, f.Behavior)
	case "Metaspace":
		return parseMetaspace(dst, raw)
	case "ByteLevel":
		return parseByteLevel(dst, raw)
	}
	return nil, unsupportedType("pre-tokenizer", kind)
}

// finder returns where in a text something is: pairs of start and end in bytes, in order, not empty and not
// overlapping.
type finder func(s string) [][2]int

// findRunes finds each character that is of a class.
func findRunes(is func(rune) bool) finder {
	return func(s string) (out [][2]int) {
		for i, r := range s {
			if is(r) {
				_, n := utf8.DecodeRuneInString(s[i:])
				out = append(out, [2]int{i, i + n})
			}
		}
		return out
	}
}

// wordsAndSigns finds runs of word characters, and runs of other characters that are not white space.
func wordsAndSigns(s string) (out [][2]int) {
	const blank, word, sign = 0, 1, 2
	last := blank
	for i, r := range s {
		kind := sign
		switch {
		case isWord(r):
			kind = word
		case unicode.IsSpace(r):
			kind = blank
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case kind == blank:
		case kind == last:
			out[len(out)-1][1] = i + n
		default:
			out = append(out, [2]int{i, i + n})
		}
		last = kind
	}
	return out
}

// newSplitter returns a pre-tokenizer that cuts at what find finds, or, inverted, at what lies between. behavior says
// what becomes of the matches: they are removed, become parts of their own, or join a neighbour. The names are those of
// the file format.
func newSplitter(find finder, behavior string, invert bool) (pretokenizer, error) {
	var join func(segments []segment) []segment
	switch behavior {
	case "Removed":
		join = dropMatches
	case "Isolated":
		join = func(s []segment) []segment { return s }
	case "MergedWithPrevious":
		join = withPrevious
	case "MergedWithNext":
		join = withNext
	case "Contiguous":
		join = joinSegments
	default:
		return nil, unsupportedType("split", behavior)
	}
	return func(dst []part, p part) []part {
		for _, s := range join(cutSegments(p.text, find, invert)) {
			dst = append(dst, part{p.text[s.from:s.to], p.first && s.from == 0})
		}
		return dst
	}, nil
}

// segment is a match (found) or the text between two, in bytes.
type segment struct {
	from, to int
	found    bool
}

// cutSegments cuts the whole of s into matches and what lies between; invert swaps the two. The segments cover s
// without gaps, so that joining them restores it.
func cutSegments(s string, find finder, invert bool) (out []segment) {
	at := 0
	for _, m := range find(s) {
		if m[0] > at {
			out = append(out, segment{at, m[0], invert})
		}
		out = append(out, segment{m[0], m[1], !invert})
		at = m[1]
	}
	if at < len(s) {
		out = append(out, segment{at, len(s), invert})
	}
	return out
}

// dropMatches drops the segments that matched.
func dropMatches(in []segment) (out []segment) {
	for _, s := range in {
		if !s.found {
			out = append(out, s)
		}
	}
	return out
}

// withPrevious joins a match to the segment before it. Of several matches in a row only the first is joined, as in the
// library.
func withPrevious(in []segment) (out []segment) {
	last := false
	for _, s := range in {
		if s.found && !last && len(out) > 0 {
			out[len(out)-1].to = s.to
		} else {
			out = append(out, s)
		}
		last = s.found
	}
	return out
}

// withNext joins a match to the text behind it; a match behind a match stands alone.
func withNext(in []segment) (out []segment) {
	for i, s := range in {
		if n := len(out); n > 0 && in[i-1].found && !s.found {
			out[n-1].to = s.to
			continue
		}
		out = append(out, s)
	}
	return out
}

// joinSegments joins neighbouring segments of the same kind.
func joinSegments(in []segment) (out []segment) {
	for _, s := range in {
		if n := len(out); n > 0 && out[n-1].found == s.found {
			out[n-1].to = s.to
			continue
		}
		out = append(out, s)
	}
	return out
}

// parseMetaspace reads the pre-tokenizer of SentencePiece: blanks become a sign, and words begin with it.
func parseMetaspace(dst []pretokenizer, raw json.RawMessage) ([]pretokenizer, error) {
	f := struct {
		Sign   string       `json:"replacement"`
		Scheme optionalText `json:"prepend_scheme"`
		Prefix *bool        `json:"add_prefix_space"` // in files that have no scheme
		Split  *bool        `json:"split"`
	}{}
	if err := unmarshalPart(raw, &f, "Metaspace"); err != nil {
		return nil, err
	}
	scheme := valueOf(f.Scheme)
	switch {
	case scheme != "":
	case f.Prefix != nil && !*f.Prefix:
		scheme = "never"
	default:
		scheme = "always"
	}
	// usually U+2581, which looks like an underscore
	sign, n := utf8.DecodeRuneInString(f.Sign)
	if n == 0 || n != len(f.Sign) || scheme != "always" && scheme != "first" && scheme != "never" {
		return nil, unreadableModel("tokenizer: Metaspace with %.40q and %.40q", f.Sign, scheme)
	}
	dst = append(dst, func(dst []part, p part) []part {
		p.text = strings.ReplaceAll(p.text, " ", f.Sign)
		if (scheme == "always" || scheme == "first" && p.first) && !strings.HasPrefix(p.text, f.Sign) {
			p.text = f.Sign + p.text
		}
		return append(dst, p)
	})
	if f.Split != nil && !*f.Split {
		return dst, nil
	}
	by, err := newSplitter(findRunes(func(r rune) bool { return r == sign }), "MergedWithNext", false)
	return append(dst, by), err
}

// parseByteLevel reads the pre-tokenizer of GPT-2: words with the blank before them, written in letters that stand for
// bytes. The pattern in it is GPT-2's own.
func parseByteLevel(dst []pretokenizer, raw json.RawMessage) ([]pretokenizer, error) {
	f := struct {
		Prefix bool `json:"add_prefix_space"`
		Regex  bool `json:"use_regex"`
	}{true, true}
	if err := unmarshalPart(raw, &f, "ByteLevel"); err != nil {
		return nil, err
	}
	// a word at the beginning of a text is then spelled like one within it
	if f.Prefix {
		dst = append(dst, func(dst []part, p part) []part {
			if !strings.HasPrefix(p.text, " ") {
				p.text = " " + p.text
			}
			return append(dst, p)
		})
	}
	if f.Regex {
		// The pattern needs lookahead, which Go's regexp lacks; pattern.go implements it.
		const gpt2 = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
		p, err := compilePattern(gpt2)
		if err != nil {
			return nil, err
		}
		by, err := newSplitter(p.allMatches, "Isolated", false)
		if err != nil {
			return nil, err
		}
		dst = append(dst, by)
	}
	return append(dst, func(dst []part, p part) []part { return append(dst, part{byteLevel(p.text), p.first}) }), nil
}

// byteLevel writes each byte of s as a printable letter, as GPT-2's vocabulary does: bytes that print in Latin-1 as
// themselves, the 68 others in their order from U+0100 on.
func byteLevel(s string) string {
	var out strings.Builder
	out.Grow(len(s))
	for i := range len(s) {
		b := rune(s[i])
		switch {
		case b <= ' ':
			b += 0x100
		case b >= 0x7f && b <= 0xa0:
			b += 0x100 + 0x21 - 0x7f
		case b == 0xad:
			b = 0x143
		}
		out.WriteRune(b)
	}
	return out.String()
}

// isPunctuation reports whether r separates words, as BERT defines punctuation: all ASCII symbols among it.
func isPunctuation(r rune) bool {
	return unicode.IsPunct(r) || r < 0x80 && (r > ' ' && r < '0' || r > '9' && r < 'A' || r > 'Z' && r < 'a' ||
		r > 'z' && r < 0x7f)
}

// isWord reports whether r is matched by \w of a regular expression with Unicode classes.
func isWord(r rune) bool {
	if r < 0x80 {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic) ||
		r == 0x200c || r == 0x200d
}
