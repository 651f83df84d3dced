package selection

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tooldex/store"
	"tooldex/tool"
)

func TestCheck(t *testing.T) {
	set := newOffice().set
	for name, c := range map[string]struct {
		p, want Preferences
		fails   string
	}{
		"nothing": {},
		"names become IDs, each once": {
			p: Preferences{
				Mode: ModeManual, AlwaysInclude: []string{"a__tool1", "a/tool1", "gone/tool"},
				NeverInclude: []string{"mcp__b__tool2"},
			},
			want: Preferences{
				Mode: ModeManual, AlwaysInclude: []string{"a/tool1", "gone/tool"},
				NeverInclude: []string{"b/tool2"},
			},
		},
		"mode":   {p: Preferences{Mode: "some"}, fails: "mode"},
		"tools":  {p: Preferences{MaxTools: -1}, fails: "maxTools"},
		"tokens": {p: Preferences{TokenThreshold: maxLimitToken + 1}, fails: "tokenThreshold"},
		"an unknown tool": {
			p:     Preferences{NeverInclude: []string{"nothing"}},
			fails: `neverInclude: no tool is named "nothing"`,
		},
		"an ambiguous one": {
			p:     Preferences{AlwaysInclude: []string{"tool1"}},
			fails: "alwaysInclude: tool name",
		},
		"always and never": {p: Preferences{
			AlwaysInclude: []string{"a/tool1"},
			NeverInclude:  []string{"a__tool1"},
		}, fails: "both have a/tool1"},
		"use of a category": {
			p:     Preferences{Categories: map[string]CategoryUse{"a": "maybe"}},
			fails: "categories",
		},
		"category twice": {p: Preferences{Categories: map[string]CategoryUse{
			"a": "never",
			"A": "always",
		}}, fails: "given twice"},
		"no category": {
			p:     Preferences{Categories: map[string]CategoryUse{"": "never"}},
			fails: "empty",
		},
		"very many tools": {
			p:     Preferences{NeverInclude: make([]string, maxPreferred+1)},
			fails: "names more than",
		},
		"a very long ID": {
			p:     Preferences{NeverInclude: []string{"a/" + strings.Repeat("x", 500)}},
			fails: "neverInclude",
		},
		"a plausible number": {p: Preferences{MaxTools: 7}, want: Preferences{MaxTools: 7}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Check(c.p, set)
			if c.fails != "" {
				if tool.CodeOf(err) != tool.Invalid || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("error %v, want %q", err, c.fails)
				}
				return
			}
			if diff := gocmp.Diff(c.want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
		})
	}
}

// TestWhatIsNotPreferredDoesNotExist holds for random preferences: what is hidden is neither found, listed, selected
// nor called.
func TestWhatIsNotPreferredDoesNotExist(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		w := newWorld(3, 4)
		for i, one := range w.set.All() {
			one.Category = fmt.Sprint("c", i%5)
		}
		p := Preferences{Categories: map[string]CategoryUse{}}
		hidden := map[tool.ID]bool{}
		for _, one := range w.set.All() {
			if random.IntN(4) == 0 {
				p.NeverInclude = append(p.NeverInclude, string(one.ID()))
			}
		}
		p.Categories[fmt.Sprint("C", random.IntN(6))] = CategoryNever
		p.Categories["c1"] = CategoryAlways
		for _, one := range w.set.All() {
			hidden[one.ID()] = slices.Contains(p.NeverInclude, string(one.ID())) ||
				p.Categories[strings.ToUpper(one.Category)] == CategoryNever
		}
		now := newPreferred(p, 1)
		policy := Policy{Tools: w, Preferred: func() *Preferred { return now }}
		res, err := policy.Searcher(w).Search(t.Context(), tool.Query{Text: "x"})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[tool.ID]int{}
		for _, h := range res.Tools {
			seen[h.ID]++
		}
		for _, one := range policy.Catalog(w).Set().All() {
			seen[one.ID()]++
		}
		s := NewSelector(Options{Searcher: policy.Searcher(w), Catalog: policy.Catalog(w), Preferred: policy.Preferred})
		all, err := s.Select(t.Context(), Query{Mode: ModeAll})
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range all.Selected {
			seen[one.ID]++
		}
		for _, one := range w.set.All() {
			if _, err := policy.Caller(w).Call(t.Context(), tool.Call{ID: one.ID()}); err == nil {
				seen[one.ID()]++
			}
			if want := map[bool]int{true: 0, false: 4}[hidden[one.ID()]]; seen[one.ID()] != want {
				t.Fatalf("%s is there %d times of 4, hidden %v by %+v", one.ID(), seen[one.ID()], hidden[one.ID()], p)
			}
		}
	}
}

