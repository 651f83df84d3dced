package search

import (
	"slices"
	"testing"

	"tooldex/index"
	"tooldex/tool"
)

func TestRelated(t *testing.T) {
	e := engineOf(t, catalogue(t))
	near, err := e.Related(t.Context(), "forge/create_issue", 3)
	if err != nil || len(near) == 0 || len(near) > 3 {
		t.Fatalf("related %v, %v", near, err)
	}
	if !slices.Contains(near, "forge/close_issue") && !slices.Contains(near, "forge/list_issues") {
		t.Errorf("no other tool for issues is near create_issue: %v", near)
	}
	if slices.Contains(near, "forge/create_issue") {
		t.Error("a tool is related to itself")
	}
	for name, id := range map[string]string{"unknown": "forge/none", "no id": ""} {
		t.Run(name, func(t *testing.T) {
			if near, err := e.Related(t.Context(), tool.ID(id), 3); err != nil || near != nil {
				t.Errorf("related %v, %v", near, err)
			}
		})
	}
	empty := New(Options{Lookup: new(index.Index)})
	if near, err := empty.Related(t.Context(), "a/b", 3); err != nil || near != nil {
		t.Errorf("without an index: %v, %v", near, err)
	}
}
