package embed

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// small is a table of a few tokens with rows drawn from a fixed seed.
func small(t testing.TB, tokens ...string) ([]byte, Table) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	tab := Table{Tokens: tokens, Buckets: 4, Mix: [3]float32{.6, 1, .3}}
	n := len(tokens) + tab.Buckets
	for i := range n * Dims {
		tab.Rows = append(tab.Rows, float32(rng.NormFloat64())*float32(1+i/Dims%5))
	}
	for range n {
		tab.Query = append(tab.Query, float32(math.Exp(rng.NormFloat64())))
	}
	b, err := Encode(tab)
	if err != nil {
		t.Fatal(err)
	}
	return b, tab
}

func open(t testing.TB, b []byte) *Static {
	t.Helper()
	s, err := Open(b)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var sampleTokens = strings.Fields("create issue issu github git hub pull request s3 re po #po #s #ue #sitory c r e a t #c #r #e #a #t 仓库 创建 创 建 2 page 20 مستودع")

func TestTokens(t *testing.T) {
	b, _ := small(t, sampleTokens...)
	s := open(t, b)
	tests := []struct{ name, text, want string }{
		{"whole words", "create issue", "create issue"},
		{"camel-case name that is a word", "GitHub", "github"},
		{"camel-case name", "createIssue", "create issue"},
		{"camel case with digits", "createPage2", "create page 2"},
		{"digits apart", "page20", "page 20"},
		{"letters and digits that are a word", "S3", "s3"},
		{"plural by a piece", "issues", "issue #s"},
		{"pieces", "repository", "re #po #sitory"},
		{"longest piece first", "issueue", "issue #ue"},
		{"single letters", "crate", "c #r #a #t #e"},
		{"a word inside a word", "repocreate", "re #po create"},
		{"unspaced script", "创建仓库", "创建 仓库"},
		{"unspaced script, single", "创仓库建", "创 仓库 建"},
		{"article", "المستودع", "مستودع"},
		{"unknown characters", "x仓", "- -"},
		{"nothing", "...", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, row := range s.AppendTokens(nil, test.text, 100) {
				tok := s.Token(int(row))
				if tok == "" {
					tok = "-"
				}
				got = append(got, tok)
			}
			if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("tokens of %q (-want +got):\n%s", test.text, diff)
			}
		})
	}
}

func TestTokensStopAtTheLimit(t *testing.T) {
	b, _ := small(t, sampleTokens...)
	s := open(t, b)
	for _, limit := range []int{0, 1, 7, 1000} {
		if got, want := len(s.AppendTokens(nil, strings.Repeat("create ", 300), limit)),
			min(limit, maxTokens); got != want {
			t.Errorf("%d tokens at limit %d, want %d", got, limit, want)
		}
	}
}

// TestVectors compares with the plain arithmetic that the table stands for.
func TestVectors(t *testing.T) {
	b, tab := small(t, sampleTokens...)
	s := open(t, b)
	bag := func(text string, query bool) []float64 {
		sum := make([]float64, Dims)
		for _, r := range s.AppendTokens(nil, text, 100) {
			w := 1.0
			if query {
				w = float64(tab.Query[r])
			}
			for k := range sum {
				sum[k] += w * float64(tab.Rows[int(r)*Dims+k])
			}
		}
		return normalised(sum)
	}
	for _, text := range []string{"create issue", "repository x 2", "创建仓库 GitHub pull requests"} {
		got := make([]float32, Dims)
		s.Query(text, got)
		if c := cosine(got, bag(text, true)); c < .9995 {
			t.Errorf("query %q: cosine %.5f with the plain sum", text, c)
		}
		doc := Document{Name: text, Description: "create repository", Parameters: "page"}
		s.Document(doc, got)
		want := make([]float64, Dims)
		for i, part := range []string{doc.Name, doc.Description, doc.Parameters} {
			for k, v := range bag(part, false) {
				want[k] += float64(tab.Mix[i]) * v
			}
		}
		if c := cosine(got, normalised(want)); c < .9995 {
			t.Errorf("document %q: cosine %.5f with the plain sum", text, c)
		}
	}
}

func normalised(v []float64) []float64 {
	n := 0.0
	for _, x := range v {
		n += x * x
	}
	for i := range v {
		v[i] /= math.Sqrt(n)
	}
	return v
}

func cosine(a []float32, b []float64) float64 {
	c := 0.0
	for i := range a {
		c += float64(a[i]) * b[i]
	}
	return c
}

// TestSameBits holds the sums of exact bits that every machine must give: integer sums, and floating-point arithmetic
// without fused products.
func TestSameBits(t *testing.T) {
	b, _ := small(t, sampleTokens...)
	s := open(t, b)
	h := uint32(hashBasis)
	note := func(v []float32) {
		for _, x := range v {
			var raw [4]byte
			binary.LittleEndian.PutUint32(raw[:], math.Float32bits(x))
			h = hashBytes(h, raw[:])
		}
	}
	v := make([]float32, Dims)
	for _, text := range []string{
		"create issue", "repository x 2", "创建仓库 GitHub pull requests",
		strings.Repeat("issue s3 ", 80),
	} {
		s.Query(text, v)
		note(v)
		s.Document(Document{text, "create page " + text, "page s3"}, v)
		note(v)
	}
	const want = 0x52edbafb
	if h != want {
		t.Errorf("bits hash to %#x, want %#x", h, want)
	}
}

