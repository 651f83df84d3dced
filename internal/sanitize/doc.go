// Package sanitize makes what servers and people write about tools fit to be stored, listed and read by a model.
//
// [Tool] bounds and repairs a whole tool and reports each repair as a [Finding]. [DeriveSummary] makes the summary of a
// tool that declares none. [StripHidden] and [Cut] work on single texts.
//
// All functions are safe for concurrent use. A second run over what a first run returned changes nothing.
package sanitize
