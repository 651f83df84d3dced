package httpapi

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"tooldex/selection"
	"tooldex/tool"
)

// realChoice selects as the program does.
type realChoice struct {
	*chooser
	selector *selection.Selector
}

func (r realChoice) Select(ctx context.Context, q selection.Query) (*selection.Selection, error) {
	return r.selector.Select(ctx, q)
}

func (r realChoice) SetPreferences(ctx context.Context, profile string, base uint64,
	p selection.Preferences,
) (selection.Preferences, uint64, error) {
	p, err := selection.Check(p, tool.NewSet(testTools(), ""))
	if err != nil {
		return p, 0, err
	}
	return r.chooser.SetPreferences(ctx, profile, base, p)
}

// stranger makes requests from the description of the API: most of them nearly right.
type stranger struct {
	*rand.Rand
	d   apiDocument
	ops []operationOf
	raw string // some text that is no work of ours

	good, bad map[string]int // answers, by operation
}

type operationOf struct {
	method, path string
	params       []string
	body         json.RawMessage // its schema; nil if it has none
}

func newStranger(t *testing.T, f *fixture) *stranger {
	s := &stranger{d: readDocument(t, f), good: map[string]int{}, bad: map[string]int{}}
	for path, methods := range s.d.Paths {
		for method, op := range methods {
			one := operationOf{
				method: strings.ToUpper(method), path: path,
				body: op.RequestBody.Content["application/json"].Schema,
			}
			for _, p := range op.Parameters {
				if p.In == "query" {
					one.params = append(one.params, p.Name)
				}
			}
			s.ops = append(s.ops, one)
		}
	}
	slices.SortFunc(s.ops, func(a, b operationOf) int { return strings.Compare(a.method+a.path, b.method+b.path) })
	return s
}

func (s *stranger) word() string {
	list := []string{
		"", "read", "files/read_file", "files%2Fold", "odd/a/b c", "auto", "manual", "all", "always", "never", "mcp",
		"anthropic", "gemini", "openai", "name", "schema", "keyword",
		"files", "-1", "1", "99999999999999999999", "true", "*", "\x00", "ß\u2028", strings.Repeat("long ", 200), "1h",
		`"0"`, s.raw,
	}
	return list[s.IntN(len(list))]
}

// likely are values that fields take.
var likely = map[string][]any{
	"mode": {"auto", "manual", "all"}, "format": {"mcp", "anthropic", "openai", "openai-responses", "gemini"},
	"message": {"read", "write"}, "query": {"read"},
	"maxTools": {0, 1, 100}, "tokenThreshold": {0, 50, 5000}, "profile": {""},
	"explicitTools": {[]string{"files/read_file"}},
	"alwaysInclude": {[]string{"files/read_file"}}, "neverInclude": {[]string{"files/old", "gone/tool"}},
	"deferLoading": {false}, "toolReferences": {false},
}

// value makes JSON for a schema, now and then of another type.
func (s *stranger) value(schema json.RawMessage, depth int) any {
	var v struct {
		Type                 any
		Ref                  string `json:"$ref"`
		Properties           map[string]json.RawMessage
		Items                json.RawMessage
		AdditionalProperties json.RawMessage
		AnyOf                []json.RawMessage
	}
	if json.Unmarshal(schema, &v) != nil || s.IntN(15) == 0 || depth > 5 {
		return []any{
			nil, true, -1, 1.5, 1e300, s.word(),
			[]any{},
			[]any{s.word(), 1},
			map[string]any{s.word(): s.word()},
		}[s.IntN(9)]
	}
	kind, _ := v.Type.(string)
	if list, ok := v.Type.([]any); ok && len(list) > 0 {
		kind, _ = list[s.IntN(len(list))].(string)
	}
	switch {
	case v.Ref != "":
		return s.value(s.d.Components.Schemas[strings.TrimPrefix(v.Ref, "#/components/schemas/")], depth+1)
	case len(v.AnyOf) > 0:
		return s.value(v.AnyOf[s.IntN(len(v.AnyOf))], depth+1)
	case kind == "object":
		out := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(v.Properties)) {
			switch known := likely[name]; {
			case s.IntN(3) == 0:
			case len(known) > 0 && s.IntN(8) > 0:
				out[name] = known[s.IntN(len(known))]
			default:
				out[name] = s.value(v.Properties[name], depth+1)
			}
		}
		if len(v.Properties) == 0 {
			out[s.word()] = s.value(v.AdditionalProperties, depth+1)
		}
		return out
	case kind == "array":
		out := []any{}
		for range s.IntN(4) {
			out = append(out, s.value(v.Items, depth+1))
		}
		return out
	case kind == "integer", kind == "number":
		return []int{0, 1, 3, 100, -1, 1 << 40}[s.IntN(6)]
	case kind == "boolean":
		return s.IntN(2) == 0
	}
	if kind == "" && s.IntN(2) == 0 { // anything
		return map[string]any{s.word(): s.word()}
	}
	return s.word()
}

