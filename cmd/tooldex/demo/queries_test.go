package demo

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"slices"
	"strings"
	"testing"
)

type request struct {
	ID       string     `json:"id"`
	Query    string     `json:"query"`
	Relevant []string   `json:"relevant"`
	Mode     string     `json:"mode"`
	AllOf    [][]string `json:"all_of"`
	Kind     string     `json:"kind"`
	NearMiss bool       `json:"near_miss"`
	Lang     string     `json:"lang"`
	file     string
}

// readRequests reads the lines of every file of requests; fields it does not know are errors.
func readRequests(t *testing.T) []request {
	t.Helper()
	names, err := fs.Glob(FS, "queries-*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var out []request
	for _, name := range names {
		data, err := FS.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
			r := request{file: name}
			d := json.NewDecoder(bytes.NewReader(line))
			d.DisallowUnknownFields()
			if err := d.Decode(&r); err != nil {
				t.Fatalf("%s:%d: %v", name, i+1, err)
			}
			out = append(out, r)
		}
	}
	return out
}

func TestRequestCounts(t *testing.T) {
	requests := readRequests(t)
	if got := len(requests); got < 180 {
		t.Errorf("%d requests, want at least 180", got)
	}
	kinds, nearMisses := map[string]int{}, 0
	for _, r := range requests {
		kinds[r.Kind]++
		nearMisses += count(r.NearMiss)
	}
	least := map[string]int{"exact": 30, "paraphrase": 50, "goal": 40, "multi": 20, "no_match": 15, "non-english": 8}
	for _, kind := range sortedKeys(least) {
		if kinds[kind] < least[kind] {
			t.Errorf("%d requests of kind %s, want at least %d", kinds[kind], kind, least[kind])
		}
	}
	for _, kind := range sortedKeys(kinds) {
		if least[kind] == 0 {
			t.Errorf("%d requests of the unknown kind %q", kinds[kind], kind)
		}
	}
	if nearMisses < 8 {
		t.Errorf("%d near misses, want at least 8", nearMisses)
	}
}

func TestRequests(t *testing.T) {
	c := readCatalogue(t)
	ids, queries := map[string]bool{}, map[string]string{}
	for _, r := range readRequests(t) {
		t.Run(r.ID, func(t *testing.T) {
			if r.ID == "" || ids[r.ID] {
				t.Errorf("%s: id %q is empty or there twice", r.file, r.ID)
			}
			ids[r.ID] = true
			key := strings.ToLower(strings.Join(strings.Fields(r.Query), " "))
			if first, ok := queries[key]; ok || key == "" {
				t.Errorf("query %q is empty or the same as that of %q", r.Query, first)
			}
			queries[key] = r.ID
			checkLabels(t, c, &r, key)
			checkShape(t, &r)
		})
	}
}

// checkLabels wants every label to name an enabled tool whose synonyms and utterances do not give the answer away.
func checkLabels(t *testing.T, c *catalogue, r *request, key string) {
	t.Helper()
	for i, label := range r.Relevant {
		e := c.tools[strings.Replace(label, "__", "/", 1)]
		switch {
		case e == nil:
			t.Errorf("label %s names no tool", label)
		case !e.enabled():
			t.Errorf("label %s names a disabled tool", label)
		case slices.Contains(r.Relevant[:i], label):
			t.Errorf("label %s is there twice", label)
		case slices.ContainsFunc(slices.Concat(e.Synonyms, e.Utterances), func(s string) bool {
			return strings.ToLower(s) == key
		}):
			t.Errorf("query %q is a synonym or utterance of %s", r.Query, label)
		}
	}
}

// checkShape wants the labels to be those that the kind of request needs.
func checkShape(t *testing.T, r *request) {
	t.Helper()
	switch {
	case r.Relevant == nil:
		t.Error("relevant is missing")
	case (r.Kind == "no_match") != (len(r.Relevant) == 0):
		t.Errorf("kind is %s, but %d tools are relevant", r.Kind, len(r.Relevant))
	case r.NearMiss && r.Kind != "no_match":
		t.Errorf("a near miss is of kind %s", r.Kind)
	case r.Kind != "multi":
		if r.Mode != "any" || len(r.AllOf) > 0 {
			t.Errorf("mode %q and %d groups, want any and none", r.Mode, len(r.AllOf))
		}
	case r.Mode != "" || len(r.AllOf) < 2:
		t.Errorf("mode %q and %d groups, want no mode and at least two", r.Mode, len(r.AllOf))
	}
	if r.Kind != "multi" {
		return
	}
	members := map[string]bool{}
	for _, group := range r.AllOf {
		if len(group) == 0 {
			t.Error("a group is empty")
		}
		for _, label := range group {
			members[label] = true
			if !slices.Contains(r.Relevant, label) {
				t.Errorf("%s is in a group, but not relevant", label)
			}
		}
	}
	if len(members) != len(r.Relevant) {
		t.Errorf("groups name %d tools, %d are relevant", len(members), len(r.Relevant))
	}
}

// TestCoverage wants most tools to be asked for, so that a change that loses some of them shows.
func TestCoverage(t *testing.T) {
	asked := map[string]bool{}
	for _, r := range readRequests(t) {
		for _, label := range r.Relevant {
			asked[strings.Replace(label, "__", "/", 1)] = true
		}
	}
	c := readCatalogue(t)
	enabled, covered := 0, 0
	var left []string
	for _, id := range sortedKeys(c.tools) {
		if !c.tools[id].enabled() {
			continue
		}
		enabled++
		if asked[id] {
			covered++
		} else {
			left = append(left, id)
		}
	}
	if covered*100 < enabled*80 {
		t.Errorf("%d of %d enabled tools answer a request, want 80 %%; not %s", covered, enabled,
			strings.Join(left, ", "))
	}
}

// TestScenarios keeps the requests that the command's own tests make in the labelled set.
func TestScenarios(t *testing.T) {
	tests := map[string][]string{
		"Read package.json":   {"filesystem__read_file"},
		"List all files":      {"filesystem__list_directory"},
		"Run npm install":     {"shell__execute_command"},
		"Search for TODOs":    {"filesystem__search_files", "codebase__find_todos"},
		"bug report":          {"github__create_issue"},
		"create issue":        {"github__create_issue"},
		"draw me a horoscope": {},
	}
	requests := readRequests(t)
	for _, query := range sortedKeys(tests) {
		t.Run(query, func(t *testing.T) {
			i := slices.IndexFunc(requests, func(r request) bool { return r.Query == query })
			if i < 0 {
				t.Fatal("request is missing")
			}
			for _, label := range tests[query] {
				if !slices.Contains(requests[i].Relevant, label) {
					t.Errorf("%s is not among %v", label, requests[i].Relevant)
				}
			}
			if len(tests[query]) == 0 && len(requests[i].Relevant) > 0 {
				t.Errorf("relevant is %v, want none", requests[i].Relevant)
			}
		})
	}
}
