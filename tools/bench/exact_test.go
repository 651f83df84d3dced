package main

import (
	"testing"

	"tooldex/tool"
)

func TestAgreement(t *testing.T) {
	answer := func(confident bool, ids ...tool.ID) *tool.Result {
		r := &tool.Result{Confident: confident}
		for _, id := range ids {
			r.Tools = append(r.Tools, tool.Hit{ID: id})
		}
		return r
	}
	var a agreement
	a.add(answer(true, "s/a", "s/b"), answer(true, "s/a", "s/c"))
	a.add(answer(true, "s/b", "s/a"), answer(false, "s/a", "s/b"))
	a.add(answer(false), answer(false))
	if want := (agreement{searches: 3, found: 3, wanted: 4, first: 2, confident: 2}); a != want {
		t.Errorf("%+v, want %+v", a, want)
	}
}
