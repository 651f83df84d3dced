package knowledge

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// misspellings are requests with slips of the hand: letters left out, doubled, changed and swapped, and endings that no
// form has. Each wanted entry must be among the English words that come out, in one of its alternatives.
var misspellings = []struct {
	lang, text string
	want       []string
}{
	{"de", "lösche die Rechnugn", []string{"invoice"}},
	{"de", "eine Nachircht an das Team senden", []string{"message", "send"}},
	{"de", "Datei herunterlaaden", []string{"file", "download"}},
	{"de", "zeige alle Benutezr", []string{"user", "show"}},
	{"nl", "een berciht sturen naar de klant", []string{"message", "customer"}},
	{"nl", "alle gebruikres van het project", []string{"user"}},
	{"fr", "suprimer le fichier", []string{"delete|remove", "file"}},
	{"fr", "chercher les utilisatuers du projet", []string{"user"}},
	{"fr", "télécharher la facture", []string{"download", "invoice"}},
	{"es", "elimianr el archivo", []string{"delete|remove", "file"}},
	{"es", "descragar las facturas", []string{"download", "invoice"}},
	{"es", "mostrar los usaurios del proyecto", []string{"user", "project"}},
	{"pt", "envair uma mensagem para o cliente", []string{"send", "message"}},
	{"pt", "listar os usuarois do projeto", []string{"user", "project"}},
	{"it", "elimnare il messaggio", []string{"delete|remove", "message"}},
	{"it", "cerca gli utneti del progetto", []string{"user", "project"}},
	{"pl", "wyslij wiadomsc do klienta", []string{"message"}},
	{"pl", "pokaz wszystkie fakutry", []string{"invoice"}},
	{"tr", "yeni bir müşetri oluştur", []string{"customer", "create"}},
	{"tr", "bütün kullancı hesapları", []string{"user"}},
	{"id", "buat pengigat baru untuk saya", []string{"reminder"}},
	{"id", "cari pelangan yang baru", []string{"customer|client"}},
	{"ru", "отпарвить сообщение", []string{"send", "message"}},
	{"ru", "удалить контатк из списка", []string{"delete|remove", "contact"}},
	{"ru", "покажи все коментарии", []string{"comment"}},
	{"uk", "надіслати повідомленя", []string{"message|notification"}},
	{"uk", "створити новй документ і завдання", []string{"create", "task"}},
	{"ar", "حذف المستنندات", []string{"document"}},
	{"hi", "नया दस्तवेज़ बनाओ", []string{"document", "create"}},
}

func TestTranslateMisspelt(t *testing.T) {
	b := builtinBase(t)
	for _, c := range misspellings {
		t.Run(c.lang+" "+c.text, func(t *testing.T) {
			got := b.Translate(c.text)
			for _, want := range c.want {
				if !hasAny(" "+got+" ", strings.Split(want, "|")) {
					t.Errorf("%q lacks %s", got, want)
				}
			}
		})
	}
}

// TestNotMisspelt reads words that are one letter off a form and something else.
func TestNotMisspelt(t *testing.T) {
	b := builtinBase(t)
	for name, c := range map[string]struct{ text, not string }{
		"an English word in a German request":      {"öffne den folder mit der Datei", "field"},
		"a name in a Spanish request":              {"enviar un correo a Archvio", "file"},
		"a short word":                             {"zeige mir alle dtaei", "file"},
		"Latin letters in a Russian request":       {"открой файл proejkt в редакторе", "project"},
		"a Russian word that Ukrainian nearly has": {"найди задачу", "assign"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := b.Translate(c.text); got == "" || hasAny(" "+got+" ", []string{c.not}) {
				t.Errorf("%q gives %q", c.text, got)
			}
		})
	}
}

func TestMisspeltForm(t *testing.T) {
	b := builtinBase(t)
	for name, c := range map[string]struct{ lang, word, want string }{
		"a letter too few":      {"de", "rechung", "invoice"},
		"a letter too many":     {"de", "rechnnung", "invoice"},
		"another letter":        {"de", "rechmung", "invoice"},
		"two letters swapped":   {"de", "rechnugn", "invoice"},
		"a swap in the middle":  {"de", "recnhung", "invoice"},
		"the last letter lost":  {"de", "rechnun", "invoice"},
		"two letters wrong":     {"de", "rechmumg", ""},
		"the first is another":  {"de", "sechnung", ""},
		"the form itself":       {"de", "rechnung", ""},
		"five letters":          {"de", "datej", ""},
		"another language":      {"fr", "rechnugn", ""},
		"no language":           {"xx", "rechnugn", ""},
		"two bytes a letter":    {"ru", "сообщние", "message"},
		"without spaces":        {"zh", "创建一个新的代码仓库", ""},
		"nothing":               {"de", "", ""},
		"letters of two widths": {"de", "straaße", "street"},
		"not text":              {"de", "rechnu\xffg", "invoice"},
		"not text at the start": {"de", "\xff\xfe\xff\xfe\xff\xfe", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(b.translateMisspelt(c.lang, c.word), " ")
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("%q gives %q, want %q", c.word, got, c.want)
			}
		})
	}
}

