package embed

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// normalizer rewrites a whole text before it is split. It must be safe for concurrent use, so it keeps no state.
type normalizer func(string) string

// maxDepth bounds how deep a file may nest sequences, so that a hostile file cannot exhaust the stack.
const maxDepth = 16

// parseNormalizer appends the steps of a normalizer to dst, a sequence flattened. An absent or null one has no steps. A
// type that is not supported is an error.
func parseNormalizer(dst []normalizer, raw json.RawMessage, depth int) ([]normalizer, error) {
	if isNull(raw) {
		return dst, nil
	}
	kind, err := jsonKind(raw)
	if err != nil {
		return nil, err
	}
	var f struct {
		Steps   []json.RawMessage `json:"normalizers"`
		Left    bool              `json:"strip_left"`
		Right   bool              `json:"strip_right"`
		Pattern json.RawMessage   `json:"pattern"`
		Content string            `json:"content"`
		Prepend string            `json:"prepend"`
		Map     []byte            `json:"precompiled_charsmap"`
	}
	if err := unmarshalPart(raw, &f, "a normalizer"); err != nil {
		return nil, err
	}
	switch kind {
	case "Sequence":
		if depth > maxDepth {
			return nil, unreadableModel("tokenizer: sequences of sequences without end")
		}
		for _, step := range f.Steps {
			if dst, err = parseNormalizer(dst, step, depth+1); err != nil {
				return nil, err
			}
		}
		return dst, nil
	case "BertNormalizer":
		n, err := parseBertNormalizer(raw)
		return append(dst, n), err
	case "Precompiled":
		n, err := parseCharsMap(f.Map)
		return append(dst, n), err
	case "Replace":
		n, err := parseReplace(f.Pattern, f.Content)
		return append(dst, n), err
	case "Strip":
		return append(dst, stripSpace(f.Left, f.Right)), nil
	case "Prepend":
		return append(dst, func(s string) string {
			if s == "" {
				return s
			}
			return f.Prepend + s
		}), nil
	}
	if n, ok := plainNormalizer(kind); ok {
		return append(dst, n), nil
	}
	return nil, unsupportedType("normalizer", kind)
}

// plainNormalizer returns the normalizer of a type without settings, and whether there is one.
func plainNormalizer(kind string) (normalizer, bool) {
	switch kind {
	case "Lowercase":
		return lowerCase, true
	case "StripAccents":
		return stripAccents, true
	case "NFC":
		return norm.NFC.String, true
	case "NFD":
		return norm.NFD.String, true
	case "NFKC":
		return norm.NFKC.String, true
	case "NFKD":
		return norm.NFKD.String, true
	case "Nmt":
		return normalizeNMT, true
	case "ByteLevel":
		return byteLevel, true
	}
	return nil, false
}

// lowerCase lowers each character by itself: unlike strings.ToLower it has no rule for a final sigma, and İ becomes
// two.
func lowerCase(s string) string {
	if strings.ContainsRune(s, 'İ') { // the one character whose lower case is two
		s = strings.ReplaceAll(s, "İ", "i\u0307")
	}
	return strings.Map(unicode.ToLower, s)
}

// stripAccents removes combining marks. A precomposed letter keeps its accent, unless a step before has decomposed it.
func stripAccents(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsMark(r) {
			return -1
		}
		return r
	}, s)
}

// stripSpace returns a normalizer that removes white space at the ends of a text.
func stripSpace(left, right bool) normalizer {
	return func(s string) string {
		if left {
			s = strings.TrimLeftFunc(s, unicode.IsSpace)
		}
		if right {
			s = strings.TrimRightFunc(s, unicode.IsSpace)
		}
		return s
	}
}

