package tool

import "time"

// nap is what no test may do.
func nap() { time.Sleep(time.Second) }
