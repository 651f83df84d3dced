package embed

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// array is a tensor to be written.
type array struct {
	kind  string
	shape []int
	data  any // what binary.Write takes
}

// safetensors writes arrays as the format has them.
func safetensors(t testing.TB, arrays map[string]array) []byte {
	t.Helper()
	header := map[string]any{"__metadata__": map[string]string{"format": "pt"}}
	var data bytes.Buffer
	for name, a := range arrays {
		from := data.Len()
		if err := binary.Write(&data, binary.LittleEndian, a.data); err != nil {
			t.Fatal(err)
		}
		header[name] = map[string]any{"dtype": a.kind, "shape": a.shape, "data_offsets": []int{from, data.Len()}}
	}
	h, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(h))), h...), data.Bytes()...)
}

// A vocabulary of five words, with a row of two components each.
const smallTokenizer = `{"normalizer":{"type":"Lowercase"},"pre_tokenizer":{"type":"Whitespace"},
	"model":{"type":"WordLevel","unk_token":"?","vocab":{"?":0,"open":1,"a":2,"ticket":3,"close":4}}}`

var smallRows = []float32{9, 9, 3, 4, 0, 1, 1, 0, -3, -4}

func writeModel(t *testing.T, dir string, table []byte, tokens string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"model.safetensors": table, "tokenizer.json": []byte(tokens)} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestModel2Vec(t *testing.T) {
	halves := make([]uint16, len(smallRows))
	brain := make([]uint16, len(smallRows))
	bytes8 := make([]int8, len(smallRows))
	wide := make([]float64, len(smallRows))
	for i, x := range smallRows {
		brain[i] = uint16(math.Float32bits(x) >> 16)
		bytes8[i], wide[i] = int8(x), float64(x)
		halves[i] = map[float32]uint16{0: 0, 1: 0x3c00, 3: 0x4200, 4: 0x4400, 9: 0x4880, -3: 0xc200, -4: 0xc400}[x]
	}
	// "open a ticket": (3,4) + (0,1) + (1,0) = (4,5). With weights 1, 2, 4: (3,4) + (0,2) + (4,0) = (7,6).
	plain, weighed := []float64{4, 5}, []float64{7, 6}
	weights := []float32{1, 1, 2, 4, 1}
	tests := []struct {
		name   string
		arrays map[string]array
		want   []float64
	}{
		{"float32", map[string]array{"embeddings": {"F32", []int{5, 2}, smallRows}}, plain},
		{"float16", map[string]array{"embeddings": {"F16", []int{5, 2}, halves}}, plain},
		{"bfloat16", map[string]array{"embeddings": {"BF16", []int{5, 2}, brain}}, plain},
		{"float64", map[string]array{"embeddings": {"F64", []int{5, 2}, wide}}, plain},
		{"int8", map[string]array{"embeddings": {"I8", []int{5, 2}, bytes8}}, plain},
		{
			"as Sentence Transformers names it",
			map[string]array{"embedding.weight": {"F32", []int{5, 2}, smallRows}},
			plain,
		},
		{"weights", map[string]array{
			"embeddings": {"F32", []int{5, 2}, smallRows},
			"weights":    {"F32", []int{5}, weights},
		}, weighed},
		{"weights and a mapping, by which tokens share rows", map[string]array{
			"embeddings": {"I8", []int{3, 2}, []int8{3, 4, 0, 1, 1, 0}}, "weights": {
				"F64",
				[]int{5},
				[]float64{1, 1, 2, 4, 1},
			},
			"mapping": {"I64", []int{5}, []int64{0, 0, 1, 2, 0}},
		}, weighed},
		{"a mapping of 32 bits", map[string]array{
			"embeddings": {"F32", []int{3, 2}, []float32{3, 4, 0, 1, 1, 0}},
			"mapping":    {"I32", []int{5}, []int32{0, 0, 1, 2, 0}},
		}, plain},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if strings.Contains(tt.name, "Sentence") {
				writeModel(t, filepath.Join(dir, "0_StaticEmbedding"), safetensors(t, tt.arrays), smallTokenizer)
			} else {
				writeModel(t, dir, safetensors(t, tt.arrays), smallTokenizer)
			}
			m, err := OpenModel2Vec(dir)
			if err != nil {
				t.Fatal(err)
			}
			got, err := m.Queries(t.Context(), []string{"Open A unheard Ticket", "what?", ""})
			if err != nil {
				t.Fatal(err)
			}
			n := math.Hypot(tt.want[0], tt.want[1])
			want := [][]float32{{float32(tt.want[0] / n), float32(tt.want[1] / n)}, {0, 0}, {0, 0}}
			if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-6)); diff != "" {
				t.Errorf("vectors (-want +got):\n%s", diff)
			}
			if model := m.Model(); model.Dims != 2 || len(model.Fingerprint) != 32 || model.Name != filepath.Base(dir) {
				t.Errorf("model %+v", model)
			}
			docs, err := m.Documents(t.Context(), []Document{{Name: "open_ticket"}, {}})
			// "open ticket": (3,4) + (1,0) = (4,4), and by weight (3,4) + (4,0) = (7,4).
			across := map[bool]float64{false: 4. / 4, true: 7. / 4}[tt.want[0] == weighed[0]]
			if err != nil || math.Abs(norm2(docs[0])-1) > 1e-6 ||
				math.Abs(float64(docs[0][0]/docs[0][1])-across) > 1e-6 {
				t.Errorf("document %v, %v; want open and ticket, at a ratio of %v in unit length", docs, err, across)
			}
		})
	}
}

