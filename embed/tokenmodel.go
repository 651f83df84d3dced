package embed

import (
	"encoding/json"
	"unicode/utf8"
)

// wordPiece spells a word by the longest known pieces from the left, as BERT does.
type wordPiece struct {
	vocab   map[string]int32
	unk     int32
	prefix  string // of pieces that continue a word
	longest int    // characters; a longer word is unknown as a whole
	widest  int    // bytes of the longest token
}

// parseWordPiece reads a WordPiece model: words are split into the longest known pieces from the left.
func parseWordPiece(raw json.RawMessage) (tokenModel, error) {
	var f struct {
		Vocab   map[string]int32 `json:"vocab"`
		Unk     string           `json:"unk_token"`
		Prefix  optionalText     `json:"continuing_subword_prefix"`
		Longest *int             `json:"max_input_chars_per_word"`
	}
	if err := unmarshalPart(raw, &f, "WordPiece"); err != nil {
		return nil, err
	}
	unk, ok := f.Vocab[f.Unk]
	if !ok {
		return nil, unreadableModel("tokenizer: WordPiece has no token %.40q for what is unknown", f.Unk)
	}
	m := &wordPiece{vocab: f.Vocab, unk: unk, prefix: "##", longest: 100}
	if f.Prefix != nil {
		m.prefix = *f.Prefix
	}
	if f.Longest != nil {
		m.longest = *f.Longest
	}
	for t := range f.Vocab {
		m.widest = max(m.widest, len(t))
	}
	return m, nil
}

func (m *wordPiece) vocabulary() map[string]int32 { return m.vocab }
func (m *wordPiece) unknown() int32               { return m.unk }

// spell gives the whole word as unknown if any rest of it has no piece.
func (m *wordPiece) spell(dst []int32, piece string) []int32 {
	if utf8.RuneCountInString(piece) > m.longest {
		return append(dst, m.unk)
	}
	from := len(dst)
	buf := make([]byte, 0, m.widest+len(m.prefix))
	for i := 0; i < len(piece); {
		lead := buf[:0]
		if i > 0 {
			lead = append(lead, m.prefix...)
		}
		end := min(len(piece), i+m.widest)
		for end < len(piece) && !utf8.RuneStart(piece[end]) {
			end--
		}
		found := false
		for ; end > i; end-- {
			if end < len(piece) && !utf8.RuneStart(piece[end]) {
				continue
			}
			if id, ok := m.vocab[string(append(lead, piece[i:end]...))]; ok {
				dst, found = append(dst, id), true
				break
			}
		}
		if !found {
			return append(dst[:from], m.unk)
		}
		i = end
	}
	return dst
}

// wordLevel has tokens for whole words only.
type wordLevel struct {
	vocab map[string]int32
	unk   int32
}

// parseWordLevel reads a model whose tokens are whole words.
func parseWordLevel(raw json.RawMessage) (tokenModel, error) {
	var f struct {
		Vocab map[string]int32 `json:"vocab"`
		Unk   string           `json:"unk_token"`
	}
	if err := unmarshalPart(raw, &f, "WordLevel"); err != nil {
		return nil, err
	}
	unk, ok := f.Vocab[f.Unk]
	if !ok {
		return nil, unreadableModel("tokenizer: WordLevel has no token %.40q for what is unknown", f.Unk)
	}
	return &wordLevel{f.Vocab, unk}, nil
}

func (m *wordLevel) vocabulary() map[string]int32 { return m.vocab }
func (m *wordLevel) unknown() int32               { return m.unk }

// spell gives the whole word its number, or that of the unknown word.
func (m *wordLevel) spell(dst []int32, piece string) []int32 {
	if id, ok := m.vocab[piece]; ok {
		return append(dst, id)
	}
	return append(dst, m.unk)
}

// byteToken returns how a vocabulary writes the token of a single byte, such as <0x0A>.
func byteToken(b byte) string {
	const hex = "0123456789ABCDEF"
	return string([]byte{'<', '0', 'x', hex[b>>4], hex[b&15], '>'})
}

// appendBytes appends the tokens of the bytes of s. If one has no token, it returns dst as it was and false.
func appendBytes(dst []int32, vocab map[string]int32, s string) ([]int32, bool) {
	from := len(dst)
	for i := range len(s) {
		id, ok := vocab[byteToken(s[i])]
		if !ok {
			return dst[:from], false
		}
		dst = append(dst, id)
	}
	return dst, true
}
