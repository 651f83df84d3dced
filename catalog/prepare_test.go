package catalog

import (
	"context"
	"testing"

	"tooldex/index"
	"tooldex/tool"
)

// TestPrepareWithoutIndex wants a catalogue without an index to leave nothing to be made for the next one that has one.
func TestPrepareWithoutIndex(t *testing.T) {
	model, err := BuiltinModel()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, tt := range []struct {
		name  string
		index *index.Index
		made  bool
	}{{"the first makes what its tool needs", nil, true}, {"the second has nothing to make", new(index.Index), false}} {
		made := false
		c, err := Open(context.Background(), Options{
			Store: openStore(t, dir), Model: model, Index: tt.index, Progress: func(int, int) { made = true },
		})
		if err != nil {
			t.Fatal(err)
		}
		src := list{"garden", []*tool.Tool{{
			Server: "garden", Name: "water_plants",
			Description: "Water the plants of one bed",
		}}}
		if _, err := c.Sync(context.Background(), src); err != nil {
			t.Fatal(err)
		}
		if made != tt.made {
			t.Errorf("%s: made %v", tt.name, made)
		}
		if tt.index != nil && tt.index.Current().Len() != 1 {
			t.Error("the tool is not in the index")
		}
	}
}

// list is a source of given tools.
type list struct {
	name  string
	tools []*tool.Tool
}

func (l list) Name() string                                { return l.name }
func (l list) Tools(context.Context) ([]*tool.Tool, error) { return l.tools, nil }
