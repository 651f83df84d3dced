package knowledge

import (
	"bufio"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestLanguages recognises the languages of the requests in testdata/languages.txt, which has one a line behind its
// language. Few of their words may be missing in the lexicon. The bounds are near what was measured.
func TestLanguages(t *testing.T) {
	b := builtinBase(t)
	f, err := os.Open("testdata/languages.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	requests, wrong := map[string]int{}, []string(nil)
	words, unknown := map[string]int{}, map[string]int{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		lang, text, _ := strings.Cut(lines.Text(), ": ")
		requests[lang]++
		all := lexWords(text)
		if got := b.likelyLanguages(text, all); len(got) == 0 || got[0] != lang && !(lang == "ja" || lang == "zh") {
			wrong = append(wrong, lines.Text())
		}
		if isUnspaced(lang) {
			continue
		}
		for _, w := range all {
			if !b.isFunctionWord(lang, w) {
				words[lang]++
				if b.translateWord(lang, w, true) == nil {
					unknown[lang]++
				}
			}
		}
	}
	if lines.Err() != nil || len(requests) != 31 {
		t.Fatalf("requests of %d languages, %v", len(requests), lines.Err())
	}
	all := 0
	for lang, n := range requests {
		all += n
		if share := float64(unknown[lang]) / float64(max(1, words[lang])); share > .35 {
			t.Errorf("%s: %.2f of the words are unknown", lang, share)
		}
	}
	t.Logf("%d of %d requests are taken for another language", len(wrong), all)
	if len(wrong)*50 > all {
		t.Errorf("more than one in fifty:\n%s", strings.Join(wrong, "\n"))
	}
}

// TestMarksDistinguish translates pairs of words that only their marks distinguish. A request without any mark has all
// meanings, except for words that are function words as they stand.
func TestMarksDistinguish(t *testing.T) {
	b := builtinBase(t)
	for _, c := range []struct{ text, with, without string }{
		{"ein schönes Bild suchen", "beautiful", ""},
		{"ist die Lieferung schon da, bitte zeige das Päckchen", "", "beautiful"},
		{"mở cửa của tôi", "door", ""},
		{"trạng thái của máy chủ", "", "door"},
		{"bán sản phẩm này", "sell", "busy"},
		{"Ankara'nın hava durumunu göster", "weather", ""},
	} {
		got := b.Translate(c.text)
		if c.with != "" && !hasAny(" "+got+" ", []string{c.with}) {
			t.Errorf("%q lacks %q: %q", c.text, c.with, got)
		}
		if c.without != "" && hasAny(" "+got+" ", []string{c.without}) {
			t.Errorf("%q has %q: %q", c.text, c.without, got)
		}
	}
}

// TestFunctionWords requires function words of every language of the lexicon that has spaces, and none of them twice.
func TestFunctionWords(t *testing.T) {
	seen, lang := map[string]bool{}, ""
	for _, word := range strings.Fields(functionWordsText) {
		if name, begins := strings.CutSuffix(word, ":"); begins {
			lang = name
			continue
		}
		if seen[lang+word] || word != strings.ToLower(word) {
			t.Errorf("%s: %q stands twice, or has capitals", lang, word)
		}
		seen[lang+word] = true
	}
	for _, lang := range append(slices.Clone(latinLanguages), "ar", "bg", "el", "fa", "he", "hi", "ko", "ru", "uk") {
		if len(functionWords()[lang].spelled) < 90 {
			t.Errorf("%s has %d function words", lang, len(functionWords()[lang].spelled))
		}
	}
}

func BenchmarkLanguage(b *testing.B) {
	base := builtinBase(b)
	for name, text := range map[string]string{
		"German":       "zeig mir die offenen Rechnungen vom März",
		"English":      "open pull requests of the billing repository",
		"English name": "open pull requests of the billing repository by zyxglorp",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				base.likelyLanguages(text, lexWords(text))
			}
		})
	}
}
