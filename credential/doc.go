// Package credential keeps what users of the service give it for upstream servers, encrypted, and each for its owner
// alone.
//
// A [Store] is one file. Every value in it is sealed with AES-256-GCM under a key that is not in the file, and is bound
// to its user, its server, the address of the server, and its name: an entry that somebody moves to another user, or
// whose server has moved, opens no more. A user is the key of a principal; who that is, package access decides.
package credential
