package selection

import (
	"context"
	"testing"

	"tooldex/tool"
)

// TestReadOnly holds that what may change something does not exist for a policy that only reads, on none of its ways.
func TestReadOnly(t *testing.T) {
	yes, no := true, false
	w := &world{set: tool.NewSet([]*tool.Tool{
		{Server: "a", Name: "look", Annotations: &tool.Annotations{ReadOnlyHint: &yes}},
		{Server: "a", Name: "write", Annotations: &tool.Annotations{ReadOnlyHint: &no}},
		{Server: "a", Name: "unsaid"},
		{Server: "b", Name: "look", Annotations: &tool.Annotations{ReadOnlyHint: &yes}},
	}, "")}
	p := Policy{Reach: Reach{Servers: []string{"a"}}, ReadOnly: true, Tools: w}
	res, err := p.Searcher(w).Search(context.Background(), tool.Query{})
	if err != nil || len(res.Tools) != 1 || res.Tools[0].ID != "a/look" {
		t.Errorf("a search finds %v, %v", res.Tools, err)
	}
	if set := p.Catalog(w).Set(); set.Len() != 1 || set.All()[0].ID() != "a/look" {
		t.Errorf("there are %d tools", set.Len())
	}
	for id, code := range map[tool.ID]tool.Code{
		"a/look": 0, "a/write": tool.NotFound, "a/unsaid": tool.NotFound,
		"b/look": tool.NotFound, "a/gone": tool.NotFound,
	} {
		_, err := p.Caller(w).Call(context.Background(), tool.Call{ID: id})
		if (err == nil) != (code == 0) || err != nil && tool.CodeOf(err) != code {
			t.Errorf("a call of %s: %v", id, err)
		}
	}
	if len(w.called) != 1 {
		t.Errorf("%v were called", w.called)
	}
	if (Policy{ReadOnly: true}).allowsEverything() {
		t.Error("a policy that only reads lets all through")
	}
}
