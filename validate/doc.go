// Package validate checks the arguments of calls against the input schemas of tools.
//
// [NewCaller] wraps a [tool.Caller]: it finds the called tool in the catalogue's current set, checks the arguments, and
// passes the call on only if they fit. A refusal is a [*tool.Error] of code Invalid whose cause is a [*Mismatch], which
// names the wrong field and holds the schema, so that each transport can show them in its own form. A tool that the set
// does not hold is passed on: what answers such a call is not this package's business.
//
// Schemas come from servers that nobody here controls. [Schemas] compiles each once and keeps it. A schema that cannot
// be compiled, or that would take too long to check, refuses nothing: it is logged once, and calls of its tool are
// passed on as they are. What is left out of the check on purpose: regular expressions that Go does not have (such as
// lookahead), and unknown keywords and formats.
package validate
