package search

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"tooldex/tool"
)

// talk is a text that asks for no tool. None of testdata/talk.jsonl was used to fit anything.
type talk struct{ Text, Kind, Lang string }

func talkTexts(t testing.TB) []talk {
	t.Helper()
	b, err := os.ReadFile("testdata/talk.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var out []talk
	for line := range strings.Lines(string(b)) {
		var x talk
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatal(err)
		}
		out = append(out, x)
	}
	if len(out) < 300 {
		t.Fatalf("only %d texts", len(out))
	}
	return out
}

// TestTalkIsRefused bounds how often talk is answered with confidence, by catalogue and kind. Among tools of hundreds
// of kinds, some do serve questions about chess or history.
func TestTalkIsRefused(t *testing.T) {
	for name, tools := range map[string][]*tool.Tool{
		"small": catalogue(t), "demo": demoCatalogue(t), "archetypes": archetypeTools(t, 600),
	} {
		t.Run(name, func(t *testing.T) {
			e := engineOf(t, tools)
			count, sure := map[string]float64{}, map[string]float64{}
			var texts []string
			for _, x := range talkTexts(t) {
				count[x.Kind]++
				if mustSearch(t, e, tool.Query{Text: x.Text}).Confident {
					sure[x.Kind]++
					texts = append(texts, x.Text)
				}
			}
			most := map[string]float64{"noise": .03, "smalltalk": .06, "no_tool_request": .12}
			if name == "archetypes" {
				most = map[string]float64{"noise": .07, "smalltalk": .08, "no_tool_request": .25}
			}
			for kind, share := range most {
				got := sure[kind] / count[kind]
				t.Logf("%s: confident about %.3f of %.0f", kind, got, count[kind])
				if got > share {
					t.Errorf("%s: confident about %.3f, want at most %.2f: %q", kind, got, share, texts)
				}
			}
		})
	}
}

// TestTalkAdvice checks what is said of texts that ask for no tool, and that requests are not taken for such.
func TestTalkAdvice(t *testing.T) {
	e := engineOf(t, catalogue(t))
	for text, says := range map[string]string{
		"thanks, that is great":             "does not ask for anything",
		"good morning, how did you sleep?":  "does not ask for anything",
		"who was the first king of Norway?": "does not ask for anything",
		"blimfrangle":                       "not understood",
		"qqwwzx trpfk":                      "not understood",
	} {
		r := mustSearch(t, e, tool.Query{Text: text})
		if r.Confident || r.Advice == nil || !r.Advice.NoRequest || !strings.Contains(r.Advice.Message, says) {
			t.Errorf("%q: confident %v, advice %+v", text, r.Confident, r.Advice)
		}
	}
	for _, text := range []string{
		"weld two steel girders under water", "thanks! now close issue 42", "hello, please list the open issues",
	} {
		if r := mustSearch(t, e, tool.Query{Text: text}); r.Advice != nil && r.Advice.NoRequest {
			t.Errorf("%q is taken for talk", text)
		}
	}
}
