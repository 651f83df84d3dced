package embed

import "errors"

// The kinds of errors of remote models, for errors.Is.
var (
	ErrUnavailable  = errors.New("embedding model unavailable")   // the server cannot be reached or failed; may pass
	ErrModelMissing = errors.New("embedding model not installed") // the server does not have the model
	// noticed by this call; Model already returns the new one
	ErrModelChanged = errors.New("embedding model changed")
	// the answer has too few vectors, or one that is zero, not finite, or of another width than before
	ErrVectors = errors.New("unusable embedding")
)

// Error is an error of a remote model. errors.Is finds both its Kind and its cause.
type Error struct {
	Kind error  // one of the kinds above
	Msg  string // what is wrong, naming model and server
	Hint string // what to do about it; may be ""
	Err  error  // the cause; may be nil
}

// Error returns the message and the cause, without the hint.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Msg
	}
	return e.Msg + ": " + e.Err.Error()
}

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}
