package clients

import (
	"strings"
	"testing"
)

// An error of a file's JSON names the place.
func TestBrokenJSONNamesThePlace(t *testing.T) {
	for text, want := range map[string]string{
		"{\n  \"a\": 1,\n  \"ö\" 2\n}":                  "at line 3, column 7",
		"{\n  // a comment\n  \"a\": nul\n}":            "at line 3, column 11",
		"{\n  \"mcpServers\": {\n":                      "at line 3, column 1",
		"{\"mcpServers\": {\"a\": {\"command\": 'x'}}}": "at line 1, column 34",
	} {
		d := &Document{File: File{Path: "x.json", Sections: plain}, Text: []byte(text), Exists: true}
		_, err := d.Servers()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
