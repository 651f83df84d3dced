package selection_test

import (
	"testing"

	"tooldex/selection"
)

// BenchmarkSelect selects over the demo, for messages that are new to the cache and for one that is known.
func BenchmarkSelect(b *testing.B) {
	o := real(b, demoTools(b))
	for name, size := range map[string]int{"new": -1, "known": 0} {
		b.Run(name, func(b *testing.B) {
			o.CacheSize = size
			s := selection.NewSelector(o)
			b.ReportAllocs()
			for b.Loop() {
				choose(b, s, selection.Query{Message: "read package.json", Format: selection.FormatAnthropic})
			}
		})
	}
}
