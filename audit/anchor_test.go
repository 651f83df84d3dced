package audit

import (
	"os"
	"path/filepath"
	"testing"
)

// TestAnchorOutside requires that a log whose end was cut off, together with its head, or which was removed as a whole,
// is not as it was written by the anchor kept elsewhere; and that a whole log is.
func TestAnchorOutside(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(t *testing.T, dir string, early []byte)
		ok    bool
	}{
		{"whole", func(*testing.T, string, []byte) {}, true},
		{"cut with its head", func(t *testing.T, dir string, early []byte) {
			file := filepath.Join(dir, fileName(1))
			if err := os.WriteFile(file, early, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(dir, headName)); err != nil {
				t.Fatal(err)
			}
			l := New(Options{Dir: dir}) // a new head that knows of nothing
			if err := l.writeRecord(&Record{Kind: Change, Action: "x", Subject: "y"}); err != nil {
				t.Fatal(err)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"removed", func(t *testing.T, dir string, _ []byte) {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, file := filepath.Join(t.TempDir(), "audit"), filepath.Join(t.TempDir(), "anchor")
			if _, written, err := ReadAnchor(file); written || err != nil {
				t.Fatalf("before the first record: %v, %v", written, err)
			}
			l := New(Options{Dir: dir, Anchor: file})
			var early []byte
			for i := range 5 {
				if err := l.writeRecord(&Record{Kind: Change, Action: "add server", Subject: "probe"}); err != nil {
					t.Fatal(err)
				}
				if i == 1 {
					early, _ = os.ReadFile(filepath.Join(dir, fileName(1)))
				}
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			tt.spoil(t, dir, early)
			a, written, err := ReadAnchor(file)
			if err != nil || !written {
				t.Fatal(a, written, err)
			}
			r, err := Verify(t.Context(), dir, a)
			if err != nil || r.OK() != tt.ok {
				t.Errorf("ok %v, want %v: %+v, %v", r.OK(), tt.ok, r, err)
			}
		})
	}
	bad := filepath.Join(t.TempDir(), "anchor")
	if err := os.WriteFile(bad, []byte("12:abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ReadAnchor(bad); err == nil {
		t.Error("a file without an anchor is read")
	}
}
