// Package gauge holds what several programs that measure need: the memory of processes, and the data.
package gauge
