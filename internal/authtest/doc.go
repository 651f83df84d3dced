// Package authtest is an authorization server and the servers that accept its tokens, for tests: the real protocol over
// real HTTP, in the process of the test. It is only used by tests.
//
// A [Server] has metadata (RFC 8414), registration of clients (RFC 7591), the authorization code grant with PKCE,
// refresh tokens that work once, token exchange (RFC 8693) and client credentials. Its access tokens are signed JWTs
// with an audience. Who the person at the browser is, the cookie "person" says.
package authtest
