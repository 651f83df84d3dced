// Package access decides who may use the service over HTTP, and how much of it.
//
// A request carries a token. There are three kinds: the one token for everything; tokens that a person hands out, which
// stand in a [File] as digests and may be bound to a [View] and a date; and access tokens of an authorization server,
// which [OAuth] verifies as a resource server of OAuth 2.1 does. A [Gate] accepts all three, reads the file again when
// it changes, and reports when a token has ended, so that its sessions can be ended too.
//
//	gate, err := access.New(access.Options{Whole: secret, File: access.File{Path: "tokens.yaml"}})
//	go gate.Watch(ctx)
//	grant, err := gate.Identify(ctx, token, "/mcp")
//
// Errors are *tool.Error. An error that refuses the token itself, rather than what is asked with it, has [ErrToken] in
// its chain. No error contains a secret, and only digests of secrets are kept.
//
// gate.go ties the parts together: it asks token.go for digests of handed-out tokens, file.go for the file that lists
// them, and oauth.go for access tokens. oauth.go verifies claims (claims.go) with the keys of an issuer (issuer.go), or
// asks the issuer about opaque tokens (introspect.go), and maps them to a View by rules (rule.go). principal.go carries
// the identified party in a context. write.go replaces the file under a lock.
package access
