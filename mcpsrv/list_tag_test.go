package mcpsrv

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tooldex/tool"
)

// tagged is an answer to tools/list that has a tag.
type tagged struct {
	Result struct {
		Tools []json.RawMessage `json:"tools"`
		Meta  struct {
			Tag         string `json:"tooldex/etag"`
			NotModified bool   `json:"tooldex/notModified"`
		} `json:"_meta"`
		TTLMs int `json:"ttlMs"`
	} `json:"result"`
	Error *struct {
		Code int `json:"code"`
	} `json:"error"`
}

// listWith lists in one mode and revision with these parameters.
func listWith(t *testing.T, f *fixture, revision, params string) (list tagged, line string) {
	t.Helper()
	ask := fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":%s}`, params)
	if revision >= statelessRevision {
		ask = statelessList(params, revision)
	}
	lines := f.exchange(t, revision, ask)
	line = lines[len(lines)-1]
	if err := json.Unmarshal([]byte(line), &list); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return list, line
}

// TestListTag lists, lists again with the tag that came, changes the catalogue, and lists once more.
func TestListTag(t *testing.T) {
	for _, mode := range []Mode{Search, Lazy, Full} {
		for _, revision := range generations {
			t.Run(string(mode)+" "+revision, func(t *testing.T) {
				f := newFixture(t, smallServer(t), Options{Mode: mode})
				plain, line := listWith(t, f, revision, `{}`)
				if strings.Contains(line, "tooldex/etag") {
					t.Errorf("a client that gave no tag gets one: %s", line)
				}
				first, _ := listWith(t, f, revision, `{"ifNoneMatch":""}`)
				tag := first.Result.Meta.Tag
				if len(tag) != 32 || first.Result.Meta.NotModified || len(first.Result.Tools) != len(plain.Result.Tools) {
					t.Fatalf("the first list has %d tools of %d and %+v", len(first.Result.Tools),
						len(plain.Result.Tools), first.Result.Meta)
				}
				again, line := listWith(t, f, revision, `{"ifNoneMatch":"`+tag+`"}`)
				if m := again.Result.Meta; m.Tag != tag || !m.NotModified || len(again.Result.Tools) != 0 ||
					again.Result.TTLMs != first.Result.TTLMs || !strings.Contains(line, `"tools":[]`) {
					t.Errorf("the same list is %s", line)
				}
				if other, _ := listWith(t, f, revision, `{"ifNoneMatch":"`+strings.Repeat("0", 32)+`"}`); len(other.Result.Tools) == 0 {
					t.Error("a foreign tag gets an empty list")
				}
				query, _ := listWith(t, f, revision, `{"query":"renames","ifNoneMatch":"`+tag+`"}`)
				if len(query.Result.Tools) != 1 || query.Result.Meta.Tag == tag {
					t.Errorf("a query is taken for the whole list: %+v", query.Result)
				}
				if bad, line := listWith(t, f, revision, `{"ifNoneMatch":7}`); bad.Error == nil || bad.Error.Code != -32602 {
					t.Errorf("a number as a tag is answered with %s", line)
				}
				if mode == Search {
					return // its list does not depend on single tools
				}
				f.set.Store(tool.NewSet(smallServer(t)[1:], "changed"))
				changed, line := listWith(t, f, revision, `{"ifNoneMatch":"`+tag+`"}`)
				if m := changed.Result.Meta; m.NotModified || m.Tag == tag || len(changed.Result.Tools) != len(plain.Result.Tools)-1 {
					t.Errorf("the changed list is %s", line)
				}
			})
		}
	}
}
