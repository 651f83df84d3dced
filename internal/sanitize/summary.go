package sanitize

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"tooldex/tool"
)

// MaxSummary is the longest summary, in characters, that a tool may have.
const MaxSummary = 80

// CheckSummary returns an Invalid error if a declared summary is longer than MaxSummary characters.
func CheckSummary(id tool.ID, summary string) error {
	n := utf8.RuneCountInString(summary)
	if n <= MaxSummary {
		return nil
	}
	return &tool.Error{
		Code: tool.Invalid, Op: "check summary",
		Msg: "summary of " + string(id) + " has " + strconv.Itoa(n) + " characters, at most " +
			strconv.Itoa(MaxSummary) + " are allowed",
		Hint: "shorten it, or leave it out to have one derived from the description",
	}
}

// MarkSummary returns the summary of a tool for people, behind the marks of one that is suspicious or deprecated.
func MarkSummary(summary, warning, deprecated string) string {
	if deprecated == plainDeprecation {
		summary = "(deprecated) " + summary
	} else if deprecated != "" {
		summary = "(deprecated: " + deprecated + ") " + summary
	}
	if warning != "" {
		summary = "(suspicious) " + summary
	}
	return summary
}

// DeriveSummary returns a summary of at most MaxSummary characters: the first sentence of a description, cut at a word
// and marked by an ellipsis if it is longer. It returns "" for an empty description.
func DeriveSummary(description string) string {
	s := strings.Join(strings.Fields(firstParagraph(description)), " ")
	s = strings.TrimLeft(s, "#*-> ")
	if i := sentenceEnd(s); i > 0 {
		s = s[:i]
	}
	s = strings.TrimRight(s, ".:; ")
	if utf8.RuneCountInString(s) <= MaxSummary {
		return s
	}
	runes := []rune(s)[:MaxSummary-1]
	cut := string(runes)
	if i := strings.LastIndexByte(cut, ' '); i > len(cut)/2 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, ",.:; ") + "…"
}

// firstParagraph returns s up to the first empty line.
func firstParagraph(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.Index(s, "\n\n"); i > 0 {
		return s[:i]
	}
	return s
}

// sentenceEnd returns the offset of the first full stop that ends a sentence, or 0 if none does. Those of abbreviations
// such as "e.g." do not.
func sentenceEnd(s string) int {
	for i := 0; i+1 < len(s); i++ {
		if s[i] != '.' && s[i] != '!' && s[i] != '?' || s[i+1] != ' ' {
			continue
		}
		word := s[strings.LastIndexByte(s[:i], ' ')+1 : i]
		if len(word) > 2 && !strings.Contains(word, ".") && !strings.EqualFold(word, "etc") {
			return i
		}
	}
	if i := strings.IndexRune(s, '。'); i > 0 {
		return i
	}
	return 0
}
