package search

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"tooldex/tool"
)

// TestSameBytesAnywhere makes the index and asks with one processor and with more, of tools in other orders: the
// answers are the same to the byte.
func TestSameBytesAnywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("computes for long, and alone")
	}
	all := variants(t)
	for i, text := range demoQueries(t) {
		if i%5 == 0 {
			all = append(all, tool.Query{Text: text, Limit: 10, Explain: true})
		}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	tools, r := together(t), rand.New(rand.NewPCG(3, 3))
	var want []string
	for _, procs := range []int{1, 7} {
		runtime.GOMAXPROCS(procs)
		r.Shuffle(len(tools), func(i, j int) { tools[i], tools[j] = tools[j], tools[i] })
		e := engineOf(t, tools)
		for i, q := range all {
			got := encoded(t, e, q)
			if len(want) <= i {
				want = append(want, got)
			} else if got != want[i] {
				t.Errorf("%q%q on %d processors:\n%s", q.Text, q.Texts, procs, cmp.Diff(want[i], got))
			}
		}
	}
}

// TestLimitIsAPrefixOfDemo asks every request of the demo, and in every other mode half of them, for few tools and for
// many.
func TestLimitIsAPrefixOfDemo(t *testing.T) {
	asksOften(t)
	e := engineOf(t, together(t))
	modes := []tool.Mode{tool.Hybrid, tool.Keyword, tool.Semantic}
	for i, text := range demoQueries(t) {
		for _, mode := range []tool.Mode{tool.Hybrid, modes[1+i%2]} {
			q := tool.Query{Text: text, Mode: mode, Detail: tool.DetailName, Limit: 20}
			long := mustSearch(t, e, q)
			for k := range 5 {
				q.Limit = 1 + (i*5+k*4)%19
				got := mustSearch(t, e, q)
				want := long.Tools[:min(q.Limit, len(long.Tools))]
				same := slices.EqualFunc(want, got.Tools, func(a, b tool.Hit) bool {
					return a.ID == b.ID && a.Score == b.Score && slices.Equal(a.Also, b.Also)
				})
				if !same || got.Confident != long.Confident || !cmp.Equal(got.Advice, long.Advice) {
					t.Errorf("%s %q, limit %d: %v, of 20: %v; advice %+v, %+v", mode, text, q.Limit, hitIDs(got.Tools),
						hitIDs(want), got.Advice, long.Advice)
				}
			}
		}
	}
}

// TestWritingDoesNotMatter writes the requests of the demo in other ways: they find the same.
func TestWritingDoesNotMatter(t *testing.T) {
	asksOften(t)
	e := engineOf(t, demoCatalogue(t))
	for name, c := range map[string]struct {
		write func(string) string
		least float64 // of the requests find the same five
	}{
		"spaces around":     {func(s string) string { return "  " + s + "\t" }, 1},
		"spaces within":     {func(s string) string { return strings.ReplaceAll(s, " ", " \n ") }, 1},
		"a full stop":       {func(s string) string { return strings.TrimRight(s, ".!?") + "." }, 1},
		"exclamation marks": {func(s string) string { return strings.TrimRight(s, ".!?") + "!!" }, 1},
		"no mark":           {func(s string) string { return strings.TrimRight(s, ".!?") }, 1},
		"in quotes":         {func(s string) string { return "“" + s + "”" }, 1},
		"in brackets":       {func(s string) string { return "(" + s + ")" }, 1},
		// The capitals within words, and those of names, say something.
		"lower case": {strings.ToLower, .95},
		"upper case": {strings.ToUpper, .95},
		"first letter": {func(s string) string {
			_, n := utf8.DecodeRuneInString(s)
			return strings.ToUpper(s[:n]) + s[n:]
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			same, all := 0, 0
			for _, text := range demoQueries(t) {
				a, b := hitIDs(mustSearch(t, e, tool.Query{Text: text}).Tools),
					hitIDs(mustSearch(t, e, tool.Query{Text: c.write(text)}).Tools)
				all++
				if slices.Equal(a, b) {
					same++
				} else if testing.Verbose() {
					t.Logf("%q: %v\n%q: %v", text, a, c.write(text), b)
				}
			}
			if share := float64(same) / float64(all); share < c.least {
				t.Errorf("%d of %d requests find the same", same, all)
			}
		})
	}
}

