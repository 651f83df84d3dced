// Package postgres keeps the state of [tooldex/store] in a PostgreSQL database, so that several machines share it.
//
// [Open] brings the schema up to date and returns a [Store], which keeps all promises of store.Backend. Each change is
// one transaction. It locks the row of its tenant in the table head, so that changes of one tenant come one after the
// other, and raises the number seq in it. The generation of the catalogue and the numbers of preferences, of what was
// learned and of what was counted are the seq of their last change. A row in the table event says what was changed, and
// NOTIFY passes the number on to other processes, which also look by themselves every five seconds. Changes that were
// refused, since others were faster, queue for an advisory lock: see [store.Queuing].
//
// # Tenants
//
// Every table begins with the tenant. Row level security limits a connection to the rows of the tenant that it names
// when it begins, so no statement of this package names one. Open refuses a role to which that would not apply.
//
// # Errors
//
// Errors are of type [tool.Error]: Unavailable while the database cannot be reached or takes no changes, Timeout when
// the context ended, Invalid for what cannot be stored, and Internal for the rest. If the connection breaks while a
// change is committed, the error is Unavailable and the change may have been made. A Batch with a Base can be repeated
// safely: it is refused if it was made.
package postgres
