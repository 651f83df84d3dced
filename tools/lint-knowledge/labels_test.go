package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	copyWords   = 6  // shorter texts meet by nature and are compared whole only
	copyJaccard = .6 // of word triples, from which an utterance counts as a copy
)

// labelled are the sets whose requests measure the product: nothing of them may be in what it knows.
var labelled = []string{
	"intents", "little_known", "sets/mcpproxy_golden", "sets/azure_mcp", "sets/bfcl_python",
	"sets/toolalpaca", "sets/metatool_single",
}

// No utterance is a near copy of a labelled request. Only the utterance is named, so that whoever rewrites it does
// not read the request.
func TestNotFromLabels(t *testing.T) {
	if testing.Short() {
		t.Skip("computes for long, and alone")
	}
	dir := os.Getenv("TOOLDEX_DATA")
	if dir == "" {
		dir = "../../../shared/data"
	}
	x, requests := newCopyIndex(), 0
	for _, set := range labelled {
		n, err := x.addFile(filepath.Join(dir, filepath.FromSlash(set), "queries.jsonl"))
		if errors.Is(err, fs.ErrNotExist) {
			t.Skipf("no labelled requests in %s: set TOOLDEX_DATA to the folder that has %s", dir, set)
		}
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			t.Errorf("%s has no request", set)
		}
		requests += n
	}
	checked := 0
	for _, a := range loadData(t).archetypes {
		for i, u := range a.Utterances {
			checked++
			if x.hasCopyOf(u) {
				t.Errorf("%s: %s: near copy of a labelled request", a.at, utteranceID(a, i))
			}
		}
	}
	t.Logf("%d utterances against %d requests", checked, requests)
}

func TestCopyIndex(t *testing.T) {
	x := newCopyIndex()
	x.add("Which of the bakers in our street sells rye bread on a Sunday?")
	x.add("open shops")
	tests := []struct {
		name, text string
		want       bool
	}{
		{"same words", "which of the bakers in our street sells rye bread on a sunday", true},
		{"one word more", "Tell which of the bakers in our street sells rye bread on a Sunday", true},
		{"end changed", "Which of the bakers in our street sells rye bread on a holiday then", true},
		{"half of it", "Which of the bakers in our street has the nicest window", false},
		{"same meaning", "Where can I buy rye loaves at the weekend near us?", false},
		{"short and equal", "Open shops!", true},
		{"short and alike", "open the shops", false},
		{"nothing", "", false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if got := x.hasCopyOf(tc.text); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

// copyIndex finds near copies of texts: equal as word sequences, or alike in their word triples.
type copyIndex struct {
	whole    map[string]bool
	postings map[string][]int32 // texts by triple
	triples  []int              // number of distinct triples by text
}

func newCopyIndex() *copyIndex {
	return &copyIndex{whole: make(map[string]bool), postings: make(map[string][]int32)}
}

func (x *copyIndex) add(text string) {
	words := split(strings.ToLower(text))
	x.whole[strings.Join(words, " ")] = true
	if len(words) < copyWords {
		return
	}
	id := int32(len(x.triples))
	set := triples(words)
	for tri := range set {
		x.postings[tri] = append(x.postings[tri], id)
	}
	x.triples = append(x.triples, len(set))
}

func (x *copyIndex) hasCopyOf(text string) bool {
	words := split(strings.ToLower(text))
	if len(words) == 0 {
		return false
	}
	if x.whole[strings.Join(words, " ")] {
		return true
	}
	if len(words) < copyWords {
		return false
	}
	set := triples(words)
	shared := make(map[int32]int)
	for tri := range set {
		for _, id := range x.postings[tri] {
			shared[id]++
		}
	}
	for id, n := range shared {
		if float64(n) >= copyJaccard*float64(len(set)+x.triples[id]-n) {
			return true
		}
	}
	return false
}

// addFile adds the requests of a queries.jsonl but those of kind exact, and reports how many it added.
func (x *copyIndex) addFile(name string) (n int, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var q struct{ Query, Kind string }
		if err := json.Unmarshal(sc.Bytes(), &q); err != nil {
			return n, err
		}
		if q.Kind == "exact" {
			continue
		}
		x.add(q.Query)
		n++
	}
	return n, sc.Err()
}

func triples(words []string) map[string]bool {
	set := make(map[string]bool, len(words))
	for i := 0; i+2 < len(words); i++ {
		set[words[i]+" "+words[i+1]+" "+words[i+2]] = true
	}
	return set
}
