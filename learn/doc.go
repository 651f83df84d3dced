// Package learn gathers what the use of tools shows about the requests they serve, and lifts tools in searches by it.
//
// A [Learner] records what was searched for and what was then called ([Learner.RecordSearch], [Learner.RecordCall]),
// and what clients say of an answer ([Learner.RecordFeedback]). Each is evidence: that for this request this tool was
// right, or wrong. Evidence is kept with its time, count, client and [EvidenceKind], bounded in number, loses its
// weight with age, and is kept apart by profile. A request is kept as a vector and as hashes of its words; its text
// only where [Options] say so.
//
//	l := learn.New(learn.Options{Disk: disk, Reader: engine})
//	if err := l.Load(ctx); err != nil { ... }
//	l.Start()
//	defer l.Close()
//
// # What is learned
//
// From enough evidence for a tool (several requests, in more than one session, or an operator's approval) follows a
// lift: how much likelier the words of a request are in what the tool was called for than in what others were called
// for, and how much nearer its vector comes to them. A client that calls one tool for everything adds nothing, since
// its words are those of everything. A tool without evidence is not lifted, and no tool further than
// cross-validation of the evidence supports.
//
// # What may be relied on
//
// The same evidence gives the same lifts, to the bit, in any order and through any number of processes.
// Neither a search nor a call waits for the disk: evidence is written in batches, and a process that is killed loses at
// most what came since the last. What [Learner.Forget] has removed is in no later export.
//
// # Caveats
//
// Hashes of words keep a request from being read by eye, not from being guessed by one who hashes a dictionary.
// Forgotten bytes may stay in free pages of the file until they are used again.
//
// # Files
//
// learner.go has the options and the life of a Learner. record.go queues what happens and session_tracker.go relates
// calls to searches; evidence.go and evidence_store.go keep the evidence, and codec.go encodes it. model.go turns the
// evidence of a profile into a model, cross_validate.go decides how far to trust it, and lift.go applies it to a
// search. manage.go and forgotten.go approve and forget, report.go lists.
package learn
