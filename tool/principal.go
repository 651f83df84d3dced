package tool

import (
	"context"
	"errors"
)

// Principal is who a request is from, as far as its token tells. The zero Principal is somebody who needed none: a
// client on standard input, or of a service that asks for no tokens.
type Principal struct {
	Name string // for people and logs: "token ci", "ana at https://login.example.com"
	// Key tells principals apart. Those of the same Key are the same, and nobody else has it: what one of them began,
	// only they go on with. It is no secret, and nothing that one can log in with.
	Key string
}

type principalKey struct{}

// WithPrincipal returns a context that tells who is behind what is done with it.
func WithPrincipal(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// PrincipalOf tells who is behind what is done with ctx, the zero Principal if nobody said.
func PrincipalOf(ctx context.Context) Principal {
	p, _ := ctx.Value(principalKey{}).(Principal)
	return p
}

// ErrToken is in the chain of errors that refuse a request for its token, which is unknown, has expired, or is for
// somebody else. HTTP says 401 where it is, and something may change by asking with another token.
var ErrToken = errors.New("the token is not good")
