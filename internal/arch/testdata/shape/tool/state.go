package tool

import "sync"

var (
	counter int

	// cache has no value either.
	cache sync.Map
)

func change(local int) { table["x"] = 1; local++ }

// table is set where it is declared, but changed above.
var table = map[string]int{}

func init() { change(0) }
