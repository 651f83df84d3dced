// Package trust decides which tools are held until a person approves them, and which are served with a warning.
//
// A [Ledger] holds what was decided about tools so far; it never changes. During a sync, an [Inspection] scans what a
// server offers, compares it with the form that was accepted before, and decides under the [Policy] of the process. The
// caller stores [Inspection.Changes] and makes the next ledger of them with [Ledger.With].
//
// Decisions are shared by all processes; the policy is each process's own. A tool of a trusted server is never scanned
// or held. Reasons never quote the tool, since a model reads them.
//
// ledger.go holds the decisions and what follows from them under each policy; inspection.go makes them during a sync.
// features.go and about.go do the same for prompts, resources, templates and servers' own texts, by the rules for
// tools; content.go judges results and other contents.
package trust
