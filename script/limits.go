package script

import (
	"cmp"
	"time"
)

// Limits bounds a program. The zero value of each field means its default.
type Limits struct {
	Run     time.Duration // time that the program itself runs, without the calls it waits for; 5 s
	Total   time.Duration // time with the calls; 5 minutes
	Calls   int           // of tools, searches and descriptions together; 100
	Results int           // bytes that all calls bring; 8 MiB
	Output  int           // bytes of the answer; 64 KiB
	Memory  int           // bytes by which the process may grow meanwhile; 128 MiB
	Depth   int           // of calls of functions within each other; 400
}

// Bounds that no option changes.
const (
	maxSource  = 20_000    // bytes of a program
	maxItems   = 1_000_000 // of a list
	maxText    = 8 << 20   // UTF-16 units of a text that one step makes
	maxPattern = 10_000    // of a regular expression
	maxNesting = 500       // of JSON
)

func (l Limits) withDefaults() Limits {
	l.Run = cmp.Or(l.Run, 5*time.Second)
	l.Total = cmp.Or(l.Total, 5*time.Minute)
	l.Calls = cmp.Or(l.Calls, 100)
	l.Results = cmp.Or(l.Results, 8<<20)
	l.Output = cmp.Or(l.Output, 64<<10)
	l.Memory = cmp.Or(l.Memory, 128<<20)
	l.Depth = cmp.Or(l.Depth, 400)
	return l
}
