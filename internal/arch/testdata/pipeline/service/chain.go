package service

type stage struct{ Caller, Searcher func(any) any }

func first(s stage)  { s.Caller(s.Searcher(nil)) }
func second(s stage) { s.Caller(nil) }
