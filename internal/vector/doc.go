// Package vector multiplies vectors of float32 as fast as the processor can, with the same bits on every processor.
package vector
