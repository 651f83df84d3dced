package scan

import (
	"slices"
	"strings"
	"unicode/utf8"

	"tooldex/tool"
)

// maxResult bounds how many bytes of a result are read, so that the time is bounded.
const maxResult = 256 << 10

// hit is one match in the text of a result.
type hit struct {
	rule, excerpt string
	worth, at     int  // percent of a finding, and the number of its sentence
	plain         bool // enough by itself, since ordinary documents do not say it
	harmless      bool // by the model for results
}

// Result returns what looks like an attack in the texts of a tool's result, nil for nothing. A result may be any page,
// mail or program, in which most of what makes a tool suspicious is usual. A finding therefore takes an order that
// ordinary documents do not have, or matches of three rules close to one another. Names, encodings, white space and
// control characters are not judged. At most the first 256 KiB are read.
func (s *Scanner) Result(texts []string) []Finding {
	w := &work{s: s, t: &tool.Tool{}, hits: []hit{}}
	if buf, ok := s.words.Get().(*[]token); ok {
		w.words = *buf
	}
	defer func() { s.words.Put(&w.words) }()
	left := maxResult
	var out []Finding
	for _, x := range texts {
		if len(x) > left {
			x = strings.ToValidUTF8(x[:left], "")
		}
		left -= len(x)
		if hasUnusualByte(x) {
			if !utf8.ValidString(x) {
				x = strings.ToValidUTF8(x, "\uFFFD")
			}
			if at := spelledInTags(x); at >= 0 && out == nil {
				out = append(out, resultFinding(hit{rule: "hidden", excerpt: x[at:]}))
			}
			x = removeInvisible(x)
		}
		w.findMarkup(text{value, "content", x})
		w.matchPatterns(text{described, "content", x})
		w.sentences += besideInResult // texts do not count together
	}
	for _, h := range suspicious(w.hits) {
		out = append(out, resultFinding(h))
	}
	return out
}

// spelledInTags returns where tags, which are invisible, spell a word; -1 if they do not. Flags of regions have them
// behind a black flag.
func spelledInTags(x string) int {
	n, flag := 0, false
	for i, r := range x {
		switch {
		case r == 0x1f3f4:
			flag = true
		case r < 0xe0020 || r > 0xe007f:
			n, flag = 0, false
		case !flag:
			if n++; n == shortest {
				return max(0, i-4*shortest)
			}
		}
	}
	return -1
}

// resultFinding returns the finding of a hit.
func resultFinding(h hit) Finding {
	r := ruleOf(h.rule)
	return Finding{
		Rule: r.ID, Severity: r.Severity, Field: "content", Excerpt: excerptOf(h.excerpt), Why: r.Why, Remedy: r.Remedy,
	}
}

const (
	// besideInResult is how many sentences hits may be apart and still count together.
	besideInResult = 4
	// enoughInResult is the sum that hits of different rules must reach together, in percent, and enoughIfLikely what
	// they must reach if the model for results is among them. A forged mark of a conversation is worth two.
	enoughInResult = 300
	enoughIfLikely = 160
	leastInResult  = 60 // what each hit must be worth to count

	// maxOrder is the length in bytes of the longest sentence that counts: lists and licences have longer ones.
	maxOrder = 400
)

// suspicious returns the first hit that is enough by itself, or else the first hits of different rules, close to one
// another, whose sum is enough; nil if there are none.
func suspicious(hits []hit) []hit {
	hits = slices.DeleteFunc(hits, func(h hit) bool {
		return h.worth < leastInResult || len(h.excerpt) > maxOrder && h.rule != "markup" ||
			isAny(h.rule, "odd", "steer", "priority", "elsewhere", "request", "consent")
	})
	// A rule says more of the reason than the model does, so that comes last. The model knows articles that quote orders,
	// so a rule alone is not enough where the model finds a sentence harmless.
	if i := slices.IndexFunc(hits, func(h hit) bool { return h.plain && h.rule != "likely" && !h.harmless }); i >= 0 {
		return hits[i : i+1]
	}
	for i := range hits {
		var best []hit
		sum := 0
		for _, h := range hits[i:] {
			if h.at-hits[i].at >= besideInResult {
				break
			}
			if h.worth = min(h.worth, enough); h.rule == "markup" {
				h.worth = 2 * enough
			}
			n := slices.IndexFunc(best, func(o hit) bool { return o.rule == h.rule })
			if n < 0 {
				n = len(best)
				best = append(best, hit{})
			}
			if h.worth > best[n].worth {
				sum += h.worth - best[n].worth
				best[n] = h
			}
		}
		if sum >= enoughInResult || sum >= enoughIfLikely &&
			slices.ContainsFunc(best, func(h hit) bool { return h.rule == "likely" }) {
			return best
		}
	}
	if i := slices.IndexFunc(hits, func(h hit) bool { return h.plain && h.rule == "likely" }); i >= 0 {
		return hits[i : i+1]
	}
	return nil
}
