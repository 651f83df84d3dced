package access

import (
	"context"
	"errors"
)

// Principal is who sent a request, as far as its token says. The zero Principal needed no token: a client on standard
// input, or of a service that asks for none.
type Principal struct {
	Name string // for people and logs: "token ci", "ana at https://login.example.com"
	// Key identifies the principal: what one principal began, only the same Key may continue. It is no secret, and
	// nobody can log in with it.
	Key string
}

// principalKey is the key of the Principal in a context.
type principalKey struct{}

// WithPrincipal returns a context that carries p, on whose behalf something is done.
func WithPrincipal(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// PrincipalOf returns the Principal that ctx carries, or the zero Principal if it carries none.
func PrincipalOf(ctx context.Context) Principal {
	p, _ := ctx.Value(principalKey{}).(Principal)
	return p
}

// tokenKey is the key of an access token in a context.
type tokenKey struct{}

// WithToken returns a context that carries the access token with which a request came. It must be one of an
// authorization server that was verified. It is a secret: it is only for exchanging it there.
func WithToken(ctx context.Context, token string) context.Context {
	return context.WithValue(ctx, tokenKey{}, token)
}

// TokenOf returns the access token that ctx carries, "" if it carries none.
func TokenOf(ctx context.Context) string {
	token, _ := ctx.Value(tokenKey{}).(string)
	return token
}

// ErrToken is in the chain of errors that refuse a request because of its token, which is unknown, has expired, or is
// for another service. HTTP answers 401: another token may help.
var ErrToken = errors.New("the token is not good")
