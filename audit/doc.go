// Package audit records who called which tool, when, and with what outcome, so that no change of the record goes
// unnoticed.
//
// A [Log] wraps a Caller, and writes one record for each call that passes through it. [Log.Refused] records calls that
// never get that far, such as those of a tool that the caller may not see; [Log.Changed] records changes of the
// configuration.
//
//	log := audit.New(audit.Options{Dir: dir, Catalog: catalog})
//	defer log.Close()
//	caller := log.Caller(gateway)
//
// # The files
//
// A record is one line of JSON that ends with its hash and contains the hash of the line before: a line that is
// altered, removed, inserted or moved breaks the chain, and [Verify] reports the place. Files are numbered, and only
// ever appended to. When one is full the next continues the chain, and the oldest is removed. A small file beside them,
// the head, stores how far the chain has come, so that lines missing at its end are noticed too; it also serves as the
// lock between processes.
//
// The chain has no secret. Anybody who may write the files can write another chain. An [Anchor] of the true chain, kept
// where they cannot write, shows that.
//
// # What may be relied on
//
// A record reaches the operating system before the answer of its call is passed on, so a killed process loses none.
// [Sync] decides when it reaches the disk, which matters if the power fails: records that the disk had not taken by
// then are missing, and [Verify] may say so. With Options.Required a call is made only after a record of its beginning
// was written. Otherwise calls go on if they cannot be recorded; the log says so, and a record of how many were lost
// follows as soon as one can be written again.
//
// Several processes may write to one directory; each record comes whole from one of them. A line that was torn when a
// process died is kept, and the next record says so.
//
// Arguments are not kept, except as a hash under a key that is created once for each directory ([Log.Fingerprint]): it
// shows which arguments were equal, and without the key guesses cannot be tested.
//
// # Files
//
// log.go appends records (record.go) and decides when they are synced; wrap.go makes them of calls and hash.go replaces
// arguments and sessions by keyed hashes. lock.go takes the lock between processes and repairs what a dead one left;
// checkpoint.go reads and writes the head; rotate.go begins files and removes the oldest. read.go follows the records
// and verify.go checks the chain, both through files.go, which lists files and lines.
package audit
