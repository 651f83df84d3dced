// Package keyring keeps secrets of servers in the keyring of the system, or in files where there is none.
//
// A [Ring] stores a secret under a name, and a server's configuration refers to it as ${keyring:NAME}. The keyring is
// that of the desktop on Linux (the Secret Service on D-Bus), the Keychain on macOS and the Credential Manager on
// Windows. Where none answers, each secret is a file of its own that only this user can read. Errors are *tool.Error,
// and none contains a secret.
package keyring
