// Command mutants removes protections from the code, one at a time, and runs the test that SECURITY.md names for each: a
// protection that can go unnoticed is none.
//
// The list is mutants.yaml. The working tree stays as it is: a mutant is an overlay of the go command.
package main
