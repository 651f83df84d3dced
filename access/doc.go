// Package access decides who may use the service over HTTP, and how much of it.
//
// A request bears a token. There are three kinds of them: the one token for everything; tokens that a person hands out,
// which stand in a [File] as digests and may be bound to a [View] and a date; and access tokens of an authorization
// server, which [OAuth] verifies as a resource server of OAuth 2.1 does. A [Gate] takes all three, reads the file again
// when it changes, and tells when a token has ended, so that what was begun with it can be ended too.
//
//	gate, err := access.New(access.Options{Whole: secret, File: access.File{Path: "tokens.yaml"}})
//	go gate.Watch(ctx)
//	grant, err := gate.Identify(ctx, token, "/mcp")
//
// Errors are *tool.Error. One that refuses the token itself, rather than what is asked with it, has [ErrToken] in
// its chain. No secret is ever in an error, and only digests are kept.
package access
