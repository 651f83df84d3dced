package tool

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"
)

func TestCompactLen(t *testing.T) {
	for _, raw := range []string{
		``, `{}`, `{"a": 1, "b" : [ true , null ]}`, "{\n\t\"a b\": \" c  d \",\r\n \"e\": \"\\\" f\" }",
		`{"path": "C:\\ ", "next": " x "}`, `{"слово": "два слова", "emoji": "😀 😀"}`,
	} {
		var b bytes.Buffer
		want := 0
		if raw != "" {
			if err := json.Compact(&b, []byte(raw)); err != nil {
				t.Fatal(err)
			}
			want = utf8.RuneCount(b.Bytes())
		}
		if got := compactLen([]byte(raw)); got != want {
			t.Errorf("%s: %d characters, want %d", raw, got, want)
		}
	}
}

func TestTokensIgnoreLayout(t *testing.T) {
	wide := &Tool{Name: "a", InputSchema: json.RawMessage("{\n  \"type\": \"object\",\n  \"properties\": {}\n}")}
	tight := &Tool{Name: "a", InputSchema: json.RawMessage(`{"type":"object","properties":{}}`)}
	if wide.Tokens() != tight.Tokens() {
		t.Errorf("%d tokens when laid out, %d when not", wide.Tokens(), tight.Tokens())
	}
}
