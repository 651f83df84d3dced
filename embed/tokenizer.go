package embed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenizer turns text into token numbers as the Hugging Face tokenizers library does by a tokenizer.json, but without
// the special tokens of its template. It is immutable and safe for concurrent use.
type tokenizer struct {
	before, after addedTokens // looked for in the text as it is, and in the normalised text
	normalize     []normalizer
	split         []pretokenizer
	model         tokenModel
	tokens        []string // by number; "" for numbers that no token has
}

// tokenModel spells one piece of text.
type tokenModel interface {
	// spell appends the numbers of the tokens that piece is made of.
	spell(dst []int32, piece string) []int32
	// vocabulary returns each token's number. The map must not be changed.
	vocabulary() map[string]int32
	// unknown returns the number of the token for what the model cannot spell, if that token carries no meaning, else
	// -1.
	unknown() int32
}

// part is a piece of text on its way through the pre-tokenizers.
type part struct {
	text  string
	first bool // it is the beginning of the text
}

// jsonKind returns the type that a part of the file names, "" if it names none.
func jsonKind(raw json.RawMessage) (string, error) {
	var k struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &k); err != nil {
		return "", unreadableModel("tokenizer: %v", err)
	}
	return k.Type, nil
}

// isNull reports whether a value is absent or null.
func isNull(raw json.RawMessage) bool { return len(raw) == 0 || bytes.Equal(raw, []byte("null")) }

// unmarshalPart reads a part of a tokenizer file; what names it in the error, which wraps [ErrModelFile].
func unmarshalPart(raw json.RawMessage, into any, what string) error {
	if err := json.Unmarshal(raw, into); err != nil {
		return unreadableModel("tokenizer: %s: %v", what, err)
	}
	return nil
}

// parseTokenizer reads a tokenizer.json. A part that would have to be handled differently from the library is an error,
// so that vectors are never silently wrong.
func parseTokenizer(b []byte) (*tokenizer, error) {
	var file struct {
		Added      []addedToken    `json:"added_tokens"`
		Normalizer json.RawMessage `json:"normalizer"`
		Split      json.RawMessage `json:"pre_tokenizer"`
		Model      json.RawMessage `json:"model"`
	}
	if err := unmarshalPart(b, &file, "the file"); err != nil {
		return nil, err
	}
	t := &tokenizer{}
	var err error
	if t.normalize, err = parseNormalizer(nil, file.Normalizer, 0); err != nil {
		return nil, err
	}
	if t.split, err = parsePretokenizer(nil, file.Split, 0); err != nil {
		return nil, err
	}
	if t.model, err = parseModel(file.Model); err != nil {
		return nil, err
	}
	// Tokens marked as normalized are compared with normalised text, so they are normalised themselves.
	for _, a := range file.Added {
		if a.Content == "" {
			continue
		}
		into := &t.before
		if a.Normalized {
			into = &t.after
			if a.Content = t.normalizeText(a.Content); a.Content == "" {
				continue
			}
		}
		into.addToken(a)
	}
	return t, t.numberTokens(file.Added)
}

// numberTokens fills tokens. Numbers may leave gaps, but not so wide that a small file claims much memory.
func (t *tokenizer) numberTokens(added []addedToken) error {
	most := 2*(len(t.model.vocabulary())+len(added)) + 1000
	put := func(token string, id int32) error {
		if id < 0 || int(id) >= most {
			return unreadableModel("tokenizer: token %.80q has the number %d", token, id)
		}
		if n := int(id) + 1 - len(t.tokens); n > 0 {
			t.tokens = append(t.tokens, make([]string, n)...)
		}
		t.tokens[id] = token
		return nil
	}
	for token, id := range t.model.vocabulary() {
		if err := put(token, id); err != nil {
			return err
		}
	}
	for _, a := range added {
		if err := put(a.Content, a.ID); err != nil {
			return err
		}
	}
	return nil
}

// parseModel reads the model of a tokenizer file, of whichever kind it is.
func parseModel(raw json.RawMessage) (tokenModel, error) {
	if isNull(raw) {
		return nil, unreadableModel("tokenizer: there is no model")
	}
	kind, err := jsonKind(raw)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "WordPiece":
		return parseWordPiece(raw)
	case "WordLevel":
		return parseWordLevel(raw)
	case "Unigram":
		return parseUnigram(raw)
	case "BPE":
		return parseBPE(raw)
	case "": // files of the library's first versions do not say
		// BPE first: its files have merges, which the others lack, so a wrong match is unlikely.
		for _, try := range []func(json.RawMessage) (tokenModel, error){parseBPE, parseWordPiece, parseUnigram} {
			if m, err := try(raw); err == nil {
				return m, nil
			}
		}
	}
	return nil, unreadableModel("tokenizer: models of type %.40q are not read here", kind)
}

