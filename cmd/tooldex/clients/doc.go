// Package clients finds the configuration files of MCP clients, and edits the servers in them.
//
// [Known] lists the clients, [Client.Files] where each keeps its servers on this platform. A [Document] is such a file
// as it was read: [Document.Servers] lists what is configured there, and [Document.Replace] writes one server in the
// place of others. [Plan] decides what an import does with the servers of several documents.
//
// To change a file, callers take these steps: Read, [Keeper.PlanEdit] and [Keeper.Write], which refuses a file that has
// changed since. To undo it: Keeper.Last, [Undo], if that reports false [Document.Restore] and Write, and then
// Keeper.Forget. A client's filter of tools is kept in a profile of tooldex ([ProfileChange]), which Forget takes back.
//
// # What may be relied on
//
// An edit changes the bytes of the servers concerned and leaves the others alone: comments, order, indentation, line
// endings and spelling of numbers stay. What an edit made is read again before it is returned, and is refused unless it
// says exactly what it should: such a file must be edited by hand. [Write] replaces a file in one step, keeps its mode,
// and follows symbolic links. A [Keeper] keeps what a file held before, so that [Undo] can restore every byte.
//
// Errors are of type *tool.Error. Nothing in the package is safe for concurrent use on the same file or directory.
package clients
