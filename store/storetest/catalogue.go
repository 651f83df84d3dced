package storetest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"tooldex/embed"
	"tooldex/store"
	"tooldex/tool"
	"tooldex/upstream"
)

func testWriteThenLoad(t *testing.T, open Opener) {
	m := embed.Model{Name: "table", Fingerprint: "abc", Dims: 3}
	other := embed.Model{Name: "table", Fingerprint: "abd", Dims: 3}
	h := store.HashText("name", "text")
	v := store.Quantize([]float32{1, -0.5, 0})
	servers := []upstream.Server{{
		Name: "files", Command: "npx", Env: map[string]string{"TOKEN": "${TOKEN}"}, Timeout: time.Second,
	}}
	source := store.SourceState{Name: "files", Digest: [32]byte{1}, Synced: Record(0).First, Stale: true, Note: []byte("n")}
	first := open(t)
	gen := write(t, first, &store.Batch{
		Records: Records(0, 3), Model: m, Vectors: map[store.TextHash]store.Vector{h: v},
		Knowledge: "k1", Analyses: map[tool.Hash][]byte{Record(0).Hash: []byte("lent"), Record(1).Hash: nil},
		Servers: servers, Sources: []store.SourceState{source}, Overlays: map[string][]byte{"mine": []byte("{}"), "empty": nil},
	})
	got := load(t, open(t), store.View{Model: m, Knowledge: "k1"})
	want := &store.Snapshot{
		Generation: gen, Records: Records(0, 3), Vectors: map[store.TextHash]store.Vector{h: v},
		Analyses: map[tool.Hash][]byte{Record(0).Hash: []byte("lent"), Record(1).Hash: {}}, Servers: servers,
		Sources:  map[string]store.SourceState{"files": source},
		Overlays: map[string][]byte{"mine": []byte("{}"), "empty": {}},
	}
	if d := diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	for i, r := range got.Records {
		if r.Tool.Hash() != Record(i).Hash {
			t.Errorf("%s: the content hash changed on the way through the store", r.Tool.ID())
		}
	}
	if got := load(t, first, store.View{Model: other, Knowledge: "k2"}); len(got.Vectors)+len(got.Analyses) != 0 {
		t.Errorf("another model and version see %d vectors and %d analyses", len(got.Vectors), len(got.Analyses))
	}
	if err := first.Check(context.Background()); err != nil {
		t.Error(err)
	}
	if n, err := first.Size(context.Background()); err != nil || n == 0 || first.Location() == "" || len(first.Health()) > 0 {
		t.Errorf("%d bytes at %q, %v; health %v", n, first.Location(), err, first.Health())
	}
}

func testRemoveAndReplace(t *testing.T, open Opener) {
	s := open(t)
	write(t, s, &store.Batch{
		Records: Records(0, 4), Servers: []upstream.Server{{Name: "a"}, {Name: "b"}},
		Sources:  []store.SourceState{{Name: "a"}, {Name: "b"}},
		Overlays: map[string][]byte{"x": []byte("1"), "y": []byte("2")},
	})
	changed := Record(1)
	changed.Tool.Description = "changed"
	changed.Hash = changed.Tool.Hash()
	write(t, s, &store.Batch{
		// What is removed and put in one batch is put. Of two records of one tool the later one is kept.
		Records:       []store.Record{Record(1), changed, Record(3)},
		Remove:        []tool.ID{Record(2).Tool.ID(), Record(3).Tool.ID(), "files/never_was"},
		RemoveServers: []string{"a"}, RemoveSources: []string{"b"}, RemoveOverlays: []string{"x"},
	})
	got := load(t, s, store.View{})
	if d := diff([]store.Record{Record(0), changed, Record(3)}, got.Records); d != "" {
		t.Errorf("records (-want +got)\n%s", d)
	}
	if d := diff([]upstream.Server{{Name: "b"}}, got.Servers); d != "" {
		t.Errorf("servers (-want +got)\n%s", d)
	}
	if _, ok := got.Sources["b"]; ok || len(got.Sources) != 1 || len(got.Overlays) != 1 {
		t.Errorf("sources %v, overlays %v", got.Sources, got.Overlays)
	}
}

func testWriteRefuses(t *testing.T, open Opener) {
	s := open(t)
	before := load(t, s, store.View{}).Generation
	long := string(make([]byte, 5000))
	for name, b := range map[string]*store.Batch{
		"record without a tool":  {Records: []store.Record{{}}},
		"tool without a name":    {Records: []store.Record{{Tool: &tool.Tool{Server: "s"}}}},
		"name too long to key":   {Records: []store.Record{{Tool: &tool.Tool{Server: "s", Name: long}}}},
		"server without a name":  {Servers: []upstream.Server{{}}},
		"source without a name":  {Sources: []store.SourceState{{}}},
		"overlay without a name": {Overlays: map[string][]byte{"": nil}},
		"decision on nothing":    {Trust: map[tool.ID][]byte{"": nil}},
		"vector of other length": {
			Model: embed.Model{Dims: 2}, Vectors: map[store.TextHash]store.Vector{{}: {Data: make([]int8, 3)}},
		},
	} {
		if b.Overlays == nil {
			b.Overlays = map[string][]byte{}
		}
		b.Overlays["fine"] = []byte("v")
		if _, err := s.Write(context.Background(), b); tool.CodeOf(err) != tool.Invalid {
			t.Errorf("%s: error %v, want Invalid", name, err)
		}
		if got := load(t, s, store.View{}); got.Generation != before || len(got.Overlays) != 0 {
			t.Errorf("%s: a refused batch was written in part", name)
		}
	}
}

