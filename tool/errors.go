package tool

import (
	"errors"
	"strconv"
)

// Code classes an error by what the caller can do about it. The zero Code is Internal.
type Code int

// The codes, and what each transport makes of them.
const (
	Internal    Code = iota // a fault of this program; HTTP 500
	Invalid                 // the request or input is wrong and will stay so; HTTP 400
	NotFound                // no such tool, server or page, or one that the caller may not see; HTTP 404
	Denied                  // visible, but not allowed; HTTP 403
	Unavailable             // try again later; HTTP 503
	Timeout                 // took too long; HTTP 504
)

// Codes lists every code, for tables that must be complete.
func Codes() []Code { return []Code{Internal, Invalid, NotFound, Denied, Unavailable, Timeout} }

// String returns the code in lower case, as used in JSON answers.
func (c Code) String() string {
	switch c {
	case Invalid:
		return "invalid"
	case NotFound:
		return "not_found"
	case Denied:
		return "denied"
	case Unavailable:
		return "unavailable"
	case Timeout:
		return "timeout"
	default:
		return "internal"
	}
}

// Error is the one error type of the service. Msg and Hint are safe for an agent to read; Err is for the log.
type Error struct {
	Code Code
	Op   string // what was being done, for the log: "import", "call"
	Msg  string // what is wrong, naming the thing
	Hint string // what to do about it; may be ""
	Err  error  // the cause; may be nil
}

// Error returns the operation, the message, the cause and the hint in one line.
func (e *Error) Error() string {
	s := e.Msg
	if e.Op != "" {
		s = e.Op + ": " + s
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of the first *Error in err's chain, or Internal if there is none.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return Internal
}

func quoteName(s string) string {
	const most = 80
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strconv.Quote(s)
}

// ErrConflict is wrapped by errors of changes that were decided on what another has changed meanwhile.
var ErrConflict = errors.New("it was changed meanwhile")
