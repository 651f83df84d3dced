package embed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// unigramModel spells text by the likeliest sequence of tokens, as SentencePiece does. It is read-only once parsed.
type unigramModel struct {
	vocab    map[string]int32
	scores   []float64
	unk      int32 // -1 if there is none
	bytes    bool  // unknown characters are spelled by tokens of their bytes
	unkScore float64
	widest   int // bytes of the longest token
}

// scoredToken is a token as a file has it: a list of its text and its log probability.
type scoredToken struct {
	text  string
	score float64
}

// UnmarshalJSON reads a token. Large models have half a million, so plain strings skip the general decoder.
func (t *scoredToken) UnmarshalJSON(b []byte) error {
	comma := bytes.LastIndexByte(b, ',')
	if comma < 1 || b[0] != '[' {
		return fmt.Errorf("%.80q is not a token and its score", b)
	}
	text := bytes.TrimSpace(b[1:comma])
	if n := len(text); n >= 2 && text[0] == '"' && text[n-1] == '"' && !bytes.ContainsAny(text[1:n-1], `"\`) &&
		utf8.Valid(text) {
		t.text = string(text[1 : n-1])
	} else if err := json.Unmarshal(text, &t.text); err != nil {
		return err
	}
	var err error
	t.score, err = strconv.ParseFloat(string(bytes.TrimSpace(b[comma+1:len(b)-1])), 64)
	return err
}

// unkPenalty is how far the score of an unknown character lies below that of the unlikeliest token.
const unkPenalty = 10

// parseUnigram reads a unigram model: tokens with log probabilities, of which the likeliest spelling is chosen.
func parseUnigram(raw json.RawMessage) (tokenModel, error) {
	var f struct {
		Vocab []scoredToken `json:"vocab"`
		Unk   *int32        `json:"unk_id"`
		Bytes bool          `json:"byte_fallback"`
	}
	if err := unmarshalPart(raw, &f, "Unigram"); err != nil {
		return nil, err
	}
	m := &unigramModel{
		vocab: make(map[string]int32, len(f.Vocab)), scores: make([]float64, len(f.Vocab)), unk: -1,
		bytes: f.Bytes,
	}
	least := math.Inf(1)
	for i, t := range f.Vocab {
		m.vocab[t.text], m.scores[i] = int32(i), t.score
		m.widest = max(m.widest, len(t.text))
		least = min(least, t.score)
	}
	if f.Unk != nil {
		if m.unk = *f.Unk; m.unk < 0 || int(m.unk) >= len(f.Vocab) {
			return nil, unreadableModel("tokenizer: Unigram's token %d for what is unknown is not one of %d", m.unk,
				len(f.Vocab))
		}
	}
	if len(f.Vocab) == 0 {
		return nil, unreadableModel("tokenizer: Unigram has no tokens")
	}
	m.unkScore = least - unkPenalty
	return m, nil
}

func (m *unigramModel) vocabulary() map[string]int32 { return m.vocab }

// unknown returns -1: a Unigram model's token for unknown text has a vector like any other.
func (m *unigramModel) unknown() int32 { return -1 }

// bestPath is the likeliest way to spell the text up to a place.
type bestPath struct {
	score float64
	from  int32 // start of the last token; -1 if the place cannot be reached
	id    int32
}

// spell finds the best path from left to right: best[i] is final when i is reached. A character without a token of its
// own may always be unknown, so that every place can be reached.
func (m *unigramModel) spell(dst []int32, piece string) []int32 {
	best := make([]bestPath, len(piece)+1)
	for i := range best {
		best[i].from = -1
	}
	best[0].from = 0
	for i := 0; i < len(piece); {
		_, size := utf8.DecodeRuneInString(piece[i:])
		single := false
		for end := i + size; end <= len(piece) && end-i <= m.widest; {
			if id, ok := m.vocab[piece[i:end]]; ok {
				best[end].offerPath(best[i].score+m.scores[id], i, id)
				single = single || end == i+size
			}
			_, n := utf8.DecodeRuneInString(piece[end:])
			if n == 0 {
				break
			}
			end += n
		}
		if !single {
			best[i+size].offerPath(best[i].score+m.unkScore, i, m.unk)
		}
		i += size
	}
	return m.backtrackPath(dst, piece, best)
}

// offerPath takes a path if it is the first or better; of equal ones the first stays.
func (r *bestPath) offerPath(score float64, from int, id int32) {
	if r.from < 0 || score > r.score {
		*r = bestPath{score, int32(from), id}
	}
}

// backtrackPath follows the best path from the end and appends its tokens in order. A run of unknown characters is one
// token.
func (m *unigramModel) backtrackPath(dst []int32, piece string, best []bestPath) []int32 {
	type span struct{ from, to int }
	var spans []span
	for end := len(piece); end > 0; end = int(best[end].from) {
		start := int(best[end].from)
		unknown := best[end].id == m.unk
		if n := len(spans); unknown && n > 0 && spans[n-1].from == end && best[spans[n-1].to].id == m.unk {
			spans[n-1].from = start
			continue
		}
		spans = append(spans, span{start, end})
	}
	for i := len(spans) - 1; i >= 0; i-- {
		s := piece[spans[i].from:spans[i].to]
		if id, ok := m.vocab[s]; ok {
			dst = append(dst, id)
			continue
		}
		if m.bytes {
			var ok bool
			if dst, ok = appendBytes(dst, m.vocab, s); ok {
				continue
			}
		}
		if m.unk >= 0 {
			dst = append(dst, m.unk)
		}
	}
	return dst
}
