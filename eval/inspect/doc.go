// Package inspect explains why tools are found or not, and what to change in a catalogue.
//
// An [Inspector] looks at the tools of one catalogue through the search that serves them. [Inspector.Explain] says why
// the tools for a request rank where they rank, [Inspector.Collide] lists the pairs of tools that requests cannot
// distinguish, with the words that would, [Inspector.Describe] says what each tool is found by, what it should be found
// by and is not, and what to reword, and [Inspector.Draft] writes requests down for people to review, so that all of it
// can be measured.
//
// What should find a tool is a list of [Request]s that the caller has: labelled by people, declared with the tool, or
// borrowed from tools of its kind.
//
// inspector.go reads the words of all tools once. explain.go, collide.go and describe.go search and compare, advise.go
// turns what they find into advice, draft.go writes requests for review, and text.go prints all of it.
package inspect