// TestPreferencesChange holds that what was hidden is seen again once nobody hides it.
func TestPreferencesChange(t *testing.T) {
	w := newWorld(1, 2)
	now := newPreferred(Preferences{NeverInclude: []string{"server0/tool0"}}, 1)
	c := Policy{Tools: w, Preferred: func() *Preferred { return now }}.Catalog(w)
	before := c.Set()
	if before.Len() != 1 || c.Set() != before {
		t.Errorf("%d tools, the same set again: %v", before.Len(), c.Set() == before)
	}
	now = newPreferred(Preferences{}, 2)
	if after := c.Set(); after.Len() != 2 || after == before {
		t.Errorf("%d tools after the change", after.Len())
	}
}

// shelf is a disk in memory that several share.
type shelf struct {
	mu      sync.Mutex
	version uint64
	all     map[string]store.Preference
	fails   error
}

func (s *shelf) Preferences(_ context.Context, known uint64) (map[string]store.Preference, uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails != nil {
		return nil, 0, s.fails
	}
	out := map[string]store.Preference{}
	for name, one := range s.all {
		out[name] = one
	}
	return out, s.version, nil
}

func (s *shelf) SetPreferences(_ context.Context, profile string, base uint64, value []byte) (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.fails != nil:
		return 0, s.fails
	case s.all[profile].Version != base:
		return 0, fmt.Errorf("shelf: %w", tool.ErrConflict)
	}
	s.version++
	s.all[profile] = store.Preference{Version: s.version, Value: value}
	return s.version, nil
}

func TestKeeper(t *testing.T) {
	ctx := context.Background()
	disk := &shelf{all: map[string]store.Preference{}}
	one, err := NewPreferenceKeeper(ctx, disk, nil)
	if err != nil {
		t.Fatal(err)
	}
	other, err := NewPreferenceKeeper(ctx, disk, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := one.Preferred("p"); got == nil || got.Version != 0 || got != one.Preferred("q") ||
		got.Hides(&tool.Tool{Server: "a", Name: "b"}) {
		t.Errorf("before the first: %+v", got)
	}
	if v, err := one.Set(ctx, "p", 0, Preferences{NeverInclude: []string{"a/b"}}); v != 1 || err != nil {
		t.Fatal(v, err)
	}
	if !one.Preferred("p").Hides(&tool.Tool{Server: "a", Name: "b"}) || one.Preferred("q").Version != 0 {
		t.Error("what was set does not hold, or holds for another profile")
	}
	if _, err := other.Set(ctx, "p", 0, Preferences{}); !errors.Is(err, tool.ErrConflict) {
		t.Errorf("a change of what another has changed: %v", err)
	}
	if got := other.Preferred("p"); got.Version != 1 {
		t.Errorf("after a conflict it still knows version %d", got.Version)
	}
	if _, err := other.Set(ctx, "q", 0, Preferences{MaxTools: 3}); err != nil {
		t.Fatal(err)
	}
	before := one.Preferred("p")
	if changed, err := one.Refresh(ctx); !changed || err != nil || one.Preferred("q").MaxTools != 3 ||
		one.Preferred("p") != before {
		t.Errorf("changed %v, %v, %+v", changed, err, one.Preferred("q"))
	}
	if changed, err := one.Refresh(ctx); changed || err != nil {
		t.Errorf("changed %v, %v though nothing is", changed, err)
	}
	disk.all["q"], disk.version = store.Preference{Version: 9, Value: []byte("{")}, 9
	if changed, err := one.Refresh(ctx); !changed || err != nil || one.Preferred("q").MaxTools != 3 {
		t.Errorf("what cannot be read: %v, %v, %+v", changed, err, one.Preferred("q"))
	}
	disk.fails = errors.New("gone")
	if _, err := one.Refresh(ctx); !errors.Is(err, disk.fails) {
		t.Error(err)
	}
	if _, err := one.Set(ctx, "p", 1, Preferences{}); !errors.Is(err, disk.fails) {
		t.Error(err)
	}
	if _, err := NewPreferenceKeeper(ctx, disk, nil); !errors.Is(err, disk.fails) {
		t.Error(err)
	}
}
