// Package registry finds MCP servers in a registry that speaks the API of the official one, and says how to run them.
//
// [Client.Search] asks the registry and keeps its answers on disk, so that they can be used while it cannot be reached.
// [Entry.Launch] turns an entry into a server as the configuration has them, with what a person has to fill in. Nothing
// is started or stored here: whoever adds a server shows a person the Launch first. Texts of entries come from
// strangers and are cleaned.
//
// The format is that of https://github.com/modelcontextprotocol/registry, API v0.1, with the server.json schemas of
// 2025.
package registry
