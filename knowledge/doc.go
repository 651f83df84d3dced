// Package knowledge holds what is known about the kinds of tools that exist, and lends it to those in the catalogue.
//
// Agents ask in other words than tool authors write. An [Archetype] is a tool as servers of its kind have it, with
// requests in many wordings that such a tool answers. A [Lender] finds the archetypes most like a real tool and lends
// it their words and the mean of their requests' vectors, when the tool is indexed: at query time that costs nothing.
// Glossaries add what people call the objects and operations in the tool's name.
// The same archetypes are a map of what exists: [Base.Nearest] tells what a request asks for even where no tool of the
// catalogue does it.
//
// A thesaurus ([Base.Expand]) and a lexicon of seventeen languages ([Base.Translate]) help requests across where even
// the archetypes use other words.
//
// What people review lies under knowledge/data as text; [Compile] makes of it the bytes that [Open] reads in place. The
// package also says what a word is ([Terms], [Analyzer]), since every user of words must agree on that.
package knowledge
