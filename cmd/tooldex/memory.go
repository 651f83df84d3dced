package main

import "runtime/debug"

// collectRarely makes garbage collections rarer: most commands end before one pays, and reading a catalogue takes half
// the work. GOGC takes precedence.
func (a *app) collectRarely() {
	if a.getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

// collectAt ends the effect of collectRarely for commands that keep running or need much memory: from now on a collection
// begins when so many percent of what is in use have come to it. It returns the memory that reading the catalogue took
// to the system. That is slow: call it where nobody waits.
func (a *app) collectAt(percent int) {
	if a.getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
	debug.FreeOSMemory()
}
