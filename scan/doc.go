// Package scan finds tools that attack the model which reads them: instructions, hidden words, false names, greedy
// parameters.
//
// What a server says of its tools reaches the model as if its user had written it. A [Scanner] reads a definition the
// way a model does, all of it: titles, descriptions, names of parameters, defaults, enums, examples, _meta, and looks
// for what no honest tool needs.
//
//	s := scan.New(catalogue)
//	for _, f := range s.Tool(t) {
//		fmt.Println(f.Severity, f.Rule, f.Field, f.Excerpt)
//	}
//
// Each text is split into words, and each word is looked up in a lexicon of a dozen languages, which gives the classes
// that it is in: to ignore, earlier, instructions. Patterns are successions of classes in one sentence. A description
// says of the tool what it does in the third person, and to its reader what to do in the bare form; the lexicon holds
// the latter, so that "reads a key" and "read the key" are not the same. What a tool is about, by its name and
// description, tells whether a parameter may ask for passwords, conversations or environment variables.
//
// Patterns of intents take wide classes in any order: to hand over, secrets; not, to tell, the user. What honest tools
// say now and then, too, is a clue, and makes a finding only with clues of another kind a few sentences away. Clues
// about what the tool names as its purpose in its first sentence count less.
//
// [Worse] tells whether a changed tool is suspicious where the old one was not, and [Difference] what changed.
//
// # What may be relied on
//
// The same tool beside the same tools gives the same findings. The time is in proportion to the length of the tool,
// whatever it says. A tool without findings is not thereby harmless: rules know what attackers are known to write, and
// words can be found that they do not know. docs/scanner.md tells how many are found.
package scan
