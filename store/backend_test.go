package store_test

import (
	"testing"

	"tooldex/store"
	"tooldex/store/storetest"
)

// TestBackend holds the file to what all backends promise.
func TestBackend(t *testing.T) {
	storetest.Run(t, func(t testing.TB) storetest.Opener {
		dir := t.TempDir()
		return func(t testing.TB) store.Backend {
			s, err := store.Open(dir, store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
	})
}
