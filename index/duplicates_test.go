package index

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTwins(t *testing.T) {
	for name, c := range map[string]struct {
		numbers []int32
		want    [][]int32
	}{
		"none":                    {[]int32{0, 0, 0}, nil},
		"a pair":                  {[]int32{7, 0, 7}, [][]int32{{0, 2}}},
		"a number on its own":     {[]int32{1, 2, 2, 3}, [][]int32{{1, 2}}},
		"families by first place": {[]int32{5, 1, 0, 5, 1, 5}, [][]int32{{0, 3, 5}, {1, 4}}},
		"no documents":            {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			docs := make([]Doc, len(c.numbers))
			for i, n := range c.numbers {
				docs[i].DuplicateGroup = n
			}
			s := build(t, docs, Options{})
			if d := cmp.Diff(c.want, s.DuplicateGroups()); d != "" {
				t.Errorf("families (-want +got):\n%s", d)
			}
			for i := range docs {
				var want []int32
				for _, f := range c.want {
					if slices.Contains(f, int32(i)) {
						want = f
					}
				}
				if got := s.Duplicates(i); !slices.Equal(got, want) {
					t.Errorf("twins of %d: %v, want %v", i, got, want)
				}
			}
		})
	}
}
