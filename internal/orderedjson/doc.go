// Package orderedjson reads and writes JSON without losing what encoding/json does not keep: the order of members, the
// spelling of numbers, and the bytes of values that were not changed.
package orderedjson
