package store

import (
	"os"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tooldex/tool"
)

func TestDecisionsAreKept(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := load(t, s, View{}); len(got.Trust) != 0 {
		t.Errorf("a new file has decisions: %v", got.Trust)
	}
	gen := write(t, s, &Batch{Trust: map[tool.ID][]byte{"a/x": []byte("1"), "a/y": []byte("2")}})
	if next := write(t, s, &Batch{Trust: map[tool.ID][]byte{"a/x": nil, "a/z": []byte("3")}}); next != gen+1 {
		t.Errorf("generation %d after %d", next, gen)
	}
	want := map[tool.ID][]byte{"a/y": []byte("2"), "a/z": []byte("3")}
	again, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(want, load(t, again, View{}).Trust); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
	if err := again.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := again.Write(t.Context(), &Batch{Trust: map[tool.ID][]byte{"": nil}}); tool.CodeOf(err) != tool.Invalid {
		t.Errorf("a decision about nothing: %v", err)
	}
}

// TestDecisionsSurviveRecovery holds a damaged file to bringing back what was approved: a tool that was held must not
// be let in by it.
func TestDecisionsSurviveRecovery(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	write(t, s, &Batch{Records: records(0, 3), Trust: map[tool.ID][]byte{"a/x": []byte("held")}})
	if _, err := os.Stat(s.Location()); err != nil {
		t.Fatal(err)
	}
	if _, err := Recover(t.Context(), dir, Options{}); err != nil {
		t.Fatal(err)
	}
	if got := load(t, s, View{}).Trust; string(got["a/x"]) != "held" {
		t.Errorf("after the recovery: %q", got)
	}
}

// TestDecisionsAreFoundWithoutTheTree does so where the tree of the file is gone; of two decisions about a tool the
// later one counts.
func TestDecisionsAreFoundWithoutTheTree(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	write(t, s, &Batch{Records: records(0, 3), Trust: map[tool.ID][]byte{"a/x": []byte(`{"by":"sight","at":"2026-01-01T00:00:00Z"}`)}})
	const last = `{"by":"approval","at":"2026-01-02T00:00:00Z"}`
	write(t, s, &Batch{Trust: map[tool.ID][]byte{"a/x": []byte(last)}})
	spoilt := image(t, dir)
	clear(spoilt[:2*os.Getpagesize()])
	bad := withImage(t, spoilt)
	if _, err := Recover(t.Context(), bad, Options{}); err != nil {
		t.Fatal(err)
	}
	if got := load(t, open(t, bad), View{}).Trust; string(got["a/x"]) != last {
		t.Errorf("after the recovery: %q", got)
	}
}
