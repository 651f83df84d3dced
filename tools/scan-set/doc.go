// Command scan-set measures the scanner on labelled tool definitions that it was not made with: it prints how many
// attacks are found and how many honest tools are flagged, and none of their texts.
//
//	go -C tools run ./scan-set -known ../../shared/data FOLDER...
//
// A folder holds attacks.jsonl and honest.jsonl, one {"id": …, "tool": {…}} a line, with the tool as MCP servers list
// it. As for users, only findings count of which a model is warned. Each tool is scanned beside those of a catalogue:
// the servers in the folder catalogue of -known, if it is given.
package main
