package knowledge

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// openedLists returns lists as they are read, the stem of list k being its number with leading zeros.
func openedLists(t testing.TB, lists [][]entry) (l *wordLists, stems, packed []byte) {
	t.Helper()
	names := make([]string, len(lists))
	for k := range names {
		names[k] = fmt.Sprintf("%06d", k)
	}
	stems, err := packStrings(names)
	if err != nil {
		t.Fatal(err)
	}
	packed = encodeLists(lists)
	if l, err = openLists(stems, packed); err != nil {
		t.Fatal(err)
	}
	return l, stems, packed
}

func entriesOf(list listReader) (out []entry) {
	var buf [3]entry
	for some := list.next(buf[:]); len(some) > 0; some = list.next(buf[:]) {
		out = append(out, some...)
	}
	return out
}

// randomLists returns lists of all lengths, with entries close together and far apart.
func randomLists(r *rand.Rand, n int) [][]entry {
	lists := make([][]entry, n)
	for k := range lists {
		archetype := int32(-1)
		for range r.IntN(1 << r.IntN(9)) {
			archetype += 1 + r.Int32N(1<<r.IntN(16))
			lists[k] = append(lists[k], entry{archetype, uint8(r.IntN(256)), uint8(r.IntN(1 << r.IntN(9)))})
		}
	}
	return lists
}

func TestLists(t *testing.T) {
	for name, lists := range map[string][][]entry{
		"none":  nil,
		"empty": {nil, nil},
		"one":   {{{0, 0, 0}}},
		"extremes": {
			{{0, 255, 255}, {1, 0, manyTimes - 1}, {2, 1, manyTimes}, {1<<31 - 2, 7, 1}}, nil, {{40_000, 1, 2}},
		},
		"random": randomLists(rand.New(rand.NewPCG(3, 4)), 2000),
	} {
		t.Run(name, func(t *testing.T) {
			l, _, _ := openedLists(t, lists)
			for k, want := range lists {
				if got := entriesOf(l.of(fmt.Sprintf("%06d", k))); !slices.Equal(got, want) {
					t.Fatalf("list %d is %v, want %v", k, got, want)
				}
			}
			if got := entriesOf(l.of("no such stem")); len(got) > 0 {
				t.Errorf("an unknown stem has %v", got)
			}
		})
	}
}

// TestListsOfBase compares the lists of a compiled base with those that were compiled.
func TestListsOfBase(t *testing.T) {
	src := smallSource(t)
	stems, lists := compileLists(src.Archetypes, nil)
	base := smallBase(t)
	for k, want := range lists {
		// Words of the glossary have empty lists, and weights depend on the archetypes alone.
		if got := entriesOf(base.lists().of(stems[k])); !slices.Equal(got, want) {
			t.Errorf("%s has %v, want %v", stems[k], got, want)
		}
	}
}

// TestDamagedLists changes bytes of lists and of their codes: what comes is an error or other entries, and no panic.
func TestDamagedLists(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	_, stems, packed := openedLists(t, randomLists(r, 60))
	opened := 0
	for range 3000 {
		bad := slices.Clone(packed)
		bad[r.IntN(len(bad))] ^= byte(1 + r.IntN(255))
		if l, err := openLists(stems, bad[:len(bad)-r.IntN(2)*r.IntN(len(bad))]); err == nil {
			readAll(t, l)
			opened++
		}
	}
	if opened == 0 {
		t.Error("all damage is refused, so that none of it is read")
	}
	if _, err := openLists(stems[:len(stems)/2], packed); err == nil {
		t.Error("lists of other stems are accepted")
	}
}

// readAll reads all lists. Each must end, and its archetypes ascend.
func readAll(t *testing.T, l *wordLists) {
	t.Helper()
	for k := range l.lists.n {
		last := int32(-1)
		entries := entriesOf(l.read(k))
		for _, e := range entries {
			if e.archetype <= last {
				t.Fatalf("archetype %d comes after %d", e.archetype, last)
			}
			last = e.archetype
		}
		if n := len(l.lists.entryAt(k)); len(entries) > 8*n {
			t.Fatalf("%d entries in %d bytes", len(entries), n)
		}
	}
}

func FuzzLists(f *testing.F) {
	lists := randomLists(rand.New(rand.NewPCG(5, 6)), 9)
	_, stems, packed := openedLists(f, lists)
	f.Add(stems, packed)
	f.Add([]byte{}, []byte(strings.Repeat("\x00", 9)))
	f.Fuzz(func(t *testing.T, stems, packed []byte) {
		if l, err := openLists(stems, packed); err == nil {
			readAll(t, l)
			_ = entriesOf(l.of("000001"))
		}
	})
}

func BenchmarkUnpack(b *testing.B) {
	base, err := Builtin()
	if err != nil {
		b.Fatal(err)
	}
	base.lists()
	for b.Loop() {
		base.unpack()
	}
}
