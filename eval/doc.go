// Package eval measures how well a Searcher ranks the right tools.
//
// A [Dataset] is a catalogue of tools with labelled requests for them. [Load] reads one from a folder, [LoadFS] from
// any file system, and [LoadCases] reads the requests alone, for a catalogue that is already known. [Run] puts every
// request to a [tool.Searcher] and gives a [Report]; [Score] does the same for answers that other software wrote into a
// run file ([ReadRun], [WriteRun]). A Report is checked against [Gate]s, and two of them are set side by side by
// [Compare]. It is written as text, JSON ([ReadReport] reads it back), JUnit XML, and a page with plots.
//
//	set, err := eval.Load("testdata/set")
//	report, err := eval.Run(ctx, engine, set, eval.Options{Mode: tool.Keyword})
//	err = report.WriteText(os.Stdout)
//
// # What is measured
//
// A request that no tool serves (an empty list of relevant tools) counts towards abstention only. For every other, with
// R its relevant tools, each tool at the first place where it is ranked and a repeat holding its place for nothing, and
// the same tool on other servers ([tool.Hit] names them) at the place of the one that stands for it:
//
//   - recall@k: the share of R among the first k. Where one relevant tool is enough (mode "any") it is hit@k.
//   - hit@k: 1 if one of R is among the first k.
//   - mrr: 1 / place of the first of R, 0 if none was found within the depth asked for.
//   - ndcg@10: sum of gain / log2(1 + place) over the first ten, divided by that of the best order (Järvelin and
//     Kekäläinen, Cumulated gain-based evaluation of IR techniques, ACM TOIS 20(4), 2002, with the discount that
//     trec_eval uses), at most 1. The gain is the label's grade, or 1 for a relevant tool without one. All tools with a gain stand
//     in the best order, also in mode "any".
//   - complete@k: 1 if every need is met by the first k: one tool of each all_of group or step, or else any of R in
//     mode "any", or else all of R.
//   - steps@k: of a task whose steps have requests of their own, 1 if every step has one of its tools among the first k
//     of the answer to its request. The mean is over such tasks.
//   - auroc: the chance that the first score of a request that a tool serves is higher than that of one that none
//     serves, ties counting half.
//
// Means are over requests, each counting the same, and do not depend on their order: not even in the last bit.
//
// # Files
//
// dataset.go, cases.go, steps.go and tools.go read a set, and runfile.go the answers of other software. run.go collects
// answers; metrics.go, needs.go, abstain.go and calibration.go score them, and report.go collects the figures.
// compare.go sets two reports side by side with intervals from bootstrap.go; gate.go checks figures, and conclusion.go
// says in a sentence what they mean. text.go, html.go (with charts.go and plots.go), junit.go and reportfile.go write
// reports.
package eval
