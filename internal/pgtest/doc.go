// Package pgtest runs a real PostgreSQL for tests, on a socket in a temporary folder.
package pgtest
