package mcpsrv

import "os"

type stage struct{ Caller, Searcher func(any) any }

func build(s stage) string {
	s.Caller(nil)
	s.Searcher(nil)
	return os.Getenv("HOME")
}
