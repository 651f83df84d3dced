package embed

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestWords(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"plain", "Create an issue", "create|an|issue"},
		{"snake and kebab", "create_pull-request", "create|pull|request"},
		{"camel", "createPullRequest", "create|pull|request"},
		{"abbreviation before a word", "HTTPServerURL", "http|server|url"},
		{"digits stay with letters", "s3 k8s page2", "s3|k8s|page2"},
		{"digit before a capital", "ec2Instance", "ec2|instance"},
		{"punctuation", "don't; (stop)...now!", "don|t|stop|now"},
		{"accents go", "Créer la tâche", "creer|la|tache"},
		{"decomposed equals composed", "Cre\u0301er", "creer"},
		{"letters that stand for two", "Straße Æther", "strasse|aether"},
		{"Turkish i", "İstanbul ISI ısı", "istanbul|isi|isi"},
		{"Cyrillic", "Создайте Ёлку, йод", "создаите|елку|иод"},
		{"Greek", "Άρθρος", "αρθροσ"},
		{"Arabic marks, alef, article", "أَنشِئ المستودع", "انشي|مستودع"},
		{"Devanagari keeps vowel signs", "फ़ाइल बनाओ", "फाइल|बनाओ"},
		{"Han is one run", "创建仓库", "创建仓库"},
		{"scripts part", "GitHub仓库", "git|hub|仓库"},
		{"kana keep their voice", "リポジトリを作って", "リポジトリを作って"},
		{"half width", "ﾃﾞｰﾀ ＡＢＣ", "データ|abc"},
		{"a voice mark alone", "ﾞ00", "00"},
		{"Hangul", "저장소를 만들어", "저장소를|만들어"},
		{"Thai", "สร้างไฟล์", "สร้างไฟล์"},
		{"emoji and symbols", "🚀 launch → now", "launch|now"},
		{"nothing", " .,;\t\n", ""},
		{"broken UTF-8", "a\xffb", "a|b"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for w := range Words(test.text) {
				got = append(got, string(w))
			}
			if diff := cmp.Diff(test.want, strings.Join(got, "|")); diff != "" {
				t.Errorf("words of %q (-want +got):\n%s", test.text, diff)
			}
		})
	}
}

func FuzzWords(f *testing.F) {
	for _, s := range []string{
		"createPullRequest2 HTTPServer", "创建仓库 ﷺ ﾃﾞ", "a\xff\xc3", strings.Repeat("x", 200),
		"ÅÅ\u0301\u0301",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		total := 0
		for w := range Words(text) {
			if len(w) == 0 || len(w) > maxRun+utf8.UTFMax {
				t.Fatalf("a word of %d bytes", len(w))
			}
			if !utf8.Valid(w) {
				t.Fatalf("word %q is not UTF-8", w)
			}
			total += len(w)
		}
		if total > 36*len(text)+64 {
			t.Fatalf("%d bytes of words from %d of text", total, len(text))
		}
	})
}
