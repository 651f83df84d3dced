package access

import "errors"

// ErrToken is in the chain of errors that refuse a request because of its token, which is unknown, has expired, or is
// for another service. HTTP answers 401: another token may help.
var ErrToken = errors.New("the token is not good")
