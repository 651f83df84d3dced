// Package knowledge holds what is known about the kinds of tools that exist, and lends it to those in the catalogue.
//
// Agents use other words than tool authors. An [Archetype] is a typical tool of a kind of server, with requests in many
// wordings that it answers. A [Lender] finds the archetypes most like a real tool and lends it their words and the mean
// of their requests' vectors, when the tool is indexed: at query time that costs nothing. Glossaries add what people
// call the objects and operations in the tool's name. The same archetypes are a map of what exists: [Base.Nearest]
// returns what a request asks for even where no tool of the catalogue does it.
//
// A thesaurus ([Base.Expand]) and a lexicon of 31 languages ([Base.Translate]) help requests across where even the
// archetypes use other words.
//
// The sources under knowledge/data are text that people can review; [Compile] turns them into the bytes that [Open]
// reads in place. The package also defines what a word is ([Terms], [Analyzer]), so that all packages agree on it.
//
// source.go reads the sources and compile.go writes the compiled form; base.go opens it, with string_table.go for its
// tables of texts, word_code.go for the texts and list_code.go for the lists of stems. lend.go works when tools are
// indexed. nearest.go, thesaurus.go, lexicon.go, language.go and the other files work on requests.
package knowledge
