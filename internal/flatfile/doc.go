// Package flatfile keeps flat arrays in a file that any number of processes use where it lies, by mapping it into
// memory.
//
// A file is written once, replaced as a whole, and never changed. It holds sections of bytes and a key, by which
// readers recognise what it was made of. Numbers are stored in the order of the processor: a file of another order is
// refused like any foreign file. Checksums cover the header and each section.
package flatfile