// ask sends one request and checks that the answer is one.
func (s *stranger) ask(t *testing.T, f *fixture, seed uint64, raw string) {
	s.Rand, s.raw = rand.New(rand.NewPCG(seed, 7)), raw
	op := s.ops[s.IntN(len(s.ops))]
	target := strings.NewReplacer("{id}", url.PathEscape(s.word()), "{server}",
		url.PathEscape(s.word())).Replace(op.path)
	query := url.Values{}
	for _, name := range op.params {
		if s.IntN(2) == 0 {
			query.Add(name, s.word())
		}
	}
	if s.IntN(10) == 0 {
		query.Add(s.word(), s.word())
	}
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	body := ""
	if op.body != nil {
		b, err := json.Marshal(s.value(op.body, 0))
		if err != nil {
			t.Fatal(err)
		}
		if body = string(b); s.IntN(20) == 0 {
			body = raw
		}
	}
	w := f.do(op.method, target, body, "If-Match", header(s.word()), "If-None-Match", header(s.word()), "X-Session-Id",
		header(s.word()))
	if w.Code < 400 {
		s.good[op.method+op.path]++
	} else {
		s.bad[op.method+op.path]++
	}
	if w.Code == http.StatusInternalServerError || w.Code >= 400 &&
		w.Header().Get("Content-Type") != "application/problem+json" {
		t.Errorf("seed %d: %s %s %s gives %d %s\n%s", seed, op.method, target, body, w.Code, w.Body, f.log)
	}
}

// header drops what no HTTP client can send.
func header(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, s)
}

func strangerFixture(t *testing.T) *fixture {
	f := newFixture(t, nil)
	choice := realChoice{&chooser{}, selection.NewSelector(selection.Options{Searcher: f, Catalog: f})}
	k := &keeper{}
	f.o.Selector, f.o.Preferences, f.o.Operator, f.o.Learner = choice, choice, k, &diary{}
	f.o.Skills = realSkills(t, map[string]string{"read/SKILL.md": "---\nname: read\ndescription: Reads.\n---\n"})
	return f
}

// TestStrangers asks every operation many times, with bodies that are nearly right.
func TestStrangers(t *testing.T) {
	f := strangerFixture(t)
	s := newStranger(t, f)
	for seed := range uint64(12_000) {
		s.ask(t, f, seed, `{"message":`)
	}
	for _, op := range s.ops { // or else nothing was asked that is worth asking
		name := op.method + op.path
		if strings.Contains(name, "overlays") || strings.Contains(name, "quarantine") ||
			strings.Contains(name, "insights") || strings.Contains(name, "/servers/") ||
			strings.Contains(name, "feedback") {
			continue // those of this fixture know few things, or none
		}
		if s.good[name] == 0 || s.bad[name] == 0 && op.body != nil {
			t.Errorf("%s: %d good and %d bad answers", name, s.good[name], s.bad[name])
		}
	}
}

// FuzzOperations does so with inputs that the fuzzer finds.
func FuzzOperations(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, `{"message":"read"}`)
	}
	var (
		fix *fixture // which is dear, and good for all of them
		s   *stranger
	)
	f.Fuzz(func(t *testing.T, seed uint64, raw string) {
		if fix == nil {
			fix = strangerFixture(t)
			fix.o.Logger = slog.New(slog.DiscardHandler)
			s = newStranger(t, fix)
		}
		fix.t, fix.queries, fix.calls = t, nil, nil
		s.ask(t, fix, seed, raw)
	})
}
