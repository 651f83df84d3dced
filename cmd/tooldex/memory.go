package main

import "runtime/debug"

// collectRarely lets the heap grow further before it is collected: most commands end before a collection pays, and it
// halves the work of reading a catalogue. GOGC takes precedence.
func (a *app) collectRarely() {
	if a.getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

// collectNormally is for commands that stay. It returns to the system what reading the catalogue took, which takes a
// moment: nobody should wait for it.
func (a *app) collectNormally() {
	if a.getenv("GOGC") == "" {
		debug.SetGCPercent(100)
	}
	debug.FreeOSMemory()
}
