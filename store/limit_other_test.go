//go:build !unix

package store

var limitFiles func(n int) error
