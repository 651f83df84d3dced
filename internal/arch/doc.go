// Package arch holds the shape of this repository as tests: which package may import which, and what every package,
// file and exported name must have.
//
// It has no code of its own. The table of packages is in table_test.go; a new package starts with a line there, and an
// import that the table does not allow fails the tests. Source is read with go/parser rather than asked of the go
// command, because a test that runs the go command is cached and stays green after a bad import.
package arch
