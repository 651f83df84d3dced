package upstream

import (
	"strings"
	"testing"
)

func TestFitsTemplate(t *testing.T) {
	tests := []struct {
		name, template, uri string
		want                bool
	}{
		{"one expression", "test://item/{id}", "test://item/7", true},
		{"text after it", "test://item/{id}/text", "test://item/7/text", true},
		{"text after it is missing", "test://item/{id}/text", "test://item/7", false},
		{"two expressions", "repo://{owner}/{name}", "repo://a/b", true},
		{"text between them is missing", "repo://{owner}/{name}", "repo://a", false},
		{"without an expression", "test://fixed", "test://fixed", true},
		{"another text", "test://fixed", "test://other", false},
		{"fits everything", "{+uri}", "test://any", false},
		{"another scheme", "file:///{path}", "test:///x", false},
		{"never closed", "test://{id", "test://7", true},
		{"nothing", "", "test://7", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := FitsTemplate(tt.template, tt.uri); got != tt.want {
				t.Errorf("%q fits %q: %v", tt.uri, tt.template, got)
			}
		})
	}
}

func FuzzFitsTemplate(f *testing.F) {
	f.Add("test://", "/text", "7")
	f.Add("a", "", "")
	f.Fuzz(func(t *testing.T, before, after, value string) {
		FitsTemplate(before+value, after) // does not panic
		if before == "" || strings.ContainsAny(before+after+value, "{}") {
			return
		}
		if !FitsTemplate(before+"{x}"+after, before+value+after) {
			t.Errorf("%q does not fit what it was made of: %q and %q", before+value+after, before, after)
		}
	})
}
