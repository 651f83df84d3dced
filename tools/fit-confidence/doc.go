// Command fit-confidence fits the estimate that some tool serves a request, and that the best one does.
//
//	bin/tools/fit-confidence -knowledge knowledge/data -out search
//
// It learns from worlds made of archetypes. The kinds of servers are divided into folds; for each fold the knowledge is
// compiled without a part of what it has of these kinds, and catalogues of 20 to 5,000 tools are drawn from them.
// Requests that the knowledge does not have are put to the catalogues: of operations that are in, of operations that
// were left out (near misses), of kinds of other domains (foreign), and talk that asks for no tool (talk.jsonl). No
// labelled set is read. The model of talk is trained without the fold that it scores.
//
// It writes talk.bin, the model of talk, and weights.go, the regressions, and prints how well they do on folds that
// they were not fitted on. The same knowledge and seed give the same files.
package main
