package knowledge

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// codeOf returns the code of texts, read from its compiled form.
func codeOf(t testing.TB, texts []string) (*wordCodes, *wordCode) {
	t.Helper()
	codes := newWordCodes(texts)
	packed, err := codes.compile()
	if err != nil {
		t.Fatal(err)
	}
	code, err := openWordCode(packed)
	if err != nil {
		t.Fatal(err)
	}
	return codes, code
}

func TestWordCode(t *testing.T) {
	for _, texts := range [][]string{
		nil,
		{""},
		{"a"},
		{"a", "a a a"},
		{"List issues\x1fshow tickets\x1eall bugs\x1fWhat's open?", "", "  two  spaces ", "¿Qué? 日本語 \xff\xfe", "x\x00y"},
		{strings.Repeat("commonest ", 5000) + "rare", "Commonest COMMONEST"},
	} {
		codes, code := codeOf(t, texts)
		for _, text := range texts {
			if got, err := code.decode(codes.encode(text)); err != nil || got != text {
				t.Errorf("%.60q becomes %.60q, %v", text, got, err)
			}
		}
	}
}

// TestWordCodeIsOptimal compares the lengths of codes with those of weights for which they are known.
func TestWordCodeIsOptimal(t *testing.T) {
	for _, tt := range []struct {
		weights []int
		want    []byte
	}{
		{nil, nil},
		{[]int{7}, []byte{1}},
		{[]int{1, 1}, []byte{1, 1}},
		{[]int{1, 1, 2, 4, 8}, []byte{4, 4, 3, 2, 1}},
		{[]int{1, 1, 1, 1}, []byte{2, 2, 2, 2}},
		{[]int{5, 9, 12, 13, 16, 45}, []byte{4, 4, 3, 3, 3, 1}}, // Cormen et al., Introduction to Algorithms, section 16.3
	} {
		if got := huffmanLengths(tt.weights); !slices.Equal(got, tt.want) {
			t.Errorf("%v get codes of %v bits, want %v", tt.weights, got, tt.want)
		}
	}
	// The weights that need the longest codes.
	fibonacci := []int{1, 1}
	for len(fibonacci) < maxCodeBits {
		fibonacci = append(fibonacci, fibonacci[len(fibonacci)-1]+fibonacci[len(fibonacci)-2])
	}
	if got := slices.Max(huffmanLengths(fibonacci)); got != maxCodeBits-1 {
		t.Errorf("the longest code has %d bits", got)
	}
}

// TestDamagedWordCode changes bytes of texts and of their code: what comes is an error or another text, and no panic.
func TestDamagedWordCode(t *testing.T) {
	texts := []string{"list the open issues of a repository", "show a repository", "close the issue"}
	codes, code := codeOf(t, texts)
	packed, err := codes.compile()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range [][]byte{nil, {1}, {5}, {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255}, {200, 1, 0}} {
		if text, err := code.decode(b); err == nil {
			t.Errorf("%v becomes %q", b, text)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		text := codes.encode(texts[r.IntN(len(texts))])
		text[r.IntN(len(text))] ^= byte(1 + r.IntN(255))
		_, _ = code.decode(text[:r.IntN(len(text)+1)])
		bad := slices.Clone(packed)
		bad[r.IntN(len(bad))] ^= byte(1 + r.IntN(255))
		other, err := openWordCode(bad[:len(bad)-r.IntN(2)*r.IntN(len(bad))])
		if err != nil {
			continue
		}
		_, _ = other.decode(codes.encode(texts[0]))
	}
}

func FuzzWordCode(f *testing.F) {
	f.Add("list issues", " of  a repository é\xff")
	f.Fuzz(func(t *testing.T, a, b string) {
		codes, code := codeOf(t, []string{a, b})
		for _, text := range []string{a, b} {
			if got, err := code.decode(codes.encode(text)); err != nil || got != text {
				t.Errorf("%q becomes %q, %v", text, got, err)
			}
		}
		if other, err := openWordCode([]byte(a)); err == nil {
			_, _ = other.decode([]byte(b))
		}
		_, _ = code.decode([]byte(b))
	})
}

func BenchmarkHead(b *testing.B) {
	base, err := Builtin()
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		if _, err := base.Head(i * 37 % base.Len()); err != nil {
			b.Fatal(err)
		}
	}
}
