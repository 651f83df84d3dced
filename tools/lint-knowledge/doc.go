// Command lint-knowledge checks the knowledge files: archetypes, thesaurus and lexicon.
//
//	bin/tools/lint-knowledge ./knowledge/data        print every finding
//	bin/tools/lint-knowledge -fmt ./knowledge/data   rewrite archetype files in canonical order and spelling of JSON
//
// Errors are defects that no file may hold: a missing field, a tool or an utterance twice, an utterance whose every
// content word belongs to a sibling. Warnings are matters of style and of degree; their number per rule may not exceed
// the budget recorded in budget.txt, which is lowered when the data gets better and never raised.
//
// The command exits with 0 when there is no error, 1 when there is one, and 2 when it was called wrongly or the
// files cannot be read. The tests of this package run the same rules over the repository's own data.
package main
