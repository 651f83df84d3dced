package knowledge

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

func builtinBase(t testing.TB) *Base {
	t.Helper()
	b, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// translations are requests as people type them. Each wanted entry must be among the English words that come out, in
// one of its alternatives; what else comes out only adds words. A row with short set is one that the lexicon does not
// manage yet, and why.
var translations = []struct {
	lang, text string
	want       []string
	short      string
}{
	{lang: "de", text: "Datei löschen", want: []string{"file", "delete|remove"}},
	{lang: "de", text: "Erstelle ein neues Ticket für den Fehler", want: []string{
		"create", "ticket|issue",
		"bug|error",
	}},
	{lang: "de", text: "Zeige mir alle offenen Rechnungen", want: []string{"show", "open", "invoice"}},
	{lang: "de", text: "Sende eine Nachricht an das Team", want: []string{"send", "message", "team"}},
	{lang: "de", text: "Wie wird das Wetter morgen?", want: []string{"weather", "tomorrow"}},
	{lang: "de", text: "Kundendaten exportieren", want: []string{"customer", "data", "export"}},
	{lang: "de", text: "Rechnungsnummer suchen", want: []string{"invoice", "number", "search"}},
	{lang: "de", text: "Dateigröße anzeigen", want: []string{"file", "size", "show"}},
	{lang: "de", text: "Benutzerkonten auflisten", want: []string{"user", "account", "list"}},
	{lang: "de", text: "Kalendereinträge für nächste Woche", want: []string{"calendar", "week"}},
	{lang: "nl", text: "bestand verwijderen", want: []string{"file", "delete|remove"}},
	{lang: "nl", text: "stuur een bericht naar het team", want: []string{"send", "message", "team"}},
	{lang: "nl", text: "klantgegevens zoeken", want: []string{"customer", "data", "search"}},
	{lang: "nl", text: "maak een nieuwe afspraak in de agenda", want: []string{
		"create", "appointment",
		"calendar|agenda",
	}},
	{lang: "nl", text: "alle facturen van deze maand", want: []string{"invoice", "month"}},
	{lang: "fr", text: "supprimer le fichier", want: []string{"delete|remove", "file"}},
	{
		lang: "fr", text: "envoyer un message à l'équipe", want: []string{"send", "message", "team"},
		short: "envoyer has the stem of Envoy and un that of UN, so both count as English",
	},
	{lang: "fr", text: "créer une nouvelle tâche", want: []string{"create", "task"}},
	{lang: "fr", text: "quel temps fera-t-il demain ?", want: []string{"weather", "tomorrow"}},
	{lang: "fr", text: "lister les utilisateurs du projet", want: []string{"list", "user", "project"}},
	{lang: "es", text: "eliminar el archivo", want: []string{"delete|remove", "file"}},
	{lang: "es", text: "enviar un correo al cliente", want: []string{"send", "email|mail", "customer|client"}},
	{lang: "es", text: "crear una tarea nueva", want: []string{"create", "task"}},
	{lang: "es", text: "buscar vuelos baratos a Madrid", want: []string{"search|find", "flight"}},
	{lang: "es", text: "¿cuáles son las facturas pendientes?", want: []string{"invoice", "pending"}},
	{lang: "pt", text: "apagar o arquivo", want: []string{"delete|remove|erase", "file"}},
	{lang: "pt", text: "enviar uma mensagem para a equipe", want: []string{"send", "message", "team"}},
	{lang: "pt", text: "listar os pagamentos do cliente", want: []string{"list", "payment", "customer|client"}},
	{lang: "pt", text: "criar um novo repositório", want: []string{"create", "repository"}},
	{lang: "it", text: "eliminare il file", want: []string{"delete|remove"}},
	{lang: "it", text: "inviare un messaggio alla squadra", want: []string{"send", "message", "team"}},
	{lang: "it", text: "cerca gli ordini del cliente", want: []string{"search|find", "order", "customer|client"}},
	{lang: "it", text: "crea una nuova attività", want: []string{"create", "task|activity"}},
	{lang: "pl", text: "usuń plik", want: []string{"delete|remove", "file"}},
	{lang: "pl", text: "wyślij wiadomość do zespołu", want: []string{"send", "message", "team"}},
	{lang: "pl", text: "utwórz nowe zadanie", want: []string{"create", "task"}},
	{lang: "pl", text: "pokaż wszystkie faktury", want: []string{"show", "invoice"}},
	{lang: "tr", text: "dosyayı sil", want: []string{"file", "delete|remove"}},
	{
		lang: "tr", text: "ekibe mesaj gönder", want: []string{"team", "message", "send"},
		short: "ekibe softens the p of ekip",
	},
	{lang: "tr", text: "yeni görev oluştur", want: []string{"task", "create"}},
	{lang: "tr", text: "yarın hava nasıl olacak", want: []string{"weather", "tomorrow"}},
	{lang: "vi", text: "xóa tệp", want: []string{"delete|remove", "file"}},
	{lang: "vi", text: "gửi tin nhắn cho nhóm", want: []string{"send", "message", "team|group"}},
	{lang: "vi", text: "tạo nhiệm vụ mới", want: []string{"create", "task"}},
	{lang: "id", text: "hapus berkas ini", want: []string{"delete|remove", "file"}},
	{lang: "id", text: "kirim pesan ke tim", want: []string{"send", "message", "team"}},
	{lang: "id", text: "buat tugas baru", want: []string{"create", "task"}},
	{lang: "ru", text: "удалить файл", want: []string{"delete|remove", "file"}},
	{lang: "ru", text: "создай новую задачу в репозитории", want: []string{"create", "task|issue", "repository"}},
	{lang: "ru", text: "отправь сообщение команде", want: []string{"send", "message", "team"}},
	{lang: "ru", text: "какая погода будет завтра", want: []string{"weather", "tomorrow"}},
	{lang: "ru", text: "покажи открытые pull request в GitHub", want: []string{"show", "open"}},
	{lang: "ru", text: "найди счета за прошлый месяц", want: []string{"find|search", "invoice", "month"}},
	{lang: "uk", text: "видалити файл", want: []string{"delete|remove", "file"}},
	{lang: "uk", text: "надішли повідомлення команді", want: []string{"send", "message", "team"}},
	{lang: "uk", text: "створи нове завдання", want: []string{"create", "task"}},
	{lang: "zh", text: "删除文件", want: []string{"delete|remove", "file"}},
	{lang: "zh", text: "创建一个新的代码仓库", want: []string{"create", "repository"}},
	{lang: "zh", text: "给团队发送消息", want: []string{"team", "send", "message"}},
	{lang: "zh", text: "明天天气怎么样", want: []string{"tomorrow", "weather"}},
	{lang: "zh", text: "查询数据库中的订单", want: []string{"query|search", "database", "order"}},
	{lang: "zh", text: "搜索图片", want: []string{"search", "image|picture"}},
	{lang: "zh", text: "在 GitHub 上创建 issue", want: []string{"create"}},
	{lang: "ja", text: "ファイルを削除する", want: []string{"file", "delete|remove"}},
	{lang: "ja", text: "チームにメッセージを送信", want: []string{"team", "message", "send"}},
	{lang: "ja", text: "新しいタスクを作成して", want: []string{"task", "create"}},
	{lang: "ja", text: "明日の天気を教えて", want: []string{"tomorrow", "weather"}},
	{lang: "ja", text: "請求書を検索", want: []string{"invoice", "search"}},
	{lang: "ko", text: "파일 삭제", want: []string{"file", "delete|remove"}},
	{
		lang: "ko", text: "팀에 메시지를 보내 주세요", want: []string{"team", "message", "send"},
		short: "endings are not cut off words of one syllable",
	},
	{lang: "ko", text: "새 작업을 만들어", want: []string{"task", "create"}},
	{lang: "ko", text: "내일 날씨 알려줘", want: []string{"tomorrow", "weather"}},
	{lang: "ar", text: "احذف الملف", want: []string{"delete|remove", "file"}},
	{lang: "ar", text: "أرسل رسالة إلى الفريق", want: []string{"send", "message", "team"}},
	{lang: "ar", text: "إنشاء مهمة جديدة", want: []string{"create", "task"}},
	{lang: "ar", text: "ما هي حالة الطقس غدا", want: []string{"weather", "tomorrow"}},
	{lang: "hi", text: "फ़ाइल हटाओ", want: []string{"file", "delete|remove"}},
	{lang: "hi", text: "टीम को संदेश भेजो", want: []string{"team", "message", "send"}},
	{lang: "hi", text: "नया कार्य बनाओ", want: []string{"task", "create"}},
	{lang: "hi", text: "कल का मौसम कैसा है", want: []string{"weather", "tomorrow"}},
}

func TestTranslate(t *testing.T) {
	b := builtinBase(t)
	for _, c := range translations {
		t.Run(c.lang+" "+c.text, func(t *testing.T) {
			got := b.Translate(c.text)
			words := " " + got + " "
			for _, want := range c.want {
				if hasAny(words, strings.Split(want, "|")) {
					continue
				}
				if c.short != "" {
					t.Skipf("falls short: %s; it gives %q", c.short, got)
				}
				t.Errorf("%q lacks %s", got, want)
			}
		})
	}
}

func hasAny(words string, any []string) bool {
	for _, w := range any {
		if strings.Contains(words, " "+w+" ") {
			return true
		}
	}
	return false
}

func TestTranslateSpelling(t *testing.T) {
	b := builtinBase(t)
	for name, same := range map[string][]string{
		"case":                 {"Datei Löschen", "datei löschen", "DATEI LÖSCHEN"},
		"marks left out":       {"créer une tâche", "creer une tache"},
		"marks composed or no": {"Datei lo\u0308schen", "Datei löschen"},
		"alef":                 {"أرسل رسالة", "ارسل رسالة"},
		"half width":           {"ファイル 削除", "ﾌｧｲﾙ 削除"},
		"punctuation":          {"удалить файл", "удалить, файл!"},
		"a number is no word":  {"удалить файл", "удалить 12 файл"},
		"yo":                   {"счёт", "счет"},
	} {
		t.Run(name, func(t *testing.T) {
			want := b.Translate(same[0])
			if want == "" {
				t.Errorf("%q gives nothing", same[0])
			}
			for _, text := range same[1:] {
				if got := b.Translate(text); got != want {
					t.Errorf("%q gives %q, %q gives %q", same[0], want, text, got)
				}
			}
		})
	}
}

// TestCompoundIsBounded reads a word that is longer than any: taking it apart would take as long as a thousand
// searches.
func TestCompoundIsBounded(t *testing.T) {
	b := builtinBase(t)
	if b.translateCompound("de", "kundendaten") == nil {
		t.Error("kundendaten is no compound")
	}
	if got := b.translateCompound("de", strings.Repeat("kundendaten", 400)); got != nil {
		t.Errorf("four thousand letters are taken apart to %q", got)
	}
}

// TestTranslateNames keeps what is written in Latin letters amid another script out of the English words: it is
// searched as it stands.
func TestTranslateNames(t *testing.T) {
	b := builtinBase(t)
	for _, text := range []string{"открой Slack", "打开 Slack", "Slack を開く", "Slack 열어", "افتح Slack"} {
		if got := b.Translate(text); strings.Contains(got, "slack") || got == "" {
			t.Errorf("%q gives %q", text, got)
		}
	}
}

func TestTranslateNothing(t *testing.T) {
	b := builtinBase(t)
	for _, text := range []string{
		"", " ", "?!", "123", "😀", "ფაილი", "ፋይል", "\xff\xfe", "x", "zyxglorp", "۱۲۳",
	} {
		if got := b.Translate(text); got != "" {
			t.Errorf("%q gives %q", text, got)
		}
	}
}

// TestEnglishStaysEnglish reads requests that look foreign in part: names, loan words, words that other languages
// share.
func TestEnglishStaysEnglish(t *testing.T) {
	b := builtinBase(t)
	f, err := os.Open("testdata/english.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		text := lines.Text()
		if text == "" || strings.HasPrefix(text, "# ") {
			continue
		}
		n++
		if got := b.Translate(text); got != "" {
			t.Errorf("%q gives %q", text, got)
		}
	}
	if lines.Err() != nil || n < 150 {
		t.Errorf("read %d requests, %v", n, lines.Err())
	}
}

// dataDir is the folder of data sets that are not part of the repository.
func dataDir(t testing.TB) string {
	dir := os.Getenv("TOOLDEX_DATA")
	if dir == "" {
		dir = "../../shared/data"
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no data sets at %s; name their folder in TOOLDEX_DATA", dir)
	}
	return dir
}

func TestEnglishOfDataSets(t *testing.T) {
	if testing.Short() {
		t.Skip("computes for long, and alone")
	}
	b := builtinBase(t)
	dir := dataDir(t)
	files, err := filepath.Glob(filepath.Join(dir, "*", "queries.jsonl"))
	more, err2 := filepath.Glob(filepath.Join(dir, "*", "*", "queries.jsonl"))
	if err != nil || err2 != nil || len(files)+len(more) == 0 {
		t.Skipf("no queries below %s", dir)
	}
	all, changed := 0, []string(nil)
	for _, f := range append(files, more...) {
		for _, q := range englishQueries(t, f) {
			all++
			if got := b.Translate(q); got != "" {
				changed = append(changed, fmt.Sprintf("%q gives %q", q, got))
			}
		}
	}
	t.Logf("%d of %d requests are taken for another language", len(changed), all)
	if len(changed)*1000 > all {
		t.Errorf("more than one in a thousand:\n%s", strings.Join(changed[:min(len(changed), 60)], "\n"))
	}
}

func englishQueries(t *testing.T, path string) (out []string) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var q struct{ Query, Lang, Kind string }
		if err := json.Unmarshal([]byte(line), &q); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if (q.Lang == "" || q.Lang == "en") && q.Kind != "non-english" {
			out = append(out, q.Query)
		}
	}
	return out
}

func FuzzTranslate(f *testing.F) {
	b := builtinBase(f)
	for _, c := range translations {
		f.Add(c.text)
	}
	f.Add("Kundendatenn\xff")
	f.Fuzz(func(t *testing.T, text string) {
		got := b.Translate(text)
		if !utf8.ValidString(got) || got != strings.ToLower(got) {
			t.Errorf("%q gives %q", text, got)
		}
		if got != b.Translate(text) {
			t.Error("another answer the second time")
		}
	})
}
