// Package validate checks the arguments of calls against the input schemas of tools.
//
// [NewCaller] wraps a [tool.Caller]: it finds the called tool in the catalogue's current set, checks the arguments, and
// passes the call on only if they fit. A refusal is a [*tool.Error] of code Invalid whose cause is a [*Mismatch], which
// names the wrong field and holds the schema, so that each transport can show them in its own form. A call of a tool
// that the set does not hold is passed on, for the next Caller to answer.
//
// Schemas come from servers that we do not control. [Schemas] compiles each once and keeps it. A schema that cannot be
// compiled, or that would take too long to check, refuses nothing: it is logged once, and calls of its tool are passed
// on as they are. Two things are not checked on purpose: regular expressions that Go does not have (such as lookahead),
// and unknown keywords and formats.
//
// schema.go compiles and checks, cost.go bounds the work of a check before it begins, and mismatch.go turns the
// library's errors into fields and reasons. Everything exported is safe for concurrent use.
package validate
