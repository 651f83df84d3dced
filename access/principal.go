package access

import "context"

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
