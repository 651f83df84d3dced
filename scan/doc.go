// Package scan finds tools that attack the model which reads them: instructions, hidden words, false names, greedy
// parameters.
//
// All text that a server writes about its tools reaches the model as if its user had written it. A [Scanner] therefore
// reads every text of a definition (titles, descriptions, names of parameters, defaults, enums, examples, _meta) and
// looks for what no honest tool needs.
//
//	s := scan.New(catalogue)
//	for _, f := range s.Tool(t) {
//		fmt.Println(f.Severity, f.Rule, f.Field, f.Excerpt)
//	}
//
// # How a tool is scanned
//
// Scanner.Tool first works out what the tool is about (topicOf) and lists its texts (gatherTexts, walkStrings). Each
// text then goes through the same checks: invisible characters, white space, markup, comments, phrases, encodings, and
// other servers' tools. Decoded text is scanned again as a text of its own. The checks of the whole tool come last:
// clues that add up (sumClues), sentences spread over several fields (findAcrossTexts) and names that resemble other
// tools' (checkNames).
//
// Phrases are found by a lexicon. Each text is split into words, and each word is looked up in a vocabulary of a dozen
// languages, which returns the classes that it is in: to ignore, earlier, instructions. A pattern is a succession of
// classes in one sentence. Descriptions say what a tool does in the third person, and instruct their reader in the
// imperative. The lexicon has the imperative only, so that "reads a key" and "read the key" are not the same. The
// tool's name and description decide whether a parameter may ask for passwords, conversations or environment variables.
//
// Patterns of intents take wide classes in any order: to hand over, secrets; not, to tell, the user. Wording that
// honest tools use now and then is a clue: it makes a finding only together with clues of another kind a few sentences
// away. Clues about what the tool names as its purpose in its first sentence count less.
//
// [Worse] compares a tool that was changed with the form that was accepted, and returns what makes it suspicious only
// now. [Difference] lists what changed.
//
// # What may be relied on
//
// The same tool beside the same tools yields the same findings. A [Scanner] is safe for concurrent use. The time is
// proportional to the length of the tool, for any content. A tool without findings is not thereby harmless: rules
// cover what attackers are known to write, and other words exist. docs/scanner.md reports how many attacks are found.
//
// # Files
//
// scan.go orders the checks, texts.go lists the texts of a tool, finding.go and rules.go say what is found. words.go
// splits text, and lexicon.go, meanings.go and grammar.go give words their classes. patterns.go, intents.go and
// influence.go hold the patterns, which match.go matches; likely.go applies the trained model, joined.go looks across
// texts. hidden.go, encoded.go, markup.go, confusables.go, neighbours.go and shadow.go are the checks without patterns.
// results.go and likely_result.go scan results, change.go compares forms, review.go lists what a person decides.
package scan
