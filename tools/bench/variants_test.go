package main

import (
	"math"
	"strings"
	"testing"

	"tooldex/knowledge"
)

func TestVariantsLeaveTheSourceAlone(t *testing.T) {
	l := testLab(t)
	servers, requests := len(l.source.Archetypes), len(l.source.Archetypes[0].Utterances)
	for _, v := range variants() {
		source := *l.source
		v.change(&source)
	}
	if len(l.source.Archetypes) != servers || len(l.source.Archetypes[0].Utterances) != requests ||
		len(l.source.Thesaurus) == 0 || len(l.source.Lexicon) == 0 {
		t.Error("a variant changed the knowledge of the others")
	}
}

func TestKeepServersIsNested(t *testing.T) {
	all := &knowledge.Source{}
	for _, server := range strings.Split("abcdefghijklmnopqrstuvwxyz", "") {
		all.Archetypes = append(all.Archetypes, knowledge.Archetype{Server: server})
	}
	var before map[string]bool
	for _, share := range []float64{.2, .5, 1} {
		s := *all
		keepServers(share)(&s)
		now := map[string]bool{}
		for _, a := range s.Archetypes {
			now[a.Server] = true
		}
		for server := range before {
			if !now[server] {
				t.Errorf("share %g has lost %s", share, server)
			}
		}
		before = now
	}
	if len(before) != 26 {
		t.Errorf("share 1 keeps %d of 26 servers", len(before))
	}
}

func TestMeanChange(t *testing.T) {
	mean, err := meanChange([]bool{true, false, false, false}, []bool{true, true, true, false})
	if mean != .5 || math.Abs(err-.25) > 1e-9 { // sqrt((2/4 - 1/4) / 4)
		t.Errorf("got %v ± %v, want 0.5 ± 0.25", mean, err)
	}
	if mean, err := meanChange([]bool{true}, nil); mean != 0 || err != 0 {
		t.Errorf("of other requests: %v ± %v", mean, err)
	}
}