func TestNothingToEmbed(t *testing.T) {
	b, _ := small(t, sampleTokens...)
	s := open(t, b)
	v := slices.Repeat([]float32{7}, Dims+3)
	s.Query(" ?! ", v)
	s.Document(Document{}, v)
	if diff := cmp.Diff(append(make([]float32, Dims), 7, 7, 7), v); diff != "" {
		t.Errorf("vector of nothing (-want +got):\n%s", diff)
	}
}

func TestEncodeRefuses(t *testing.T) {
	good := func() Table {
		_, tab := small(t, "a", "b")
		return tab
	}
	tests := []struct {
		name  string
		spoil func(*Table)
	}{
		{"same token twice", func(t *Table) { t.Tokens[1] = "a" }},
		{"empty token", func(t *Table) { t.Tokens[0] = "" }},
		{"long token", func(t *Table) { t.Tokens[0] = strings.Repeat("x", maxPiece+1) }},
		{"lone mark", func(t *Table) { t.Tokens[0] = "#" }},
		{"no bucket", func(t *Table) { t.Buckets = 0 }},
		{"too many rows", func(t *Table) { t.Tokens = make([]string, 1<<16) }},
		{"rows missing", func(t *Table) { t.Rows = t.Rows[1:] }},
		{"query weights missing", func(t *Table) { t.Query = nil }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tab := good()
			test.spoil(&tab)
			if _, err := Encode(tab); err == nil {
				t.Error("encoded")
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	whole, _ := small(t, sampleTokens...)
	put := func(at int, v uint32) func([]byte) []byte {
		return func(b []byte) []byte { binary.LittleEndian.PutUint32(b[at:], v); return b }
	}
	slots := int(binary.LittleEndian.Uint32(whole[12:]))
	offsets := headerSize + 4*slots
	tests := []struct {
		name  string
		spoil func([]byte) []byte
	}{
		{"empty", func([]byte) []byte { return nil }},
		{"header alone", func(b []byte) []byte { return b[:headerSize] }},
		{"other magic", func(b []byte) []byte { b[0]++; return b }},
		{"one byte short", func(b []byte) []byte { return b[:len(b)-1] }},
		{"one byte long", func(b []byte) []byte { return append(b, 0) }},
		{"no rows", put(8, 0)},
		{"more rows than bytes", put(8, 4000)},
		{"slots no power of two", put(12, uint32(slots+1))},
		{"slots beyond all bounds", put(12, 1<<31)},
		{"fewer slots than rows", put(12, 16)},
		{"no buckets", put(16, 0)},
		{"strings beyond all bounds", put(20, 1<<31)},
		{"field weight no number", put(24, 0x7fc00000)},
		{"field weight negative", put(28, math.Float32bits(-1))},
		{"string offset beyond the strings", put(offsets+4, 1<<30)},
		{"string offsets descend", put(offsets+8, 0)},
		{"slot names no row", put(headerSize, 0xfff0)},
		{"no free slot", func(b []byte) []byte { clear(b[headerSize:offsets]); return b }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if _, err := Open(test.spoil(slices.Clone(whole))); !errors.Is(err, ErrTable) {
				t.Errorf("error is %v", err)
			}
		})
	}
}

func TestVerifyNoticesOneBit(t *testing.T) {
	b, _ := small(t, sampleTokens...)
	if err := open(t, b).Verify(); err != nil {
		t.Errorf("whole table: %v", err)
	}
	b[len(b)-5] ^= 1
	if err := open(t, b).Verify(); !errors.Is(err, ErrTable) {
		t.Errorf("error after a flipped bit is %v", err)
	}
}

// FuzzOpen changes bytes of the vocabulary and uses what still opens.
func FuzzOpen(f *testing.F) {
	whole, _ := small(f, sampleTokens...)
	f.Add(uint32(9), []byte{0}, "create issue")
	f.Add(uint32(70), []byte{1, 0, 3, 4}, "repository 创建")
	f.Add(uint32(700), []byte{255, 255, 255, 255, 255, 255}, "issues")
	f.Fuzz(func(t *testing.T, at uint32, change []byte, text string) {
		b := slices.Clone(whole)
		copy(b[int(at)%len(b):], change)
		s, err := Open(b)
		if err != nil {
			if !errors.Is(err, ErrTable) {
				t.Fatalf("error is %v", err)
			}
			return
		}
		v := make([]float32, Dims)
		s.Query(text, v)
		s.Document(Document{text, text, text}, v)
		for _, x := range v {
			if x != x || x > 1.001 || x < -1.001 {
				t.Fatalf("component %v", x)
			}
		}
	})
}

func FuzzQuery(f *testing.F) {
	b, _ := small(f, sampleTokens...)
	s := open(f, b)
	for _, text := range []string{
		"create issue", "createIssue20HTTP", "创建仓库 x", strings.Repeat("ab12", 60),
		"\xff\x00é",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v := make([]float32, Dims)
		s.Query(text, v)
		n := 0.0
		for _, x := range v {
			n += float64(x) * float64(x)
		}
		some := len(s.AppendTokens(nil, text, 1)) > 0
		if some && math.Abs(n-1) > 1e-4 || !some && n != 0 {
			t.Fatalf("length %v of %q", n, text)
		}
	})
}
