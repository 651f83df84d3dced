package orderedjson

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzMembers holds that members are found where a decoder finds them, and that what is no JSON does no harm.
func FuzzMembers(f *testing.F) {
	for _, s := range []string{
		`{"a":1, "b" : {"a":"\\"}, "c\u0041\\":[ "]" ] , "d":true}`,
		` {"a":-1.5e3 ,"a":"x\"y" }`, `{}`, `{"`, `{"a"`, `{"a":`, `{"a":"\`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, obj []byte) {
		got := map[string]json.RawMessage{}
		for _, m := range Members(obj) {
			got[m.Key] = obj[m.Value:m.End]
		}
		want := map[string]json.RawMessage{}
		if json.Unmarshal(obj, &want) != nil || !bytes.HasPrefix(bytes.TrimSpace(obj), []byte("{")) {
			return
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", obj, diff)
		}
	})
}

func FuzzRemove(f *testing.F) {
	f.Add([]byte(`{"a":1, "b" : {"a":2} ,"c":[]}`), "b")
	f.Add([]byte(` {"a":1,"a":2}`), "a")
	f.Fuzz(func(t *testing.T, obj []byte, key string) {
		before := map[string]json.RawMessage{}
		if json.Unmarshal(obj, &before) != nil {
			return
		}
		got := Remove(obj, key)
		after := map[string]json.RawMessage{}
		if err := json.Unmarshal(got, &after); err != nil {
			t.Fatalf("%q without %q is %q: %v", obj, key, got, err)
		}
		delete(before, key)
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("%q without %q is %q:\n%s", obj, key, got, diff)
		}
	})
}
