// Package gauge reads the memory of processes and the data to measure with, for several programs that measure.
package gauge