// appendTokens appends the numbers of the tokens of text: added tokens of the raw text are cut out first, the rest is
// normalised, added tokens are cut out again, and what remains is split and spelled. Invalid UTF-8 becomes replacement
// characters.
func (t *tokenizer) appendTokens(dst []int32, text string) []int32 {
	text = strings.ToValidUTF8(text, "\uFFFD")
	for _, s := range t.before.cutAtTokens(text) {
		if s.token >= 0 {
			dst = append(dst, s.token)
			continue
		}
		first := s.first
		for _, s := range t.after.cutAtTokens(t.normalizeText(s.text)) {
			if s.token >= 0 {
				dst = append(dst, s.token)
				continue
			}
			dst = t.tokenizeWords(dst, part{s.text, first && s.first})
		}
	}
	return dst
}

// normalizeText applies the normalizers in their order.
func (t *tokenizer) normalizeText(s string) string {
	for _, n := range t.normalize {
		s = n(s)
	}
	return s
}

// tokenizeWords applies each pre-tokenizer to the parts of the one before, and spells what is left.
func (t *tokenizer) tokenizeWords(dst []int32, whole part) []int32 {
	if whole.text == "" {
		return dst
	}
	// Each step sees the parts that the one before it made, as in the library.
	parts := []part{whole}
	for _, split := range t.split {
		var next []part
		for _, p := range parts {
			next = split(next, p)
		}
		parts = next
	}
	for _, p := range parts {
		if p.text != "" {
			dst = t.model.spell(dst, p.text)
		}
	}
	return dst
}

// medianLength returns the median length of a token in characters, at least 1 where there are no tokens.
func (t *tokenizer) medianLength() int {
	var lengths []int
	for _, token := range t.tokens {
		if token != "" {
			lengths = append(lengths, utf8.RuneCountInString(token))
		}
	}
	if len(lengths) == 0 {
		return 1
	}
	slices.Sort(lengths)
	mid := len(lengths) / 2
	if len(lengths)%2 == 1 {
		return lengths[mid]
	}
	return (lengths[mid-1] + lengths[mid]) / 2
}

// addedToken is a token that is looked for in the text before anything is split. The fields are those of the library.
type addedToken struct {
	ID         int32  `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"`
	Left       bool   `json:"lstrip"`
	Right      bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"`
}

// addedTokens finds the leftmost token in a text, and of several there the longest.
type addedTokens struct {
	byFirst [256][]addedToken // by first byte, the longest first
	any     bool
}

// addToken lists t behind longer tokens with the same first byte. t.Content is not empty.
func (a *addedTokens) addToken(t addedToken) {
	a.any = true
	list := append(a.byFirst[t.Content[0]], t)
	slices.SortStableFunc(list, func(x, y addedToken) int { return len(y.Content) - len(x.Content) })
	a.byFirst[t.Content[0]] = list
}

// textSpan is an added token, or the text between two, where token is -1.
type textSpan struct {
	text  string
	token int32
	first bool
}

// cutAtTokens splits text at the added tokens. A token with lstrip or rstrip takes the white space beside it along.
func (a *addedTokens) cutAtTokens(text string) []textSpan {
	if !a.any {
		return []textSpan{{text, -1, true}}
	}
	var out []textSpan
	from := 0
	for i := 0; i < len(text); {
		t := a.longestAt(text, i)
		if t == nil {
			i++
			continue
		}
		// The white space that a token takes along must not reach into the token before it.
		start, end := i, i+len(t.Content)
		if t.Left {
			for start > from {
				r, n := utf8.DecodeLastRuneInString(text[from:start])
				if !unicode.IsSpace(r) {
					break
				}
				start -= n
			}
		}
		for t.Right && end < len(text) {
			r, n := utf8.DecodeRuneInString(text[end:])
			if !unicode.IsSpace(r) {
				break
			}
			end += n
		}
		if start > from {
			out = append(out, textSpan{text[from:start], -1, from == 0})
		}
		out = append(out, textSpan{text[start:end], t.ID, start == 0})
		from, i = end, end
	}
	if from < len(text) {
		out = append(out, textSpan{text[from:], -1, from == 0})
	}
	return out
}

// longestAt returns the longest token that begins at byte i, or nil. A single_word token inside a word ends the search.
func (a *addedTokens) longestAt(text string, i int) *addedToken {
	for k := range a.byFirst[text[i]] {
		t := &a.byFirst[text[i]][k]
		if len(text)-i < len(t.Content) || text[i:i+len(t.Content)] != t.Content {
			continue
		}
		if t.SingleWord {
			before, _ := utf8.DecodeLastRuneInString(text[:i])
			after, _ := utf8.DecodeRuneInString(text[i+len(t.Content):])
			if i > 0 && isWord(before) || i+len(t.Content) < len(text) && isWord(after) {
				return nil
			}
		}
		return t
	}
	return nil
}

// optionalText is a JSON string that may be null.
type optionalText = *string

// valueOf returns the text, or "" where the file has null or nothing.
func valueOf(s optionalText) string {
	if s == nil {
		return ""
	}
	return *s
}

// unsupportedType returns the error for a part of a tokenizer whose type is not implemented.
func unsupportedType(what, kind string) error {
	return fmt.Errorf("%w: tokenizer: a %s of type %.40q is not known here", ErrModelFile, what, kind)
}
