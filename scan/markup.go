package scan

import (
	"strings"
	"unicode/utf8"
)

// marks are what sets apart the words of a system or an administrator in the conversations that models are trained on.
// No tool needs them. They are in lower case; the list is read-only.
var marks = []string{
	"<important>", "</important>", "<system>", "</system>", "</secret>", "</hidden>", "</admin>", "<system_prompt>",
	"<instructions_override>", "<assistant>",
	"[inst]", "[/inst]", "<|im_start|>", "<|im_end|>", "<<sys>>", "<|system|>", "<|assistant|>", "[system]",
	"[system notice]", "[system message]", "[admin]", "</description>",
	"<start_of_turn>", "<|start_header_id|>", "<|endoftext|>", "<function_calls>", "<tool_call>",
}

// findMarkup finds the marks of conversations, and a line that claims to come from the system.
func (w *work) findMarkup(x text) {
	if x.place == key {
		return
	}
	lower := x.text
	if strings.ContainsAny(lower, "<[") {
		lower = strings.ToLower(lower)
		for _, m := range marks {
			if i := strings.Index(lower, m); i >= 0 && len(lower) == len(x.text) { // so that i holds for both
				w.addFinding("markup", x.field, x.text[i:])
				break
			}
		}
	}
	for rest, at := x.text, 0; ; {
		i := strings.Index(rest, "SYSTEM:")
		if i < 0 {
			break
		}
		if at+i == 0 || strings.IndexByte(" \n.-[(", x.text[at+i-1]) >= 0 {
			w.addFinding("markup", x.field, x.text[at+i:])
			break
		}
		rest, at = rest[i+7:], at+i+7
	}
}

// maxBlank and maxLines are how many white characters and line breaks a text may have in a row before what follows
// counts as pushed out of sight.
const (
	maxBlank = 100
	maxLines = 16
)

// findPadding finds words behind so much white space that a person does not see them. White space at the beginning of
// the text does not count.
func (w *work) findPadding(x text) {
	blank, lines := 0, 0
	for i := range len(x.text) {
		switch c := x.text[i]; {
		case c == '\n':
			blank++
			lines++
		case c == ' ' || c == '\t':
			blank++
		default:
			if (blank > maxBlank || lines > maxLines) && i > blank {
				w.addFinding("padding", x.field, x.text[i:])
				return
			}
			blank, lines = 0, 0
		}
	}
}

// findInComments finds suspicious words in parts of a text that a renderer of Markdown or HTML does not show.
func (w *work) findInComments(x text) {
	for _, c := range []struct{ open, end string }{
		{"<!--", "-->"},
		{"[//]: # ", "\n"},
		{"[comment]: <> ", "\n"},
		{"[//]: <> ", "\n"},
		{" /* ", " */"},
		{"display:none", "</"},
		{"visibility:hidden", "</"},
		{"font-size:0", "</"},
		{"[ ](", ")"},
		{"[](", ")"},
	} {
		for rest := x.text; ; {
			_, after, found := strings.Cut(rest, c.open)
			if !found {
				break
			}
			inner, next, ended := strings.Cut(after, c.end)
			if (ended || c.open != " /* ") && w.addressesModel(inner) {
				w.addFinding("comment", x.field, inner)
			}
			rest = next
		}
	}
}

// addressesModel reports whether words that are not meant to be seen address the model: they touch on three topics of
// instructions, on two and a reader, or on secrets.
func (w *work) addressesModel(inner string) bool {
	n, g := 0, lexicon()
	var has classes
	for _, t := range splitWords(inner, nil) {
		has.add(&t.classes)
	}
	for i := range g.veiled {
		if has.intersects(&g.veiled[i]) {
			n++
		}
	}
	return n >= 3 || has.intersects(&g.private) || has.intersects(&g.spoken) && n >= 2
}

// excerptOf returns the beginning of a text as an excerpt: one line of at most 160 characters, with invisible
// characters written out.
func excerptOf(s string) string {
	const most = 160
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > most {
			b.WriteString("…")
			break
		}
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			b.WriteByte(' ')
		case isInvisible(r) || r < ' ' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError:
			b.WriteString("<" + codePoint(r) + ">")
		default:
			b.WriteRune(r)
		}
	}
	return strings.TrimSpace(b.String())
}

// codePoint returns a character in the notation U+200B.
func codePoint(r rune) string {
	const hex = "0123456789ABCDEF"
	out := []byte("U+0000")
	if r > 0xffff {
		out = []byte("U+00000")
	}
	for i := len(out) - 1; i > 1; i-- {
		out[i] = hex[r&15]
		r >>= 4
	}
	return string(out)
}

// Visible returns s with invisible characters written out as <U+200B>. Line breaks, tabs and everything else stay as
// they are.
func Visible(s string) string {
	if !hasUnusualByte(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if isInvisible(r) || r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			b.WriteString("<" + codePoint(r) + ">")
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
