package main

import (
	"iter"
	"maps"
	"slices"
	"sync/atomic"

	"tooldex/mcpsrv"
	"tooldex/selection"
	"tooldex/tool"
)

// profileBook holds the profiles there are now. The configuration may change them while clients use them. It is safe
// for concurrent use.
type profileBook struct {
	now atomic.Pointer[map[string]profile] // never written to
}

func newProfileBook(profiles map[string]profile) *profileBook {
	b := &profileBook{}
	b.set(profiles)
	return b
}

func (b *profileBook) set(profiles map[string]profile) { b.now.Store(&profiles) }

// all returns the profiles of this moment, which must not be changed.
func (b *profileBook) all() map[string]profile { return *b.now.Load() }

func (b *profileBook) get(name string) (profile, bool) {
	p, ok := b.all()[name]
	return p, ok
}

// sorted goes through the profiles of this moment by name.
func (b *profileBook) sorted() iter.Seq2[string, profile] {
	all := b.all()
	return func(yield func(string, profile) bool) {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if !yield(name, all[name]) {
				return
			}
		}
	}
}

// noServer is the name of no server.
const noServer = "/"

// policy tells what of the tools there are a view shows: always what its profile says at that moment, and nothing once
// there is no such profile any more.
func (b *profileBook) policy(tools tool.Catalog, v view) selection.Policy {
	out := selection.Policy{ReadOnly: v.readOnly, Tools: tools}
	if v.profile == wholeName {
		return out
	}
	none := []string{noServer}
	if checkMode(mcpsrv.Mode(v.profile)) == nil {
		none = nil // the name of a mode is that of everything
	}
	out.Reach = func() []string {
		if p, ok := b.get(v.profile); ok {
			return p.Servers
		}
		return none
	}
	return out
}