// TestRenamedServer gives a server another name: requests that find none of its tools find what they found.
func TestRenamedServer(t *testing.T) {
	asksOften(t)
	before := engineOf(t, demoCatalogue(t))
	for _, renamed := range []string{"chat", "payments"} {
		t.Run(renamed, func(t *testing.T) {
			tools := demoCatalogue(t)
			for i, one := range tools {
				if one.Server == renamed {
					again := *one
					again.Server = "quux"
					tools[i] = &again
				}
			}
			after := engineOf(t, tools)
			var agreed, all float64
			for _, text := range demoQueries(t) {
				a, b := mustSearch(t, before, tool.Query{Text: text}).Tools,
					mustSearch(t, after, tool.Query{Text: text}).Tools
				if slices.ContainsFunc(a, func(h tool.Hit) bool { return h.Server == renamed }) ||
					slices.ContainsFunc(b, func(h tool.Hit) bool { return h.Server == "quux" }) {
					continue
				}
				all++
				agreed += overlap(hitIDs(a), hitIDs(b))
			}
			t.Logf("%.4f agreement over %v requests", agreed/all, all)
			if all < 100 || agreed/all < .99 {
				t.Errorf("only %.4f agreement over %v requests", agreed/all, all)
			}
		})
	}
}

// TestUnrelatedToolsChangeNothing adds to a thousand tools one that has nothing to do with any request, twice another,
// and compares the first ten and the first five of the demo's requests.
func TestUnrelatedToolsChangeNothing(t *testing.T) {
	asksOften(t)
	tools := archetypeTools(t, 1000)
	first := func(e *Engine) (out [][]tool.ID) {
		for _, text := range demoQueries(t) {
			out = append(out, hitIDs(mustSearch(t, e, tool.Query{
				Text: text, Limit: 10,
				Detail: tool.DetailName,
			}).Tools))
		}
		return out
	}
	want := first(engineOf(t, tools))
	for i, description := range []string{
		"Apply a coat of glaze to a stoneware bowl before its second firing.",
		"Tune the strings of a harpsichord to a temperament.",
	} {
		t.Run(description, func(t *testing.T) {
			more := append(slices.Clone(tools), &tool.Tool{
				Server: fmt.Sprintf("craft%d", i), Name: strings.ToLower(strings.Join(strings.Fields(description)[:2],
					"_")), Description: description,
				InputSchema: json.RawMessage(`{"type":"object"}`),
			})
			var agreed, sets float64
			for k, got := range first(engineOf(t, more)) {
				agreed += overlap(want[k], got)
				a, b := slices.Sorted(slices.Values(want[k][:min(5, len(want[k]))])),
					slices.Sorted(slices.Values(got[:min(5, len(got))]))
				if slices.Equal(a, b) {
					sets++
				}
			}
			n := float64(len(want))
			t.Logf("%.4f agreement, %.4f of the first fives are the same", agreed/n, sets/n)
			if agreed/n < .99 || sets/n < .98 {
				t.Errorf("only %.4f agreement, %.4f of the first fives are the same", agreed/n, sets/n)
			}
		})
	}
}

// overlap says how much two rankings agree: at each depth, the share of the tools that both have so far, on the mean.
func overlap(a, b []tool.ID) float64 {
	n := max(len(a), len(b))
	if n == 0 {
		return 1
	}
	var sum float64
	for d := 1; d <= n; d++ {
		both := 0
		for _, id := range a[:min(d, len(a))] {
			if slices.Contains(b[:min(d, len(b))], id) {
				both++
			}
		}
		sum += float64(both) / float64(d)
	}
	return sum / float64(n)
}

// asksOften leaves a test out of the short run, which is that under the race detector: it asks some thousand times, one
// after the other, and takes minutes there.
func asksOften(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("asks too often for a short run")
	}
}