// normalizeNMT cleans text as SentencePiece's rules named nmt do: control characters go, unusual blanks become a space.
func normalizeNMT(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 1 && r <= 8, r == 0xb, r >= 0xe && r <= 0x1f, r == 0x7f, r == 0x8f, r == 0x9f:
			return -1
		case r == '\t', r == '\n', r == '\f', r == '\r', r == 0x1680, r >= 0x200b && r <= 0x200f, r == 0x2028,
			r == 0x2029,
			r == 0x2581, r == 0xfeff, r == 0xfffd:
			return ' '
		}
		return r
	}, s)
}

// parsePattern reads what a Replace or a Split looks for: a literal String or a Regex.
func parsePattern(raw json.RawMessage) (*pattern, error) {
	var f struct {
		String *string
		Regex  *string
	}
	if err := unmarshalPart(raw, &f, "a pattern"); err != nil {
		return nil, err
	}
	switch {
	case f.String != nil:
		re, err := regexp.Compile(regexp.QuoteMeta(*f.String))
		return &pattern{re: re}, err
	case f.Regex != nil:
		return compilePattern(*f.Regex)
	}
	return nil, unreadableModel("tokenizer: a pattern is neither String nor Regex")
}

// parseReplace returns a normalizer that writes content, literally, in place of each match.
func parseReplace(raw json.RawMessage, content string) (normalizer, error) {
	p, err := parsePattern(raw)
	if err != nil {
		return nil, err
	}
	return func(s string) string {
		var out strings.Builder
		at := 0
		for _, m := range p.allMatches(s) {
			out.WriteString(s[at:m[0]])
			out.WriteString(content)
			at = m[1]
		}
		return out.String() + s[at:]
	}, nil
}

// parseBertNormalizer reads the settings of BERT, which are on unless the file says otherwise. strip_accents follows
// lowercase where it is null.
func parseBertNormalizer(raw json.RawMessage) (normalizer, error) {
	f := struct {
		Clean   bool  `json:"clean_text"`
		Han     bool  `json:"handle_chinese_chars"`
		Accents *bool `json:"strip_accents"`
		Lower   bool  `json:"lowercase"`
	}{true, true, nil, true}
	if err := unmarshalPart(raw, &f, "BertNormalizer"); err != nil {
		return nil, err
	}
	accents := f.Lower
	if f.Accents != nil {
		accents = *f.Accents
	}
	return func(s string) string {
		if f.Clean || f.Han {
			s = bertClean(s, f.Clean, f.Han)
		}
		if accents {
			s = strings.Map(func(r rune) rune {
				if unicode.Is(unicode.Mn, r) {
					return -1
				}
				return r
			}, norm.NFD.String(s))
		}
		if f.Lower {
			s = lowerCase(s)
		}
		return s
	}, nil
}

// bertClean drops control characters and turns white space into blanks (clean), and puts blanks around Chinese
// characters (han), so that each becomes a word.
func bertClean(s string, clean, han bool) string {
	var out strings.Builder
	out.Grow(len(s))
	for _, r := range s {
		switch {
		case clean && (r == 0 || r == unicode.ReplacementChar || isOther(r)):
		case clean && unicode.IsSpace(r):
			out.WriteByte(' ')
		case han && isHan(r):
			out.WriteByte(' ')
			out.WriteRune(r)
			out.WriteByte(' ')
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// isOther reports whether BERT drops r as a control character.
func isOther(r rune) bool {
	return r != '\t' && r != '\n' && r != '\r' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co)
}

// isHan reports whether BERT takes r to be a Chinese character.
func isHan(r rune) bool {
	switch {
	case r < 0x3400:
		return false
	case r <= 0x4dbf, r >= 0x4e00 && r <= 0x9fff, r >= 0xf900 && r <= 0xfaff:
		return true
	case r >= 0x20000 && r <= 0x2a6df, r >= 0x2a700 && r <= 0x2b73f, r >= 0x2b740 && r <= 0x2b81f,
		r >= 0x2b920 && r <= 0x2ceaf, r >= 0x2f800 && r <= 0x2fa1f:
		return true
	}
	return false
}
