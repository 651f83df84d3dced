package store

import "testing"

func TestModelOfRefusesOtherKeys(t *testing.T) {
	for _, key := range []string{"", "a", "a\x00b", "a\x00b\x00c", "a\x00b\x001\x002"} {
		if m, ok := modelOf([]byte(key)); ok {
			t.Errorf("%q is %v", key, m)
		}
	}
}
