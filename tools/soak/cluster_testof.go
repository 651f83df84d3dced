package main

import (
	"errors"
	"fmt"
)

// testOf stands in for a test, which pgtest wants. What would end a test panics here, and so ends measureCluster.
type testOf struct{ ends []func() }

// failure is what a testOf panics with.
type failure struct{ error }

func (t *testOf) Helper()                      {}
func (t *testOf) Cleanup(end func())           { t.ends = append(t.ends, end) }
func (t *testOf) Fatal(args ...any)            { panic(failure{errors.New(fmt.Sprint(args...))}) }
func (t *testOf) Fatalf(form string, a ...any) { panic(failure{fmt.Errorf(form, a...)}) }
func (t *testOf) Skip(args ...any)             { t.Fatal(args...) }

// end calls what Cleanup was given, the last first.
func (t *testOf) end() {
	for i := len(t.ends) - 1; i >= 0; i-- {
		t.ends[i]()
	}
}
