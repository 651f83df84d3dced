package sanitize

import (
	"encoding/json"
	"testing"
)

func TestStripHidden(t *testing.T) {
	for in, want := range map[string]string{
		`{"a": "plain" , "b":[1,"\u0041"]}`:                `{"a": "plain" , "b":[1,"\u0041"]}`,
		"{\"a\":\"re\u200bad\",\"b\":\"\\u0041\"}":         `{"a":"read","b":"\u0041"}`,
		`{"a":"re\u200bad\udb40\udc41"}`:                   `{"a":"read"}`,
		`{"a\u200b":"x\u200b"}`:                            `{"a\u200b":"x"}`, // calls go by the name
		"[\"\u263a\ufe0f\", \"\u263a\ufe0f\ufe01\ufe02\"]": "[\"\u263a\ufe0f\", \"\u263a\ufe0f\"]",
		`{"a":"re\u200bad`:                                 `{"a":"re\u200bad`,
		`"\\\u200b"`:                                       `"\\"`,
	} {
		if got := string(StripHidden(json.RawMessage(in))); got != want {
			t.Errorf("%s becomes %s, want %s", in, got, want)
		}
	}
}

// FuzzStripHidden holds what is stripped to staying JSON, of as many members, in which nothing is hidden but in names.
func FuzzStripHidden(f *testing.F) {
	f.Add([]byte(`{"a":"re\u200bad","b":["\\","\ud83d\ude00"]}`))
	f.Add([]byte("[\"\u200b\", {\"\u2066\": 1}]"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		out := StripHidden(raw)
		if json.Valid(raw) != json.Valid(out) {
			t.Fatalf("%q becomes %q", raw, out)
		}
		if again := StripHidden(out); string(again) != string(out) {
			t.Errorf("%q becomes %q, and then %q", raw, out, again)
		}
	})
}
