package embed

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// reference is a tokenizer.json, with texts as the Rust library that the format comes from (its package on npm, 0.23.2)
// spells them.
type reference struct {
	Tokenizer json.RawMessage `json:"tokenizer"`
	Cases     []struct {
		Text   string   `json:"text"`
		IDs    []int32  `json:"ids"`
		Tokens []string `json:"tokens"`
	} `json:"cases"`
}

func references(t testing.TB) map[string]reference {
	t.Helper()
	files, err := filepath.Glob("testdata/tokenizers/*.json")
	if err != nil || len(files) < 9 {
		t.Fatalf("%d files, error %v", len(files), err)
	}
	out := map[string]reference{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var r reference
		if err := json.Unmarshal(b, &r); err != nil {
			t.Fatal(file, err)
		}
		out[strings.TrimSuffix(filepath.Base(file), ".json")] = r
	}
	return out
}

// TestTokenizersAgree holds every kind of tokenizer against the library it is a reading of.
func TestTokenizersAgree(t *testing.T) {
	for name, r := range references(t) {
		t.Run(name, func(t *testing.T) {
			tok, err := parseTokenizer(r.Tokenizer)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Cases) < 25 {
				t.Fatalf("only %d texts", len(r.Cases))
			}
			for _, c := range r.Cases {
				got := tok.appendTokens([]int32{}, c.Text)
				if diff := cmp.Diff(c.IDs, got); diff != "" {
					spelled := make([]string, len(got))
					for i, id := range got {
						spelled[i] = tok.tokens[id]
					}
					t.Errorf("%q:\nwant %q\ngot  %q", c.Text, c.Tokens, spelled)
				}
			}
		})
	}
}

func TestTokenizersRefused(t *testing.T) {
	level := `"model":{"type":"WordLevel","unk_token":"u","vocab":{"u":0}}`
	tests := []struct{ name, file, want string }{
		{"not JSON", `{`, "the file"},
		{"no model", `{}`, "no model"},
		{"unknown model", `{"model":{"type":"Magic"}}`, "Magic"},
		{"unknown normalizer", `{` + level + `,"normalizer":{"type":"Magic"}}`, "Magic"},
		{"unknown pre-tokenizer", `{` + level + `,"pre_tokenizer":{"type":"UnicodeScripts"}}`, "UnicodeScripts"},
		{"unknown behaviour", `{` + level + `,"pre_tokenizer":{"type":"Punctuation","behavior":"Magic"}}`, "Magic"},
		{"a look behind", `{` + level + `,"pre_tokenizer":{"type":"Split","pattern":{"Regex":"(?<=a)b"},"behavior":"Isolated"}}`, "(?<=a)b"},
		{"a look ahead of another kind", `{` + level +
			`,"pre_tokenizer":{"type":"Split","pattern":{"Regex":"a(?!b)"},"behavior":"Isolated"}}`, "looks ahead"},
		{
			"an anchor", `{` + level + `,"pre_tokenizer":{"type":"Split","pattern":{"Regex":"^a"},"behavior":"Isolated"}}`,
			"place",
		},
		{"the word for unknown missing", `{"model":{"type":"WordPiece","unk_token":"[UNK]","vocab":{"a":0}}}`, "[UNK]"},
		{
			"the number for unknown out of range", `{"model":{"type":"Unigram","unk_id":7,"vocab":[["a",-1]]}}`,
			"token 7",
		},
		{"a Unigram token with too much", `{"model":{"type":"Unigram","vocab":[["a",1,2]]}}`, "Unigram"},
		{"a Unigram token without a score", `{"model":{"type":"Unigram","vocab":[["a"]]}}`, "score"},
		{"a merge of nothing", `{"model":{"type":"BPE","vocab":{"a":0},"merges":["a b"]}}`, "merge 0"},
		{"a negative number", `{"model":{"type":"WordLevel","unk_token":"u","vocab":{"u":0,"a":-2}}}`, "-2"},
		{
			"a number beyond all", `{"model":{"type":"WordLevel","unk_token":"u","vocab":{"u":0,"a":2000000000}}}`,
			"2000000000",
		},
		{"a torn table of characters", `{` + level +
			`,"normalizer":{"type":"Precompiled","precompiled_charsmap":"AAAA"}}`, "table of characters"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parseTokenizer([]byte(tt.file))
			if !errors.Is(err, ErrModelFile) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want one of a model file with %q", err, tt.want)
			}
		})
	}
}

// FuzzTokenizer reads any bytes as a tokenizer and, if they are one, any text with it: every token that comes of it
// must be one that the tokenizer has.
func FuzzTokenizer(f *testing.F) {
	for _, file := range []string{ // small ones, since the engine is slow to shrink what it finds in large ones
		smallTokenizer,
		`{"normalizer":{"type":"BertNormalizer"},"pre_tokenizer":{"type":"BertPreTokenizer"},"model":{"type":"WordPiece","unk_token":"u","vocab":{"u":0,"a":1,"##b":2}}}`,
		`{"normalizer":{"type":"Sequence","normalizers":[{"type":"Nmt"},{"type":"Strip","strip_left":true}]},"pre_tokenizer":{"type":"Metaspace","replacement":"▁"},"model":{"type":"Unigram","unk_id":0,"vocab":[["u",0],["▁a",-1],["a",-2]]}}`,
		`{"added_tokens":[{"id":4,"content":"<s>","lstrip":true}],"pre_tokenizer":{"type":"ByteLevel"},"model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2,"Ġ":3},"merges":["a b"]}}`,
		`{"normalizer":{"type":"Precompiled","precompiled_charsmap":"BAAAAAAAAAA="},"pre_tokenizer":{"type":"Split","pattern":{"Regex":"\\p{N}{1,3}|\\s+(?!\\S)"},"behavior":"MergedWithNext"},"model":{"type":"BPE","byte_fallback":true,"unk_token":"a","fuse_unk":true,"vocab":{"a":0},"merges":[]}}`,
	} {
		if _, err := parseTokenizer([]byte(file)); err != nil {
			f.Fatal(file, err)
		}
		f.Add([]byte(file), "ab a  日 <s>1 \xff\r\n")
	}
	f.Fuzz(func(t *testing.T, file []byte, text string) {
		if len(text) > 500 {
			return
		}
		tok, err := parseTokenizer(file)
		if err != nil {
			if !errors.Is(err, ErrModelFile) {
				t.Fatalf("%v is not an error of a model file", err)
			}
			return
		}
		for _, id := range tok.appendTokens(nil, text) {
			if id < 0 || int(id) >= len(tok.tokens) {
				t.Fatalf("token %d of %d", id, len(tok.tokens))
			}
		}
	})
}
