package learn

import (
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

func sortStrings(s []string) { slices.Sort(s) }

var opts = gocmp.AllowUnexported(use{}, reading{}, found{}, missedRequest{}, approval{})

func someUse() *use {
	return &use{
		profile: "p", tool: "s/t", client: "c", kind: Wrong, request: 7, count: 3, first: 100, last: 200,
		sessions: []uint32{1, 2}, text: "rain",
		reading: &reading{
			words: []uint32{5, 6}, model: 9, scale: .01, vector: []int8{1, -127, 0},
			found: []found{{3, 1.5}, {4, .25}},
		},
	}
}

func someMissed() *missedRequest {
	return &missedRequest{
		profile: "p", request: 9, nothing: 1, ignored: 2, last: 50, text: "x", unknown: []string{"a"},
		shown: ids("s/a"), called: ids("s/b", "s/c"),
	}
}

func TestCodec(t *testing.T) {
	u, err := decodeUse(encodeUse(someUse()))
	if diff := gocmp.Diff(someUse(), u, opts); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	m, err := decodeMissed(encodeMissed(someMissed()))
	if diff := gocmp.Diff(someMissed(), m, opts); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	want := &approval{profile: "p", tool: "s/t", request: 4, at: 60}
	a, err := decodeApproval(encodeApproval(want))
	if diff := gocmp.Diff(want, a, opts); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	for n := range encodeUse(someUse()) { // what is cut short is refused or lacks what was cut, and nothing else
		if got, err := decodeUse(encodeUse(someUse())[:n]); err == nil && got.tool != "s/t" {
			t.Errorf("%d bytes: %+v", n, got)
		}
	}
}

// FuzzDecode reads anything as each sort of entry. What can be read is written and read again as the same.
func FuzzDecode(f *testing.F) {
	f.Add(encodeUse(someUse()))
	f.Add(encodeMissed(someMissed()))
	f.Add(encodeApproval(&approval{tool: "s/t", request: 4}))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if u, err := decodeUse(b); err == nil {
			again, err := decodeUse(encodeUse(u))
			if err != nil {
				t.Fatalf("%v of %+v", err, u)
			}
			if diff := gocmp.Diff(encodeUse(u), encodeUse(again)); diff != "" {
				t.Error(diff)
			}
		}
		if m, err := decodeMissed(b); err == nil {
			if _, err := decodeMissed(encodeMissed(m)); err != nil {
				t.Errorf("%v of %+v", err, m)
			}
		}
		if a, err := decodeApproval(b); err == nil {
			if _, err := decodeApproval(encodeApproval(a)); err != nil {
				t.Errorf("%v of %+v", err, a)
			}
		}
	})
}

// FuzzForgotten reads anything as orders to forget.
func FuzzForgotten(f *testing.F) {
	f.Add(appendForgotten(nil, forgetOrder{Scope: Scope{Tool: "s/t"}, At: 5}))
	f.Add([]byte(`[{"scope":{},"at":1e99}]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		list := readForgotten(appendForgotten(b, forgetOrder{Scope: Scope{Client: "c"}, At: 5}))
		if len(list) == 0 || len(list) > maxOrders || list[len(list)-1].Scope.Client != "c" {
			t.Errorf("%d orders, the last %+v", len(list), list[max(0, len(list)-1):])
		}
	})
}
