package mcpsrv

import (
	"slices"

	"tooldex/tool"
)

// recentTools is a bounded set of tools in the order in which they came: a listing of it only grows at its end, so that
// what clients have cached of it stays valid. When it is full, the least recently used go. It is not safe for
// concurrent use; the zero value is empty.
type recentTools struct {
	order  []tool.ID // as they came
	recent []tool.ID // the same, the last used at the end
}

// addTools adds tools, the most useful first, and counts as a use of those that are in the set. If ids holds more than
// most, the rest is ignored. It reports whether a tool was new.
func (v *recentTools) addTools(ids []tool.ID, most int) bool {
	ids = ids[:min(len(ids), most)]
	changed := false
	for _, id := range ids {
		if !slices.Contains(v.order, id) {
			v.order = append(v.order, id)
			v.recent = append(v.recent, id)
			changed = true
		}
	}
	// Backward, so that the most useful one is the last used, and goes last.
	for _, id := range slices.Backward(ids) {
		v.markUsed(id)
	}
	for len(v.order) > most {
		v.removeTool(v.recent[0])
	}
	return changed
}

// markUsed notes that a tool was used, and reports whether it is in the set.
func (v *recentTools) markUsed(id tool.ID) bool {
	i := slices.Index(v.recent, id)
	if i < 0 {
		return false
	}
	v.recent = append(slices.Delete(v.recent, i, i+1), id)
	return true
}

// removeTool takes a tool out.
func (v *recentTools) removeTool(id tool.ID) {
	same := func(other tool.ID) bool { return other == id }
	v.order = slices.DeleteFunc(v.order, same)
	v.recent = slices.DeleteFunc(v.recent, same)
}

// clearTools empties the set, and reports whether it held anything.
func (v *recentTools) clearTools() bool {
	held := len(v.order) > 0
	v.order, v.recent = nil, nil
	return held
}
