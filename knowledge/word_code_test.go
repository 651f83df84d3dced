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

// TestWordCodeOfBase makes a code of real texts and reads each of them, and one of them cut after each word, so that
// texts end in words of all kinds.
func TestWordCodeOfBase(t *testing.T) {
	base, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for k := 0; k < base.texts.n; k += 20 {
		block, err := base.readTexts(k)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, strings.Join(block, recordSep))
	}
	codes, code := codeOf(t, texts)
	if len(codes.common) != commonWords || len(codes.common) >= len(codes.sorted) {
		t.Fatalf("%d of %d words have codes of their own", len(codes.common), len(codes.sorted))
	}
	for _, text := range texts {
		if got, err := code.decode(codes.encode(text)); err != nil || got != text {
			t.Fatalf("%.60q becomes %.60q, %v", text, got, err)
		}
	}
	kinds := map[string]int{}
	end, before := 0, 0
	codes.eachPlace(texts[0], func(after int, place uint32) {
		end += len(codes.sorted[place])
		if got, err := code.decode(codes.encode(texts[0][:end])); err != nil || got != texts[0][:end] {
			t.Fatalf("%q becomes %q, %v", texts[0][:end], got, err)
		}
		_, often := codes.after[after].codes[place]
		switch {
		case after == 0 && before > 0:
			kinds["after a rare word"]++
		case often:
			kinds["often after a common word"]++
		default:
			kinds["seldom after a common word"]++
		}
		before = end
	})
	if len(kinds) < 3 {
		t.Errorf("the text has only words %v", kinds)
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
