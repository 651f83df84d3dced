package serve

import "runtime/debug"

// oftenPercent is the growth of the heap, in percent, after which garbage is collected while messages of servers take
// much memory. They are bounded, but not the garbage of them: by default Go lets that double the heap.
const oftenPercent = 40

// collectOften returns a function that has garbage collected more often, and as before when it is called with false.
// Large messages hold no pointers, so that a collection costs little more with them than without.
func collectOften() func(often bool) {
	before := 0
	return func(often bool) {
		if !often {
			debug.SetGCPercent(before)
			return
		}
		before = debug.SetGCPercent(oftenPercent)
		if before < oftenPercent { // GOGC asks for more, or for none
			debug.SetGCPercent(before)
		}
	}
}
