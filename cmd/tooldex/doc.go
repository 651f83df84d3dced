// Command tooldex runs and administers the tool-search service.
//
// It finds the right tool for an agent among those of any number of MCP servers. "tooldex import" reads what the
// servers offer, "tooldex search" asks from a terminal, and "tooldex serve" answers agents over MCP and programs over
// HTTP. "tooldex help" lists the rest.
//
// Exit codes: 0 done, 1 failed, 2 wrong usage, 3 nothing found or a gate not met. Answers go to stdout and everything
// else to stderr, which in stdio mode is the only place for logs.
//
// Each subcommand has a file of its name, in which newX returns the cobra command and the functions below it do the
// work and print. A command parses its flags, opens a [service.Service] by app.open with what it needs (service.Use),
// calls one method and prints the answer by app.print as a table, JSON or YAML. root.go reads the configuration before
// any command runs; exit.go maps errors to exit codes. Everything else belongs in packages.
package main
