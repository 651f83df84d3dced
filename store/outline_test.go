package store

import (
	"context"
	"maps"
	"testing"

	"tooldex/tool"
)

// TestOutline compares an outline with what Load reads.
func TestOutline(t *testing.T) {
	s := open(t, t.TempDir())
	write(t, s, &Batch{Records: records(0, 30)})
	writeFixture(t, s)
	write(t, s, &Batch{Remove: []tool.ID{record(3).Tool.ID()}})
	v := View{Model: fixtureModel, Knowledge: "7"}
	snap, err := s.Load(context.Background(), v)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Outline(context.Background(), v)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{}
	for _, r := range snap.Records {
		want[r.Source]++
	}
	head, err := s.ReadHead(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if got.Generation != snap.Generation || got.Stamp != head.Stamp || got.Damaged || !maps.Equal(want, got.Tools) {
		t.Errorf("the outline is %+v, want %d tools by source: %v", got, len(snap.Records), want)
	}
	if d := diff(snap.Sources, got.Sources); d != "" {
		t.Errorf("sources (-want +got):\n%s", d)
	}
}