func TestModel2VecFingerprint(t *testing.T) {
	table := safetensors(t, map[string]array{"embeddings": {"F32", []int{5, 2}, smallRows}})
	first, err := newModel2Vec("m", table, []byte(smallTokenizer))
	if err != nil {
		t.Fatal(err)
	}
	other := bytes.Clone(table)
	other[len(other)-1] ^= 1
	for name, files := range map[string][2][]byte{
		"a row":         {other, []byte(smallTokenizer)},
		"the tokenizer": {table, []byte(smallTokenizer + " ")},
	} {
		m, err := newModel2Vec("m", files[0], files[1])
		if err != nil || m.Model().Fingerprint == first.Model().Fingerprint {
			t.Errorf("%s changed, and the fingerprint did not: %v", name, err)
		}
	}
}

func TestModel2VecRefused(t *testing.T) {
	good := map[string]array{"embeddings": {"F32", []int{5, 2}, smallRows}}
	with := func(name string, a array) []byte {
		arrays := map[string]array{name: a}
		for k, v := range good {
			if _, ok := arrays[k]; !ok {
				arrays[k] = v
			}
		}
		return safetensors(t, arrays)
	}
	whole := safetensors(t, good)
	tests := []struct {
		name  string
		table []byte
		want  string
	}{
		{"no bytes", nil, "too few"},
		{"a header beyond the file", []byte("\xff\xff\xff\xff\xff\xff\xff\xff{}"), "header of"},
		{"a header that is no JSON", []byte("\x02\x00\x00\x00\x00\x00\x00\x00{{"), "not JSON"},
		{"cut off", whole[:len(whole)-1], "its bytes are"},
		{"no table", safetensors(t, map[string]array{"other": {"F32", []int{1}, []float32{1}}}), "embeddings"},
		{
			"a table of one dimension", safetensors(t, map[string]array{"embeddings": {"F32", []int{10}, smallRows}}),
			"embeddings",
		},
		{
			"a shape that does not fit", safetensors(t, map[string]array{"embeddings": {"F32", []int{5, 3}, smallRows}}),
			"shape",
		},
		{
			"too few rows", safetensors(t, map[string]array{"embeddings": {"F32", []int{4, 2}, smallRows[:8]}}),
			"4 rows for 5 tokens",
		},
		{"too few weights", with("weights", array{"F32", []int{2}, []float32{1, 1}}), "2 weights"},
		{"too short a mapping", with("mapping", array{"I64", []int{1}, []int64{0}}), "mapping"},
		{"a mapping beyond the rows", with("mapping", array{"I64", []int{5}, []int64{0, 0, 0, 0, 5}}), "row 5"},
		{"a mapping of floats", with("mapping", array{"F32", []int{5}, []float32{0, 0, 0, 0, 0}}), "mapping"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := newModel2Vec("m", tt.table, []byte(smallTokenizer))
			if !errors.Is(err, ErrModelFile) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want one of a model file with %q", err, tt.want)
			}
		})
	}
	if _, err := OpenModel2Vec(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty folder: %v", err)
	}
	nan := float32(math.NaN())
	m, err := newModel2Vec("m", with("embeddings", array{
		"F32",
		[]int{5, 2},
		[]float32{nan, 0, nan, 0, 0, 1, 1, 0, 0, 0},
	}), []byte(smallTokenizer))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Queries(t.Context(), []string{"open"}); !errors.Is(err, ErrVectors) {
		t.Errorf("a row that is no number: %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := m.Queries(ended, []string{"a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
}

func TestHalfFloat(t *testing.T) {
	for bits, want := range map[uint16]float32{
		0x3c00: 1, 0xc000: -2, 0x7bff: 65504, 0x0400: 6.103515625e-05,
		0x0001: 5.9604644775390625e-08, 0x8001: -5.9604644775390625e-08, 0x3555: 0.333251953125,
	} {
		if got := halfFloat(bits); got != want {
			t.Errorf("%#04x is %v, want %v", bits, got, want)
		}
	}
	if got := halfFloat(0x7c00); !math.IsInf(float64(got), 1) {
		t.Errorf("infinity is %v", got)
	}
}

// TestModel2VecOfTheTeacher turns a table that was distilled by Model2Vec into the files that Model2Vec would save, and
// holds what is read of them against the table's own arithmetic.
func TestModel2VecOfTheTeacher(t *testing.T) {
	table, tokens := teacher(t)
	m, err := newModel2Vec("potion-base-2M", table, tokens)
	if err != nil {
		t.Fatal(err)
	}
	if model := m.Model(); model.Dims != 64 || len(m.tok.tokens) != 29528 {
		t.Fatalf("%+v with %d tokens", model, len(m.tok.tokens))
	}
	texts := []string{
		"open a merge proposal", "create a pull request", "weather forecast for tomorrow", "will it rain",
		"unaffable Café 日本",
	}
	got, err := m.Queries(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	cos := func(i, j int) (sum float64) {
		for k := range got[i] {
			sum += float64(got[i][k]) * float64(got[j][k])
		}
		return sum
	}
	if cos(0, 1) < cos(0, 3)+.1 || cos(2, 3) < cos(1, 3)+.1 {
		t.Errorf("meaning is lost: merge and pull request %.2f, merge and rain %.2f, weather and rain %.2f, pull request and rain %.2f", cos(0, 1), cos(0, 3), cos(2, 3), cos(1, 3))
	}
	spelled := []string{}
	for _, id := range m.tok.appendTokens(nil, texts[4]) {
		spelled = append(spelled, m.tok.tokens[id])
	}
	if diff := cmp.Diff([]string{"una", "##ffa", "##ble", "cafe", "日", "本"}, spelled); diff != "" {
		t.Errorf("spelling (-want +got):\n%s", diff)
	}
}

// teacher returns the table among the data as the files of a model.
func teacher(t testing.TB) (table, tokens []byte) {
	t.Helper()
	data := os.Getenv("TOOLDEX_DATA")
	if data == "" {
		data = "../../shared/data"
	}
	b, err := os.ReadFile(filepath.Join(data, "teacher", "potion-base-2M.bin"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no teacher's table in TOOLDEX_DATA")
	}
	if err != nil {
		t.Fatal(err)
	}
	v, d := int(binary.LittleEndian.Uint32(b[4:])), int(binary.LittleEndian.Uint32(b[8:]))
	at := 12
	rows := make([]float32, v*d)
	scales := b[at : at+4*v]
	at += 4 * v
	for i := range rows {
		rows[i] = float32(int8(b[at+i])) * math.Float32frombits(binary.LittleEndian.Uint32(scales[4*(i/d):]))
	}
	at += v * d
	vocab := map[string]int{}
	for i := range v {
		n := int(binary.LittleEndian.Uint16(b[at:]))
		vocab[string(b[at+2:at+2+n])] = i
		at += 2 + n
	}
	file := map[string]any{
		"normalizer": map[string]any{
			"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
			"lowercase": true,
		},
		"pre_tokenizer": map[string]any{"type": "BertPreTokenizer"},
		"model":         map[string]any{"type": "WordPiece", "unk_token": "[UNK]", "vocab": vocab},
	}
	tokens, err = json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	return safetensors(t, map[string]array{"embeddings": {"F32", []int{v, d}, rows}}), tokens
}

// FuzzSafetensors reads any bytes as tensors; those that there are must be as long as their shapes say.
func FuzzSafetensors(f *testing.F) {
	f.Add(safetensors(f, map[string]array{
		"embeddings": {"F32", []int{5, 2}, smallRows},
		"mapping":    {"I64", []int{2}, []int64{1, 0}},
	}))
	f.Add(safetensors(f, map[string]array{"embeddings": {"I8", []int{0, 2}, []int8{}}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		tensors, err := parseTensors(b)
		if err != nil && !errors.Is(err, ErrModelFile) {
			t.Fatal(err)
		}
		for name, a := range tensors {
			count := 1
			for _, n := range a.shape {
				count *= n
			}
			if count != a.len() {
				t.Errorf("%s of %v has %d elements", name, a.shape, a.len())
			}
			for i := range a.len() {
				_ = fmt.Sprint(a.elementAt(i))
			}
		}
		if m, err := newModel2Vec("m", b, []byte(smallTokenizer)); err == nil {
			if _, err := m.Queries(t.Context(), []string{"open a ticket"}); err != nil && !errors.Is(err, ErrVectors) {
				t.Fatal(err)
			}
		}
	})
}
