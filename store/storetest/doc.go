// Package storetest tests that a [store.Backend] keeps the promises that the rest of the program relies on.
package storetest
