package main

import (
	"os"
	"runtime/debug"
)

// collectSeldom lets the heap grow further before it is collected: most commands end before that would pay, and it
// halves the work of reading a catalogue. GOGC has the last word.
func collectSeldom() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

// collectAsUsual is for commands that stay. It gives back what reading the catalogue took, which takes a moment: nobody
// should wait for it.
func collectAsUsual() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(100)
	}
	debug.FreeOSMemory()
}
