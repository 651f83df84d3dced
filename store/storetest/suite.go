package storetest

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tooldex/store"
)

// Opener opens a backend on one state. Each call stands for another process: what one backend stores the others read.
type Opener func(t testing.TB) store.Backend

// Run tests a backend. NewState makes an empty state and returns how to open it; it is called once for each test.
func Run(t *testing.T, newState func(t testing.TB) Opener) {
	for _, one := range []struct {
		name string
		test func(t *testing.T, open Opener)
	}{
		{"WriteThenLoad", testWriteThenLoad},
		{"RemoveAndReplace", testRemoveAndReplace},
		{"WriteRefuses", testWriteRefuses},
		{"BaseRefusesWhatWasDecidedOnOldData", testBase},
		{"GenerationNoticesEveryWrite", testGeneration},
		{"HeadHasAStampOfItsOwn", testHead},
		{"ManyWritersAndReaders", testMany},
		{"ChangesTakeTurns", testTurns},
		{"LoadMoving", testLoadMoving},
		{"SlimView", testSlimView},
		{"ReadDerived", testReadDerived},
		{"Models", testModels},
		{"Compact", testCompact},
		{"DecisionsAreKept", testDecisions},
		{"ServersAreReadAlone", testLoadServers},
		{"Preferences", testPreferences},
		{"PreferencesByMany", testPreferencesByMany},
		{"Learned", testLearned},
		{"LearnedByMany", testLearnedByMany},
		{"CountsAreApart", testCountsAreApart},
		{"SameAsFile", testSameAsFile},
		{"Copy", testCopy},
		{"FillReplaces", testFillReplaces},
		{"FillFails", testFillFails},
		{"CopyNotices", testCopyNotices},
		{"CancelledContext", testCancelled},
	} {
		t.Run(one.name, func(t *testing.T) { one.test(t, newState(t)) })
	}
}

// load reads all of a view.
func load(t testing.TB, s store.Backend, v store.View) *store.Snapshot {
	t.Helper()
	snap, err := s.Load(context.Background(), v)
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	return snap
}

// write writes a batch and returns the new generation.
func write(t testing.TB, s store.Backend, b *store.Batch) uint64 {
	t.Helper()
	gen, err := s.Write(context.Background(), b)
	if err != nil {
		t.Fatalf("write: %v", err)
	}
	return gen
}

// diff compares values; nil and empty slices and maps are equal.
func diff(want, got any) string { return cmp.Diff(want, got, cmpopts.EquateEmpty()) }
