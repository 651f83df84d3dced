// Package audit keeps a record of who called which tool, when, and what came of it, that cannot be changed unnoticed.
//
// A [Log] wraps a Caller, and writes one record for each call that passes through it; what never gets that far, such as
// a call of a tool that its caller may not see, is told to it ([Log.Refused]), and so are changes of what is configured
// ([Log.Changed]).
//
//	log := audit.New(audit.Options{Dir: dir, Catalog: catalog})
//	defer log.Close()
//	caller := log.Caller(gateway)
//
// # The files
//
// A record is one line of JSON, and carries the hash of the line before it: a line that is altered, taken out, put in
// or moved breaks the chain, and [Verify] names the place. Files are numbered, and only ever appended to; when one is
// full the next is begun and goes on with the chain, and the oldest goes. A small file beside them, the head, holds how
// far the chain has come, so that lines that are missing at its end are noticed too, and serves as the lock between
// processes.
//
// The chain has no secret. Whoever may write the files can write another chain; what shows that is a [Anchor] of the
// one that was, kept where they cannot write.
//
// # What may be relied on
//
// A record is with the operating system before the answer of its call is passed on, so a process that is killed loses
// none. When it is on the disk, for the case that the power goes, is the matter of [Sync]. With Options.Required a call
// is made only after a record of its beginning was written; otherwise one goes on that cannot be recorded, the log
// tells of it, and the number of records that were lost follows as soon as one can be written again.
//
// Several processes may write to one directory, and each record is that of one of them, whole. A line that was torn
// when one of them died is kept, and the next record says so.
//
// Arguments are not kept, but for a hash under a key that is made once for each directory ([Log.Fingerprint]): it tells
// equal arguments apart from others, and without the key no one can try out what they might have been.
package audit
