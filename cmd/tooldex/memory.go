package main

import "runtime/debug"

// collectRarely makes garbage collections rarer: most commands end before one pays, and reading a catalogue takes half
// the work. GOGC takes precedence.
func (a *app) collectRarely() {
	if a.getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

// collectNormally ends the effect of collectRarely for commands that keep running, and returns the memory that reading
// the catalogue took to the system. That is slow: call it where nobody waits.
func (a *app) collectNormally() {
	if a.getenv("GOGC") == "" {
		debug.SetGCPercent(100)
	}
	debug.FreeOSMemory()
}
