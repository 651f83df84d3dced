package mcpsrv

import (
	"slices"

	"tooldex/tool"
)

// recentTools is a bounded set of tools that keeps the order in which they came, so that a listing of it only grows at its
// end and what clients have cached of it stays good. When it is full, those that were longest of no use go. It is not
// safe for concurrent use; the zero value is empty.
type recentTools struct {
	order  []tool.ID // as they came
	recent []tool.ID // the same, the one used last at the end
}

// add puts tools in, the first of ids being the most useful, and counts as a use of those that are in. It reports
// whether the set is another than before. Of more than most, the first are taken.
func (v *recentTools) add(ids []tool.ID, most int) bool {
	ids = ids[:min(len(ids), most)]
	changed := false
	for _, id := range ids {
		if !slices.Contains(v.order, id) {
			v.order = append(v.order, id)
			v.recent = append(v.recent, id)
			changed = true
		}
	}
	for _, id := range slices.Backward(ids) {
		v.markUsed(id)
	}
	for len(v.order) > most {
		v.remove(v.recent[0])
	}
	return changed
}

// markUsed notes that a tool was of use, and reports whether it is in the set.
func (v *recentTools) markUsed(id tool.ID) bool {
	i := slices.Index(v.recent, id)
	if i < 0 {
		return false
	}
	v.recent = append(slices.Delete(v.recent, i, i+1), id)
	return true
}

func (v *recentTools) remove(id tool.ID) {
	same := func(other tool.ID) bool { return other == id }
	v.order = slices.DeleteFunc(v.order, same)
	v.recent = slices.DeleteFunc(v.recent, same)
}

// clear empties the set, and reports whether it held anything.
func (v *recentTools) clear() bool {
	held := len(v.order) > 0
	v.order, v.recent = nil, nil
	return held
}
