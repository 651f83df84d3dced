package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tooldex/embed"
	"tooldex/store"
	"tooldex/tool"
	"tooldex/upstream"
)

// openFile opens a file of its own.
func openFile(t testing.TB) *store.Store {
	t.Helper()
	s, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fillRandomly writes entries of every kind, of several models and versions.
func fillRandomly(t *testing.T, s store.Backend) {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for n := range 12 {
		m := embed.Model{Name: "m", Fingerprint: fmt.Sprint(n % 3), Dims: 4}
		write(t, s, randomBatch(r, store.View{Model: m, Knowledge: fmt.Sprint(n % 2)}))
	}
	write(t, s, &store.Batch{
		Records: Records(100, 2300), Trust: map[tool.ID][]byte{"files/read_0100": []byte("d")},
		Overlays: map[string][]byte{"empty": nil, "bytes": {0, 255}},
		Servers:  []upstream.Server{{Name: "last", Command: "run"}}, Sources: []store.SourceState{{Name: "last", Rules: 3}},
	})
	for _, profile := range []string{"", "team"} {
		setPreferences(t, s, profile, 0, "of "+profile)
	}
	change := func(map[string][]byte) map[string][]byte {
		return map[string][]byte{"\x00\xff": []byte("v"), "plain": {}}
	}
	if _, _, err := s.ChangeLearned(t.Context(), nil, change); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.ChangeCounts(t.Context(), nil, change); err != nil {
		t.Fatal(err)
	}
}

// entriesOf returns all entries of a backend, as text by what identifies them.
func entriesOf(t testing.TB, s store.Backend) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := s.Entries(context.Background(), func(e store.Entry) error {
		key := fmt.Sprintf("%s %v %q %q", e.Kind, e.Model, e.Knowledge, e.Key)
		if _, twice := out[key]; twice {
			t.Errorf("%s came twice", key)
		}
		out[key] = string(e.Value)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// testCopy copies to and from a file, and compares all that is stored with what there was.
func testCopy(t *testing.T, open Opener) {
	source, s, back := openFile(t), open(t), openFile(t)
	fillRandomly(t, source)
	want := entriesOf(t, source)
	for _, k := range store.Kinds() {
		if !bytes.Contains(fmt.Append(nil, want), []byte(string(k)+" ")) {
			t.Fatalf("nothing of kind %s is tested", k)
		}
	}
	for _, step := range []struct{ from, to store.Backend }{{source, s}, {open(t), back}} {
		out, err := store.Copy(t.Context(), step.from, step.to, false)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, count := range out.Entries {
			n += count
		}
		if n != len(want) || out.From != step.from.Location() || out.To != step.to.Location() {
			t.Errorf("copied %+v, want %d entries", out, len(want))
		}
		if d := cmp.Diff(want, entriesOf(t, step.to)); d != "" {
			t.Errorf("entries (-want +got)\n%s", d)
		}
		if err := step.to.Check(t.Context()); err != nil {
			t.Error(err)
		}
	}
	v := store.View{Model: embed.Model{Name: "m", Fingerprint: "1", Dims: 4}, Knowledge: "1"}
	before, after := load(t, source, v), load(t, back, v)
	after.Generation = before.Generation
	if d := diff(before, after); d != "" {
		t.Errorf("what is loaded (-want +got)\n%s", d)
	}
	// What was copied can be changed as anything that is stored.
	all, _, err := s.Preferences(t.Context(), unknown)
	if err != nil || len(all) != 2 {
		t.Fatalf("%v, %v", all, err)
	}
	if next := setPreferences(t, open(t), "team", all["team"].Version, "new"); next == all["team"].Version {
		t.Error("a change of copied preferences left their version")
	}
}

// testFillReplaces holds a backend to refuse what is not empty unless it is told to replace it, and others that share
// it to notice.
func testFillReplaces(t *testing.T, open Opener) {
	source, s, other := openFile(t), open(t), open(t)
	fillRandomly(t, source)
	gen := write(t, s, &store.Batch{Records: Records(0, 3), Model: embed.Model{Name: "old"}})
	version := setPreferences(t, s, "mine", 0, "old")
	setPreferences(t, s, "team", 0, "old")
	old := entriesOf(t, s)
	if _, err := store.Copy(t.Context(), source, s, false); tool.CodeOf(err) != tool.Invalid {
		t.Fatalf("copied over what was there: %v", err)
	}
	if d := cmp.Diff(old, entriesOf(t, other)); d != "" {
		t.Errorf("a refused copy changed (-want +got)\n%s", d)
	}
	if _, err := store.Copy(t.Context(), source, s, true); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(entriesOf(t, source), entriesOf(t, other)); d != "" {
		t.Errorf("entries (-want +got)\n%s", d)
	}
	if now, err := other.Generation(t.Context()); err != nil || now <= gen {
		t.Errorf("generation %d, %v; want more than %d", now, err, gen)
	}
	all, now, err := other.Preferences(t.Context(), version)
	if err != nil || now <= version || all["team"].Version <= version || len(all) != 2 {
		t.Errorf("preferences %v of %d, %v; want versions above %d", all, now, err, version)
	}
}

// testFillFails ends copies early: the target holds what it held before, and takes the copy when it is repeated.
func testFillFails(t *testing.T, open Opener) {
	source, s := openFile(t), open(t)
	fillRandomly(t, source)
	write(t, s, &store.Batch{Records: Records(0, 3)})
	old, broken := entriesOf(t, s), &tool.Error{Code: tool.Internal, Msg: "broken"}
	for name, end := range map[string]func(cancel func()) error{
		"an error": func(func()) error { return broken },
		"the end of the context": func(cancel func()) error {
			cancel()
			return nil
		},
	} {
		for _, after := range []int{0, 1, 1500, len(entriesOf(t, source)) - 1} {
			ctx, cancel := context.WithCancel(t.Context())
			n := 0
			err := s.Fill(ctx, true, func(put func(store.Entry) error) error {
				return source.Entries(t.Context(), func(e store.Entry) error {
					if n++; n > after {
						if err := end(cancel); err != nil {
							return err
						}
					}
					return put(e)
				})
			})
			cancel()
			if code := tool.CodeOf(err); err == nil || !errors.Is(err, broken) && code != tool.Timeout {
				t.Fatalf("%s after %d entries: %v", name, after, err)
			}
			if d := cmp.Diff(old, entriesOf(t, open(t))); d != "" {
				t.Fatalf("%s after %d entries changed (-want +got)\n%s", name, after, d)
			}
		}
	}
	err := s.Fill(t.Context(), true, func(put func(store.Entry) error) error { return put(store.Entry{Kind: "none", Key: []byte("k")}) })
	if err == nil {
		t.Error("an entry of a kind that does not exist was stored")
	}
	if _, err := store.Copy(t.Context(), openFile(t), s, true); tool.CodeOf(err) != tool.NotFound {
		t.Errorf("copied nothing over something: %v", err)
	}
	if _, err := store.Copy(t.Context(), s, open(t), true); tool.CodeOf(err) != tool.Invalid {
		t.Errorf("copied to itself: %v", err)
	}
	if d := cmp.Diff(old, entriesOf(t, open(t))); d != "" {
		t.Errorf("changed (-want +got)\n%s", d)
	}
	if _, err := store.Copy(t.Context(), source, s, true); err != nil {
		t.Fatal(err)
	}
}

// lossy is a backend that stores less, or something else, than it is given.
type lossy struct {
	store.Backend
	spoil func(n int, e *store.Entry) (keep bool)
}

// Fill spoils what from puts.
func (l lossy) Fill(ctx context.Context, replace bool, from func(put func(store.Entry) error) error) error {
	n := 0
	return l.Backend.Fill(ctx, replace, func(put func(store.Entry) error) error {
		return from(func(e store.Entry) error {
			if n++; !l.spoil(n, &e) {
				return nil
			}
			return put(e)
		})
	})
}

// testCopyNotices has a copy that loses or changes one entry.
func testCopyNotices(t *testing.T, open Opener) {
	source := openFile(t)
	fillRandomly(t, source)
	for name, spoil := range map[string]func(n int, e *store.Entry) bool{
		"one is missing": func(n int, _ *store.Entry) bool { return n != 700 },
		"a byte differs": func(n int, e *store.Entry) bool {
			if n == 700 {
				e.Value = append(bytes.Clone(e.Value), 0)
			}
			return true
		},
		"a key differs": func(n int, e *store.Entry) bool {
			if n == 700 {
				e.Key = append(bytes.Clone(e.Key), 'x')
			}
			return true
		},
	} {
		_, err := store.Copy(t.Context(), source, lossy{open(t), spoil}, true)
		if err == nil || tool.CodeOf(err) != tool.Internal {
			t.Errorf("%s: %v, want Internal", name, err)
		}
	}
}
