// Command soak runs the built command under load and faults. It fails if an error has no injected fault as its cause,
// if memory, files or goroutines keep growing, or if the command does not stop cleanly.
//
// The command serves over HTTP and, with the same data, on standard streams. This program also plays the upstream
// servers: one is killed repeatedly, one changes its tools in bursts, one is reached over HTTP. Clients search, select,
// call and import; some stop reading, some send slowly, some never end their sessions, and some send malformed input.
//
// With -hostile it serves nine servers that behave well beside one that attacks, once for each attack, and fails if a
// call of the nine fails, or if an attack costs more than 64 MiB of memory.
//
// With -cluster it runs three replicas on PostgreSQL with a synchronous standby, behind HAProxy, for several tenants.
// It kills the primary and replicas, and cuts replicas off from the database. It fails if a search fails that no kill
// explains, if an acknowledged change is lost, if the replicas differ afterwards, or if an answer to a tenant shows a
// mark of another.
package main
