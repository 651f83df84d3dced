package sanitize

import (
	"errors"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestYAMLMistake holds what is told of mistakes to what the decoder says of real ones now.
func TestYAMLMistake(t *testing.T) {
	var into struct {
		A int
		B []string
	}
	for text, want := range map[string]string{
		"a: [":            "line 1: did not find expected node content",
		"a: x\nb: {c: 1}": "line 1: cannot unmarshal !!str `x` into int",
		"a: *none":        "unknown anchor 'none' referenced",
	} {
		err := yaml.Unmarshal([]byte(text), &into)
		if err == nil {
			t.Fatalf("%q is taken", text)
		}
		if got := YAMLMistake(err); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := YAMLMistake(errors.New("something else\nat length")); got != "something else" {
		t.Errorf("of another error: %q", got)
	}
}