func testBase(t *testing.T, open Opener) {
	a, b := open(t), open(t)
	base := load(t, a, store.View{}).Generation
	write(t, b, &store.Batch{Base: base, Records: Records(0, 1)})
	_, err := a.Write(context.Background(), &store.Batch{Base: base, Remove: []tool.ID{Record(0).Tool.ID()}})
	if !errors.Is(err, store.ErrChanged) || tool.CodeOf(err) != tool.Unavailable {
		t.Fatalf("error %v, want ErrChanged with code Unavailable", err)
	}
	if got := load(t, a, store.View{}).Records; len(got) != 1 {
		t.Errorf("%d records, want the one that the other backend wrote", len(got))
	}
}

func testGeneration(t *testing.T, open Opener) {
	ctx := context.Background()
	a, b := open(t), open(t)
	last, err := a.Generation(ctx)
	if err != nil || last == 0 {
		t.Fatalf("generation %d, %v; want more than zero, which stands for none", last, err)
	}
	for i := range 30 {
		want := write(t, b, &store.Batch{Overlays: map[string][]byte{"x": {byte(i)}}})
		got, err := a.Generation(ctx)
		if err != nil || got != want || got <= last {
			t.Fatalf("write %d: generation %d, %v; want %d, more than %d", i, got, err, want, last)
		}
		last = got
	}
	if gen, err := a.Write(ctx, &store.Batch{}); err != nil || gen != last {
		t.Errorf("an empty batch made generation %d, %v; want %d as before", gen, err, last)
	}
}

func testHead(t *testing.T, open Opener) {
	a, b := open(t), open(t)
	seen := map[store.Stamp]bool{{}: true}
	for range 5 {
		gen := write(t, a, &store.Batch{Servers: []upstream.Server{{Name: "b"}, {Name: "a", Command: "run"}}})
		head, err := b.ReadHead(context.Background())
		if err != nil || head.Generation != gen || head.Damaged || seen[head.Stamp] {
			t.Errorf("head %+v, %v; want generation %d and a new stamp", head, err, gen)
		}
		seen[head.Stamp] = true
		if d := diff([]upstream.Server{{Name: "a", Command: "run"}, {Name: "b"}}, head.Servers); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
	}
}

func testMany(t *testing.T, open Opener) {
	var all sync.WaitGroup
	const writers, each = 4, 15
	for w := range writers {
		s := open(t)
		all.Go(func() {
			for i := range each {
				if _, err := s.Write(context.Background(), &store.Batch{Records: Records(w*each+i, w*each+i+1)}); err != nil {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			last := 0
			for range each {
				snap, err := s.Load(context.Background(), store.View{})
				if err != nil || len(snap.Records) < last {
					t.Errorf("%v, or records went from %d to fewer", err, last)
					return
				}
				last = len(snap.Records)
			}
		})
	}
	all.Wait()
	if d := diff(Records(0, writers*each), load(t, open(t), store.View{}).Records); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func testDecisions(t *testing.T, open Opener) {
	s := open(t)
	if got := load(t, s, store.View{}); len(got.Trust) != 0 {
		t.Errorf("a new state has decisions: %v", got.Trust)
	}
	gen := write(t, s, &store.Batch{Trust: map[tool.ID][]byte{"a/x": []byte("1"), "a/y": []byte("2")}})
	if next := write(t, s, &store.Batch{Trust: map[tool.ID][]byte{"a/x": nil, "a/z": []byte("3")}}); next <= gen {
		t.Errorf("generation %d after %d", next, gen)
	}
	want := map[tool.ID][]byte{"a/y": []byte("2"), "a/z": []byte("3")}
	if d := diff(want, load(t, open(t), store.View{}).Trust); d != "" {
		t.Errorf("decisions (-want +got):\n%s", d)
	}
}

func testCancelled(t *testing.T, open Opener) {
	s := open(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Load(ctx, store.View{}); tool.CodeOf(err) != tool.Timeout {
		t.Errorf("load: %v, want Timeout", err)
	}
	if _, err := s.Write(ctx, &store.Batch{Records: Records(0, 1)}); tool.CodeOf(err) != tool.Timeout {
		t.Errorf("write: %v, want Timeout", err)
	}
	if got := load(t, s, store.View{}).Records; len(got) != 0 {
		t.Errorf("a cancelled write stored %d records", len(got))
	}
}
