// Command tooldex runs and administers the tool-search service.
//
// It finds the right tool for an agent among those of any number of MCP servers. "tooldex import" reads what the
// servers offer, "tooldex search" asks from a terminal, and "tooldex serve" answers agents over MCP and programs over
// HTTP. "tooldex help" lists the rest.
//
// Exit codes: 0 done, 1 failed, 2 wrong usage, 3 nothing found or a gate not met. Answers go to stdout and everything
// else to stderr, which in stdio mode is the only place for logs.
package main
