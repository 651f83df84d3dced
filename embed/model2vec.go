package embed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"unicode/utf8"
)

// Model2Vec is an [Embedder] over a static table as Model2Vec distils them: the vector of a text is the mean of the
// rows of its tokens. The table stays in memory in the number format of its file. It is immutable and safe for
// concurrent use. Make one with [OpenModel2Vec].
//
// Vectors have unit length, whether or not the model's own configuration asks for that: only their directions can be
// compared.
type Model2Vec struct {
	tok     *tokenizer
	rows    tensor
	weights *tensor // of tokens; nil means 1
	mapping []int32 // the row of each token; nil means its number
	letters int     // characters of a text that are read; the rest is cut before it is tokenised
	model   Model
}

// model2vecTokens bounds the tokens of a text that count, as in the library that makes such models.
const model2vecTokens = 512

// OpenModel2Vec reads a model from its folder: model.safetensors and tokenizer.json, as Model2Vec saves them, or the
// same two in the folder 0_StaticEmbedding, as Sentence Transformers does. Rows may be float32, float16, bfloat16,
// float64 or int8; token weights and a mapping of tokens to rows are used where the file has them. An error in a file's
// content wraps [ErrModelFile].
func OpenModel2Vec(dir string) (*Model2Vec, error) {
	from := dir
	if _, err := os.Stat(filepath.Join(dir, "model.safetensors")); errors.Is(err, fs.ErrNotExist) {
		if nested := filepath.Join(dir, "0_StaticEmbedding"); isFolder(nested) {
			from = nested
		}
	}
	table, err := os.ReadFile(filepath.Join(from, "model.safetensors"))
	if err != nil {
		return nil, fmt.Errorf("open model: %w", err)
	}
	tokens, err := os.ReadFile(filepath.Join(from, "tokenizer.json"))
	if err != nil {
		return nil, fmt.Errorf("open model: %w", err)
	}
	name := filepath.Base(filepath.Clean(dir))
	m, err := newModel2Vec(name, table, tokens)
	if err != nil {
		return nil, fmt.Errorf("open model %s: %w", dir, err)
	}
	return m, nil
}

// isFolder reports whether path is a directory.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// newModel2Vec makes a model of the content of its two files. It keeps table, which must not change afterwards.
func newModel2Vec(name string, table, tokens []byte) (*Model2Vec, error) {
	tensors, err := parseTensors(table)
	if err != nil {
		return nil, err
	}
	m := &Model2Vec{}
	if m.tok, err = parseTokenizer(tokens); err != nil {
		return nil, err
	}
	rows, ok := tensors["embeddings"]
	if !ok {
		rows, ok = tensors["embedding.weight"]
	}
	if !ok || len(rows.shape) != 2 || rows.shape[0] == 0 || rows.shape[1] == 0 || rows.kind == "I64" ||
		rows.kind == "I32" || rows.kind == "U8" {
		return nil, unreadableModel("there is no matrix named embeddings, of floats or int8")
	}
	m.rows = rows
	if err := m.mapTensors(tensors); err != nil {
		return nil, err
	}
	m.letters = model2vecTokens * m.tok.medianLength()
	sum := sha256.New()
	for _, b := range [][]byte{table, tokens} {
		fmt.Fprintf(sum, "%d:", len(b))
		sum.Write(b)
	}
	m.model = Model{Name: name, Dims: rows.shape[1], Fingerprint: hex.EncodeToString(sum.Sum(nil)[:16])}
	return m, nil
}

// mapTensors makes sure that every token has a row, and a weight if there are weights, so that lookups need no checks.
func (m *Model2Vec) mapTensors(tensors map[string]tensor) error {
	n := len(m.tok.tokens)
	if w, ok := tensors["weights"]; ok {
		if w.len() < n {
			return unreadableModel("%d weights for %d tokens", w.len(), n)
		}
		m.weights = &w
	}
	last := n - 1
	if list, ok := tensors["mapping"]; ok {
		if list.len() < n || list.kind != "I64" && list.kind != "I32" {
			return unreadableModel("a mapping of %d %s for %d tokens", list.len(), list.kind, n)
		}
		m.mapping, last = make([]int32, n), 0
		for i := range m.mapping {
			row := list.elementAt(i)
			if row < 0 || row >= float64(m.rows.shape[0]) {
				return unreadableModel("token %d is mapped to row %v of %d", i, row, m.rows.shape[0])
			}
			m.mapping[i] = int32(row)
		}
	}
	if last >= m.rows.shape[0] {
		return unreadableModel("%d rows for %d tokens", m.rows.shape[0], n)
	}
	return nil
}

// Model returns the name of the folder, and a digest of both files as the fingerprint.
func (m *Model2Vec) Model() Model { return m.model }

// Queries implements [Embedder]. The errors are the cause of a context that has ended, and one of kind [ErrVectors] for
// a table whose rows are not finite numbers.
func (m *Model2Vec) Queries(ctx context.Context, texts []string) ([][]float32, error) {
	return m.encodeAll(ctx, len(texts), func(i int) string { return texts[i] })
}

// Documents implements [Embedder], with the errors of Queries.
func (m *Model2Vec) Documents(ctx context.Context, docs []Document) ([][]float32, error) {
	return m.encodeAll(ctx, len(docs), func(i int) string { return docs[i].runningText() })
}

// encodeAll embeds n texts one after another. It sums in float64 and in the order of the tokens, so that the same text
// always gives the same bits.
func (m *Model2Vec) encodeAll(ctx context.Context, n int, text func(int) string) ([][]float32, error) {
	out := make([][]float32, n)
	sum := make([]float64, m.model.Dims)
	var ids []int32
	for i := range out {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		ids = m.appendCounted(ids[:0], text(i))
		clear(sum)
		for _, id := range ids {
			m.addRow(sum, id)
		}
		out[i] = make([]float32, len(sum))
		if !normalizeVector(out[i], sum) {
			return nil, &Error{
				Kind: ErrVectors, Msg: "model " + m.model.Name + " has rows that are not finite numbers",
				Hint: "fetch its files again",
			}
		}
	}
	return out, nil
}

// appendCounted appends the tokens of a text that count, in order. The token for unknown words carries no meaning and
// is left out, except with a Unigram model, whose unknown() is -1.
func (m *Model2Vec) appendCounted(dst []int32, text string) []int32 {
	if len(text) > m.letters && utf8.RuneCountInString(text) > m.letters {
		n := 0
		for at := range text {
			if n == m.letters {
				text = text[:at]
				break
			}
			n++
		}
	}
	unknown := m.tok.model.unknown()
	kept := dst
	for _, id := range m.tok.appendTokens(dst, text)[len(dst):] {
		if id != unknown && len(kept) < len(dst)+model2vecTokens {
			kept = append(kept, id)
		}
	}
	return kept
}

// addRow adds the row of a token, times its weight, to sum.
func (m *Model2Vec) addRow(sum []float64, id int32) {
	by, row := 1.0, id
	if m.weights != nil {
		by = m.weights.elementAt(int(id))
	}
	if m.mapping != nil {
		row = m.mapping[id]
	}
	m.rows.addRow(sum, int(row), by)
}

// normalizeVector writes v to out in unit length; a zero v leaves out as it is. It reports whether the length of v is
// finite.
func normalizeVector(out []float32, v []float64) bool {
	sum := 0.0
	for _, x := range v {
		sum += float64(x * x)
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		return false
	}
	if sum == 0 {
		return true
	}
	n := math.Sqrt(sum)
	for i, x := range v {
		out[i] = float32(x / n)
	}
	return true
}
