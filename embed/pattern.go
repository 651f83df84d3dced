package embed

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pattern is a regular expression of a tokenizer. Those are written for engines with lookahead and possessive
// quantifiers. Of these, the forms that tokenizers in use need are translated for Go's engine, and all others are
// refused.
type pattern struct {
	re *regexp.Regexp
	// tail is the number of the group that stands for \s+(?!\S): white space, without its last character where more
	// text follows; 0 if there is none.
	tail int
}

// White space and word characters by Unicode, as the inside of a class, and the one lookahead that is supported.
const (
	spaceClass = `\t-\r \x{85}\p{Z}`
	wordClass  = `\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}`
	lookahead  = `\s+(?!\S)`
)

// compilePattern translates a regular expression. What it cannot translate exactly is an error that wraps
// [ErrModelFile].
func compilePattern(expr string) (*pattern, error) {
	before, after, tail := strings.Cut(expr, lookahead)
	// The group is an alternative of its own in all patterns in use. Elsewhere what follows could need it shorter
	// still.
	if tail && (before != "" && !strings.HasSuffix(before, "|") || after != "" && !strings.HasPrefix(after, "|")) ||
		strings.Contains(before+after, "(?!") {
		return nil, unreadableModel("tokenizer: the pattern %.200q looks ahead in a way that is not known here", expr)
	}
	translated, err := translateClasses(before)
	if err == nil && tail {
		var rest string
		rest, err = translateClasses(after)
		translated += `(?P<tail>[` + spaceClass + `]+)` + rest
	}
	if err != nil {
		return nil, err
	}
	re, err := regexp.Compile(translated)
	if err != nil {
		return nil, unreadableModel("tokenizer: the pattern %.200q: %v", expr, err)
	}
	return &pattern{re: re, tail: max(0, re.SubexpIndex("tail"))}, nil
}

// translateClasses rewrites classes by Unicode, and possessive quantifiers as ordinary ones: in the tokenizers in use,
// the text after a possessive quantifier never matches what it would have to give back.
func translateClasses(expr string) (string, error) {
	var out strings.Builder
	inClass, quantified := false, false
	for i := 0; i < len(expr); i++ {
		c := expr[i]
		if c == '\\' && i+1 < len(expr) {
			i++
			s, err := translateEscape(expr[i], inClass)
			if err != nil {
				return "", err
			}
			out.WriteString(s)
			if end := strings.IndexByte(expr[i:], '}'); (expr[i] == 'p' || expr[i] == 'P' || expr[i] == 'x') &&
				end > 1 && expr[i+1] == '{' {
				out.WriteString(expr[i+1 : i+end+1]) // the braces of a class are no quantifier
				i += end
			}
			quantified = false
			continue
		}
		switch {
		case c == '[' && !inClass:
			inClass = true
		case c == ']':
			inClass = false
		case inClass:
		case c == '^':
			return "", errAnchor(expr)
		case c == '+' && quantified: // possessive
			quantified = false
			continue
		}
		quantified = !inClass && strings.IndexByte("+*?}", c) >= 0
		out.WriteByte(c)
	}
	return out.String(), nil
}

// translateEscape returns the translation of the character after a backslash; the braces of \p{...} are left to the
// caller. Inside a class it has no brackets of its own.
func translateEscape(c byte, inClass bool) (string, error) {
	class := ""
	switch c {
	case 's', 'S':
		class = spaceClass
	case 'd', 'D':
		class = `\p{Nd}`
	case 'w', 'W':
		class = wordClass
	case 'b', 'B', 'A', 'G':
		if !inClass {
			return "", errAnchor(`\` + string(c))
		}
		return `\` + string(c), nil
	default:
		return `\` + string(c), nil
	}
	switch {
	case unicode.IsUpper(rune(c)) && inClass:
		return "", unreadableModel(`tokenizer: a pattern with \%c in a class is not known here`, c)
	case unicode.IsUpper(rune(c)):
		return "[^" + class + "]", nil
	case inClass:
		return class, nil
	}
	return "[" + class + "]", nil
}

// errAnchor refuses a pattern bound to a place in the text. It could not match rightly, because all applies the pattern
// to the rest of the text after each match.
func errAnchor(expr string) error {
	return unreadableModel("tokenizer: the pattern %.200q is bound to a place in the text, which is not known here",
		expr)
}

// allMatches returns every match from the left, as start and end in bytes. Empty matches are skipped.
func (p *pattern) allMatches(s string) (out [][2]int) {
	for at := 0; at <= len(s); {
		m := p.re.FindStringSubmatchIndex(s[at:])
		if m == nil {
			break
		}
		start, end := at+m[0], at+m[1]
		if p.tail > 0 && m[2*p.tail] >= 0 && end < len(s) {
			// What follows is no white space, since the group took all there was: the last character is left to it.
			if _, n := utf8.DecodeLastRuneInString(s[start:end]); start+n < end {
				end -= n
			}
		}
		if end == start {
			_, n := utf8.DecodeRuneInString(s[end:])
			at = end + max(n, 1)
			continue
		}
		out = append(out, [2]int{start, end})
		at = end
	}
	return out
}
