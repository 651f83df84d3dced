package demo

import stdembed "embed"

// FS holds the files of the demo at its root: a catalogue file NAME.yaml for each server NAME, and the requests in
// queries-*.jsonl, whose labels are written server__tool. It is read-only and safe for concurrent use.
//
//go:embed *.yaml queries-*.jsonl
var FS stdembed.FS
