// Command bench measures the built command and writes the pages of figures in docs.
//
//	go run ./tools/bench -bin bin/tooldex -data DIR -out docs/benchmarks.md speed
//	go run ./tools/bench -bin bin/tooldex -data DIR -out docs/quality.md quality
//	go run ./tools/bench -bin bin/tooldex -data DIR quality bars curve
//	go run ./tools/bench -out docs/first-answer.md first tests
//
// Every figure of those pages comes from here, together with the machine, the commit and the command that made it; none
// is typed by hand. It is a program of its own, since it needs the built command and data that is not part of the
// repository.
//
// The sections of the page of quality (bars, sets, ablation, curve, misses, refusal, learning, selection) can be asked
// for by name. All but sets are measured within this process, with the knowledge compiled anew from its texts, so that
// parts of it can be left out.
package main
