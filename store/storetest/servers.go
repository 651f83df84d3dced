package storetest

import (
	"context"
	"testing"

	"tooldex/store"
	"tooldex/tool"
	"tooldex/upstream"
)

// testLoadServers reads what concerns some servers, among others whose names begin alike.
func testLoadServers(t *testing.T, open Opener) {
	b := &store.Batch{
		Servers: []upstream.Server{{Name: "a"}, {Name: "b"}}, Overlays: map[string][]byte{"mine": []byte("{}")},
		Trust: map[tool.ID][]byte{},
	}
	for _, server := range []string{"a", "a-b", "a0", "ab", "b", "c"} {
		for _, name := range []string{"x", "y/z"} {
			r := Record(0)
			one := *r.Tool
			one.Server, one.Name = server, name
			r.Tool, r.Source, r.Hash = &one, server, one.Hash()
			b.Records = append(b.Records, r)
			b.Trust[one.ID()] = []byte("about " + one.ID())
			b.Trust["/prompt/"+one.ID()] = []byte("about the prompt " + one.ID())
			b.Trust["/server/"+one.ID()] = []byte("about the server " + one.ID())
		}
		b.Sources = append(b.Sources, store.SourceState{Name: server, Path: "/of/" + server})
	}
	gen := write(t, open(t), b)
	s := open(t)
	for name, asked := range map[string][]string{"one": {"a"}, "two": {"c", "ab"}, "none": {}, "unknown": {"d", "a/x"}, "twice": {"b", "b"}} {
		t.Run(name, func(t *testing.T) {
			is := map[string]bool{}
			for _, a := range asked {
				is[a] = true
			}
			want := &store.Snapshot{
				Generation: gen, Servers: b.Servers, Overlays: b.Overlays, Sources: map[string]store.SourceState{},
				Trust: map[tool.ID][]byte{},
			}
			for _, r := range b.Records {
				if is[r.Tool.Server] {
					want.Records = append(want.Records, r)
					for _, k := range []tool.ID{"", "/prompt/", "/server/"} {
						want.Trust[k+r.Tool.ID()] = b.Trust[k+r.Tool.ID()]
					}
				}
			}
			for _, one := range b.Sources {
				if is[one.Name] {
					want.Sources[one.Name] = one
				}
			}
			got, err := s.LoadServers(context.Background(), asked)
			if err != nil {
				t.Fatal(err)
			}
			if d := diff(want, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}