func TestOneOff(t *testing.T) {
	for name, c := range map[string]struct {
		word, form string
		same       int
		ok         bool
	}{
		"equal":              {"abc", "abc", 0, false},
		"empty":              {"", "", 0, false},
		"one too many":       {"abxc", "abc", 2, true},
		"one too few":        {"ac", "abc", 1, true},
		"another":            {"axc", "abc", 1, true},
		"swapped":            {"acb", "abc", 1, true},
		"at the end":         {"abcd", "abc", 3, true},
		"missing at the end": {"ab", "abc", 2, true},
		"two changes":        {"xyc", "abc", 0, false},
		"swapped and more":   {"acbd", "abc", 1, false},
		"half a letter":      {"чай", "рай", 0, true},   // both begin with the same byte
		"wide for narrow":    {"naïf", "naif", 2, true}, // one letter of two bytes
		"swapped, two bytes": {"абв", "бав", 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			same, ok := isOneEditAway(c.word, []byte(c.form), true)
			if ok != c.ok || ok && same != c.same {
				t.Errorf("oneOff(%q, %q) = %d, %v", c.word, c.form, same, ok)
			}
		})
	}
}

// FuzzOneOff holds oneOff against the distance that a table of all prefixes gives.
func FuzzOneOff(f *testing.F) {
	f.Add("rechnugn", "rechnung")
	f.Add("сообщние", "сообщение")
	f.Add("a", "")
	f.Fuzz(func(t *testing.T, a, b string) {
		if !utf8.ValidString(a) || !utf8.ValidString(b) || len(a)*len(b) > 1e4 {
			t.Skip()
		}
		same, ok := isOneEditAway(a, []byte(b), true)
		if want := distance([]rune(a), []rune(b)) == 1; ok != want {
			t.Errorf("oneOff(%q, %q) = %v", a, b, ok)
		}
		for end := range b {
			if _, may := isOneEditAway(a, []byte(b[:end]), false); ok && !may {
				t.Errorf("%q may not be off a form that begins with %q", a, b[:end])
			}
		}
		if ok && (same > len(a) || same > len(b) || a[:same] != b[:same]) {
			t.Errorf("%q and %q do not share %d bytes", a, b, same)
		}
	})
}

// distance counts the letters to add, drop, change or swap with their neighbour, each at most once, to make b of a.
func distance(a, b []rune) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for j := range d[i] {
			switch {
			case i == 0 || j == 0:
				d[i][j] = i + j
			case a[i-1] == b[j-1]:
				d[i][j] = d[i-1][j-1]
			default:
				d[i][j] = 1 + min(d[i-1][j-1], d[i-1][j], d[i][j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}

// TestMisspeltSkipsNothing holds the quick search against a look at every form of the language.
func TestMisspeltSkipsNothing(t *testing.T) {
	b := builtinBase(t)
	lexicon := b.lexicon()
	for lang, words := range map[string][]string{
		"de": {
			"rechnugn", "nachircht", "benutezr", "zusamenfassung", "kalendr", "straaße", "straßee", "adresze",
			"schließfn",
		}, "ru": {"сообщние", "здаача", "заадча", "репозитори"},
		"vi": {"thumuc1", "nguoid"}, "ko": {"데이터베이슨", "스프레드시"}, "hi": {"दस्तवेज"}, "tr": {"kullanci", "dosyala"},
	} {
		for _, word := range words {
			_, first := utf8.DecodeRuneInString(word)
			longest, want := 0, []string(nil)
			for i := range lexicon.keys.n {
				of, stem, _ := strings.Cut(string(lexicon.keys.entryAt(i)), fieldSep)
				if of != lang || !strings.HasPrefix(stem, word[:first]) || strings.Contains(stem, " ") {
					continue
				}
				for _, v := range splitList(string(lexicon.values.entryAt(i))) {
					ending, en, _ := strings.Cut(v, fieldSep)
					same, ok := isOneEditAway(word, []byte(stem+ending), true)
					if ok && same > longest {
						longest, want = same, nil
					}
					if ok && same == longest {
						want = appendNew(want, []string{en})
					}
				}
			}
			if utf8.RuneCountInString(word) < leastMisspelt {
				want = nil
			}
			if got := b.translateMisspelt(lang, word); strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("%s %s gives %q, want %q", lang, word, got, want)
			}
		}
	}
}

// TestEnglishOfArchetypes reads the requests of every eighth archetype: nothing is added to one of known words, and
// hardly anything to the rest.
func TestEnglishOfArchetypes(t *testing.T) {
	if testing.Short() {
		t.Skip("computes for long, and alone")
	}
	b := builtinBase(t)
	all, changed := 0, []string(nil)
	var an Analyzer
	for i := 0; i < b.texts.n; i++ {
		block, err := b.readTexts(i)
		if err != nil {
			t.Fatal(err)
		}
		for k := i % 8; k < len(block); k += 8 {
			h, err := parseHead(block, k)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range append(append(h.Utterances, h.Synonyms...), h.Title) {
				got := b.Translate(text)
				all++
				if got == "" {
					continue
				}
				changed = append(changed, text)
				known := true
				for _, w := range lexWords(text) {
					known = known && (stopWords[w.text] || b.isCommon(an.stemWord(w.text)))
				}
				if known {
					t.Errorf("%q is English throughout, and gives %q", text, got)
				}
			}
		}
	}
	t.Logf("%d of %d are taken for another language", len(changed), all)
	if len(changed)*400 > all {
		t.Errorf("more than one in four hundred:\n%s", strings.Join(changed, "\n"))
	}
}

// BenchmarkMisspelt looks for words among the forms with their first letter.
func BenchmarkMisspelt(b *testing.B) {
	base := builtinBase(b)
	for lang, word := range map[string]string{
		"de": "rechnugn", "es": "caracteristicaz", "ru": "сообщние",
		"ar": "المستنندات",
	} {
		b.Run(lang, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				base.translateMisspelt(lang, word)
			}
		})
	}
}
