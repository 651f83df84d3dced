// Package clients finds the configuration files of MCP clients, and edits the servers in them.
//
// [Known] lists the clients, [Client.Files] where each keeps its servers on this platform. A [Document] is such a file
// as it was read: [Document.Servers] tells what is configured there, and [Document.Replace] writes one server in the
// place of others.
//
// # What may be relied on
//
// An edit changes the bytes of the servers concerned and leaves the others alone: comments, order, indentation, line
// endings and spelling of numbers stay. What an edit made is read again before it is returned, and is refused unless it
// says exactly what it should. [Write] replaces a file in one step, keeps its mode, and follows symbolic links. A
// [Keeper] keeps what a file held before, so that [Undo] can bring back every byte.
package clients
