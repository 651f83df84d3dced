package embed

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// bpeModel spells a word by joining its characters pair by pair, in the order in which the pairs were learned. It is
// read-only once parsed.
type bpeModel struct {
	vocab  map[string]int32
	merges map[[2]int32]merge
	unk    int32 // -1 if there is none
	fuse   bool  // a run of unknown characters is one unk token
	bytes  bool  // an unknown character is spelled by tokens of its bytes, if there is one for each
	whole  bool  // a piece that is a token as it stands is not split
	// put before a character that continues a word and after the last one, when characters are looked up; often ""
	prefix, suffix string
}

// merge is what a pair of neighbouring tokens becomes. The lowest rank applies first.
type merge struct {
	rank int
	into int32
}

// parseBPE reads a byte-pair model: a vocabulary, and merges in the order in which they apply. Every error wraps
// [ErrModelFile]; a merge of tokens that are missing in the vocabulary is one.
func parseBPE(raw json.RawMessage) (tokenModel, error) {
	var f struct {
		Vocab  map[string]int32  `json:"vocab"`
		Merges []json.RawMessage `json:"merges"`
		Unk    optionalText      `json:"unk_token"`
		Prefix optionalText      `json:"continuing_subword_prefix"`
		Suffix optionalText      `json:"end_of_word_suffix"`
		Fuse   bool              `json:"fuse_unk"`
		Bytes  bool              `json:"byte_fallback"`
		Whole  bool              `json:"ignore_merges"`
	}
	if err := unmarshalPart(raw, &f, "BPE"); err != nil {
		return nil, err
	}
	if f.Merges == nil {
		return nil, unreadableModel("tokenizer: BPE has no merges")
	}
	m := &bpeModel{
		vocab: f.Vocab, merges: make(map[[2]int32]merge, len(f.Merges)), unk: -1, fuse: f.Fuse, bytes: f.Bytes,
		whole:  f.Whole,
		prefix: valueOf(f.Prefix), suffix: valueOf(f.Suffix),
	}
	if f.Unk != nil {
		id, ok := f.Vocab[*f.Unk]
		if !ok {
			return nil, unreadableModel("tokenizer: BPE has no token %.40q for what is unknown", *f.Unk)
		}
		m.unk = id
	}
	for rank, raw := range f.Merges {
		if err := m.addMerge(rank, raw); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// addMerge reads a merge in either form that files have: "a b" as one string, or a list of two. The joined token has
// the continuation prefix of the second half removed, as a part inside the word carries none.
func (m *bpeModel) addMerge(rank int, raw json.RawMessage) error {
	var pair []string
	var line string
	if json.Unmarshal(raw, &line) == nil {
		pair = strings.Split(line, " ")
	} else if err := unmarshalPart(raw, &pair, "a merge of BPE"); err != nil {
		return err
	}
	if len(pair) != 2 {
		return unreadableModel("tokenizer: merge %d of BPE is not of two tokens", rank)
	}
	a, okA := m.vocab[pair[0]]
	b, okB := m.vocab[pair[1]]
	into, ok := m.vocab[pair[0]+strings.TrimPrefix(pair[1], m.prefix)]
	if !okA || !okB || !ok {
		return unreadableModel("tokenizer: merge %d of BPE, of %.40q and %.40q, is of tokens that are not there", rank,
			pair[0], pair[1])
	}
	m.merges[[2]int32{a, b}] = merge{rank, into}
	return nil
}

func (m *bpeModel) vocabulary() map[string]int32 { return m.vocab }
func (m *bpeModel) unknown() int32               { return m.unk }

// spell splits piece into characters and joins pairs until no merge applies.
func (m *bpeModel) spell(dst []int32, piece string) []int32 {
	if m.whole {
		if id, ok := m.vocab[piece]; ok {
			return append(dst, id)
		}
	}
	from := len(dst)
	dst = m.splitCharacters(dst, piece)
	return dst[:from+m.joinPairs(dst[from:])]
}

// splitCharacters appends a token for each character: its own, else those of its bytes, else unk. Without any of them
// the character is dropped.
func (m *bpeModel) splitCharacters(dst []int32, piece string) []int32 {
	fusing := false
	for i, r := range piece {
		// an invalid byte decodes to RuneError too, but is one byte long, not three
		size := utf8.RuneLen(r)
		if r == utf8.RuneError {
			_, size = utf8.DecodeRuneInString(piece[i:])
		}
		c := piece[i : i+size]
		s := c
		if i > 0 {
			s = m.prefix + s
		}
		if i+size == len(piece) {
			s += m.suffix
		}
		if id, ok := m.vocab[s]; ok {
			dst, fusing = append(dst, id), false
			continue
		}
		if m.bytes {
			var ok bool
			if dst, ok = appendBytes(dst, m.vocab, s); ok {
				fusing = false
				continue
			}
		}
		if m.unk >= 0 && !(m.fuse && fusing) {
			dst, fusing = append(dst, m.unk), true
		}
	}
	return dst
}

// joinPairs merges neighbours in place and returns how many tokens are left. The pair of the lowest rank goes first;
// among equals, the leftmost. The time is quadratic in the length of one word.
func (m *bpeModel) joinPairs(ids []int32) int {
	n := len(ids)
	for n > 1 {
		at, first := -1, merge{}
		for i := range n - 1 {
			if g, ok := m.merges[[2]int32{ids[i], ids[i+1]}]; ok && (at < 0 || g.rank < first.rank) {
				at, first = i, g
			}
		}
		if at < 0 {
			break
		}
		ids[at] = first.into
		copy(ids[at+1:n-1], ids[at+2:n])
		n--
	}
	return n
}
