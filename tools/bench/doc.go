// Command bench measures the built command and writes the pages of figures in docs.
//
//	bin/tools/bench -bin bin/tooldex -data DIR -out docs/benchmarks.md speed
//	bin/tools/bench -bin bin/tooldex -data DIR -out docs/benchmarks-large.md large
//	bin/tools/bench -bin bin/tooldex -data DIR -tools 1000000 -only -out docs/benchmarks-million.md large
//	bin/tools/bench -data DIR changes
//	bin/tools/bench -bin bin/tooldex -data DIR -out docs/quality.md quality
//	bin/tools/bench -bin bin/tooldex -data DIR quality bars variants
//	bin/tools/bench -bin bin/tooldex -data DIR -out docs/peers.md peers
//	bin/tools/bench -out docs/first-answer.md first tests
//
// Every figure of those pages comes from here, together with the machine, the commit and the command that made it; none
// is typed by hand. It is a program of its own, since it needs the built command and data that is not part of the
// repository.
//
// The sections of the page of quality (bars, sets, branches, refusal, learning, selection, attacks) can be named to run
// them alone. The section variants is only run when it is named: it measures the search with parts of the knowledge
// left out, to decide whether a part is worth its cost. All sections but sets run in this process, with the knowledge
// compiled from its texts.
package main
