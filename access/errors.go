package access

import "errors"

// ErrToken is in the chain of errors that refuse a request for its token, which is unknown, has expired, or is for
// somebody else. HTTP says 401 where it is, and something may change by asking with another token.
var ErrToken = errors.New("the token is not good")
