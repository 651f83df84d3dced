// Package store keeps tools, their vectors and user preferences safely on disk.
//
// A [Store] is one bbolt file, tooldex.db, in a data directory that several processes share. Every operation is a short
// section of its own: it opens the file, takes the file lock (shared to read, exclusive to write), does its work in one
// transaction and closes the file again, so that no process ever holds the lock while it waits for anything else.
//
//	s, err := store.Open(dir, store.Options{})
//	snap, err := s.Load(ctx, store.View{Model: model, Knowledge: version})
//	gen, err := s.Write(ctx, &store.Batch{Base: snap.Generation, Records: changed})
//
// [Backend] is what the rest of the program uses of a Store. Package storetest tests what all backends promise.
//
// # What may be relied on
//
// A [Batch] is written as a whole or not at all, and it is on the disk when [Store.Write] returns nil: neither the
// death of the process nor a write torn in the middle takes back what was acknowledged. JSON is kept byte for byte.
// Each value carries a checksum of its key and content, and each bucket the sum of those. A value that is damaged,
// lost, or an older one than was written last is therefore noticed and named, and does not keep the others from being
// read.
//
// Each write raises the file's generation. A process that keeps what it has loaded in memory asks [Store.Generation],
// which costs one stat while nothing changes. It passes the generation it started from as [Batch.Base], so that a
// decision taken on old data is refused ([ErrChanged]) instead of undoing another process's work. Preferences, what was
// learned and what was counted have numbers of their own, and do not raise the generation.
//
// [Store.Backup] writes the state of one moment to a file, and [Restore] puts it back. [Recover] saves what can be read
// of a damaged file, and [Store.Compact] drops what is not used. [Copy] moves everything from one backend to another.
// Each of these puts a new file in the place of the old one in one step, and continues the numbers by which other
// processes notice changes.
//
// # Errors
//
// Errors are of type [tool.Error], with a hint that names the remedy. Timeout means that other processes keep the file
// locked, Unavailable that somebody else changed it, Invalid that the arguments or the file's layout do not fit, and
// Internal that the file is damaged or its disk fails. [ErrDamaged] marks the errors that [Recover] can help with.
//
// # Files
//
// file_tx.go opens and locks the file, layout.go prepares it, and frame.go and sums.go hold its checksums. load.go and
// batch.go read and write all of it; record.go, vector.go, trust.go, preferences.go and kv_bucket.go encode the values.
// check.go, recover.go, scan.go, compact.go, backup.go, entries.go and replace.go work on the file as a whole.
//
// # Caveats
//
// The file never shrinks by itself; [Store.Compact] makes it smaller. Locks are advisory: a network file system without
// working locks is no place for it. A file that cannot be read is never replaced silently: [Recover] replaces it, on
// request, and keeps the old one.
package store
