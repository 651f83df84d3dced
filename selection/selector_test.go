package selection

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"tooldex/tool"
)

// office is a catalogue whose search is a table: what each message finds, with scores.
type office struct {
	set      *tool.Set
	finds    map[string][]tool.Hit
	groups   map[string][]tool.Group
	searched []string
}

func (o *office) Set() *tool.Set { return o.set }

func (o *office) Search(_ context.Context, q tool.Query) (*tool.Result, error) {
	o.searched = append(o.searched, q.Text)
	if q.Text == "broken" {
		return nil, &tool.Error{Code: tool.Unavailable, Msg: "the catalogue is still being read"}
	}
	res := &tool.Result{Query: q.Text, Confident: q.Text != "unsure", Groups: o.groups[q.Text]}
	for _, h := range o.finds[q.Text] {
		t, _ := o.set.Get(h.ID)
		h.Category = t.Category
		if q.Filter.Match(t) {
			res.Tools = append(res.Tools, h)
		}
	}
	return res, nil
}

// newOffice has ten tools a/0 to a/9 of 25 tokens or so, of which a/9 is always included and a/8 disabled, ten of b,
// and one of 140 tokens.
func newOffice() *office {
	var tools []*tool.Tool
	for _, server := range []string{"a", "b"} {
		for i := range 10 {
			tools = append(tools, &tool.Tool{
				Server: server, Name: fmt.Sprint("tool", i), Category: server + fmt.Sprint(i%2),
				Always: server == "a" && i == 9, Disabled: server == "a" && i == 8,
				InputSchema: json.RawMessage(`{"type":"object"}`),
			})
		}
	}
	tools = append(tools, &tool.Tool{
		Server: "c", Name: "large", InputSchema: json.RawMessage(`{"type":"object"}`), Description: strings.Repeat("word ", 100),
	})
	return &office{set: tool.NewSet(tools, ""), finds: map[string][]tool.Hit{
		"one":     {{ID: "a/tool1", Score: .9}, {ID: "a/tool2", Score: .3}, {ID: "a/tool3", Score: .2}},
		"several": hitsOf("a/tool", 0, 7, .9, .05),
		"weak":    {{ID: "b/tool5", Score: .2}, {ID: "b/tool6", Score: .1}},
		"unsure":  hitsOf("a/tool", 0, 4, .4, .05),
		"large": {
			{ID: "a/tool0", Score: .9},
			{ID: "c/large", Score: .8},
			{ID: "a/tool1", Score: .7},
		},
		"too large": {
			{ID: "c/large", Score: .8},
			{ID: "a/tool0", Score: .7},
			{ID: "a/tool1", Score: .6},
		},
		"b": {{ID: "b/tool1", Score: .9}, {ID: "b/tool2", Score: .85}},
		"two": {
			{ID: "a/tool1", Score: .9},
			{ID: "b/tool1", Score: .3},
			{ID: "a/tool2", Score: .8},
			{ID: "b/tool2", Score: .2},
		},
	}, groups: map[string][]tool.Group{"two": {
		{Tools: []tool.Hit{{ID: "a/tool1"}, {ID: "a/tool2"}}}, {Tools: []tool.Hit{{ID: "b/tool1"}, {ID: "b/tool2"}}},
	}}}
}

func hitsOf(prefix string, from, to int, score, step float64) []tool.Hit {
	var out []tool.Hit
	for i := from; i <= to; i++ {
		out = append(out, tool.Hit{ID: tool.ID(fmt.Sprint(prefix, i)), Score: score - step*float64(i-from)})
	}
	return out
}

func selectorOf(o *office, p Preferences, change ...func(*Options)) *Selector {
	now := newPreferred(p, 1)
	policy := Policy{Tools: o, Preferred: func() *Preferred { return now }}
	options := Options{Searcher: policy.Searcher(o), Catalog: policy.Catalog(o), Preferred: policy.Preferred}
	for _, c := range change {
		c(&options)
	}
	return NewSelector(options)
}

// told writes a selection in short: each tool's ID and origin.
func told(res *Selection) string {
	var out []string
	for _, s := range res.Selected {
		out = append(out, strings.Replace(string(s.ID), "/tool", "", 1)+" "+string(s.Source))
	}
	return strings.Join(out, ", ")
}

func TestSelect(t *testing.T) {
	for name, c := range map[string]struct {
		prefer Preferences
		q      Query
		want   string
	}{
		"core and what is needed": {
			q:    Query{Message: "one"},
			want: "a9 core, a1 search, a2 search, a3 search",
		},
		"a message of spaces around": {
			q:    Query{Message: " one\n"},
			want: "a9 core, a1 search, a2 search, a3 search",
		},
		"the best five and those near": {
			q:    Query{Message: "several"},
			want: "a9 core, a0 search, a1 search, a2 search, a3 search, a4 search, a5 search, a6 search, a7 search",
		},
		"several needs, each served": {
			q:    Query{Message: "two"},
			want: "a9 core, a1 search, a2 search, b1 search, b2 search",
		},
		"no confidence": {q: Query{Message: "unsure"}, want: "a9 core"},
		"no confidence, with a history": {
			q:    Query{Message: "unsure", History: []Turn{{Content: "b"}, {Content: "unsure"}}},
			want: "a9 core, b1 search, b2 search",
		},
		"a better tool has no room, so a lesser one has none": {
			q:    Query{Message: "large", TokenThreshold: 100},
			want: "a9 core, a0 search",
		},
		"only the best tool has no room": {
			q:    Query{Message: "too large", TokenThreshold: 100},
			want: "a9 core, a0 search, a1 search",
		},
		"nothing is found": {q: Query{Message: "nothing"}, want: "a9 core"},
		"asked for by name": {
			q:    Query{Message: "one", Explicit: []string{"b/tool7"}},
			want: "a9 core, b7 explicit, a1 search, a2 search, a3 search",
		},
		"history with less weight": {
			q:    Query{Message: "one", History: []Turn{{Content: "b"}}},
			want: "a9 core, a1 search, a2 search, a3 search",
		},
		"history where little is said": {
			q: Query{
				Message: "weak",
				History: []Turn{{Role: "user", Content: "b"}},
			},
			want: "a9 core, b1 search, b2 search, b5 search, b6 search",
		},
		"what others said": {q: Query{
			Message: "weak",
			History: []Turn{{Role: "assistant", Content: "b"}},
		}, want: "a9 core, b5 search, b6 search"},
		"history too long ago": {
			q: Query{
				Message: "weak",
				History: []Turn{{Content: "b"}, {Content: "x"}, {Content: "y"}},
			},
			want: "a9 core, b5 search, b6 search",
		},
		"most tools": {
			q:    Query{Message: "several", MaxTools: 3},
			want: "a9 core, a0 search, a1 search",
		},
		"most tokens": {
			q:    Query{Message: "several", TokenThreshold: 60},
			want: "a9 core, a0 search, a1 search",
		},
		"most tools by preference": {
			prefer: Preferences{MaxTools: 2},
			q:      Query{Message: "several"}, want: "a9 core, a0 search",
		},
		"the query before preferences": {
			prefer: Preferences{MaxTools: 2},
			q:      Query{Message: "several", MaxTools: 3}, want: "a9 core, a0 search, a1 search",
		},
		"always included, room or not": {
			prefer: Preferences{AlwaysInclude: []string{"b/tool3"}, MaxTools: 2},
			q:      Query{Message: "several"}, want: "a9 core, b3 preference",
		},
		"never included": {
			prefer: Preferences{NeverInclude: []string{"a/tool1", "a/tool9"}},
			q:      Query{Message: "one"}, want: "a2 search, a3 search",
		},
		"never, though asked for": {
			prefer: Preferences{NeverInclude: []string{"a/tool1"}},
			q:      Query{Message: "weak", Explicit: []string{"a/tool1"}},
			want:   "a9 core, b5 search, b6 search",
		},
		"never of a category":           {prefer: Preferences{Categories: map[string]CategoryUse{"A1": CategoryNever}}, q: Query{Message: "one"}, want: "a2 search"},
		"always of a category, if room": {prefer: Preferences{Categories: map[string]CategoryUse{"B0": CategoryAlways}, MaxTools: 6}, q: Query{Message: "one"}, want: "a9 core, a1 search, a2 search, a3 search, b0 preference, b2 preference"},
		"manual": {q: Query{
			Mode: ModeManual, Message: "one",
			Explicit: []string{"b/tool7", "a/tool8"},
		}, want: "b7 explicit"},
		"manual by preference": {prefer: Preferences{
			Mode:          ModeManual,
			AlwaysInclude: []string{"b/tool3"},
		}, q: Query{Message: "one"}, want: "b3 preference"},
		"all but disabled ones": {
			prefer: Preferences{MaxTools: 2},
			q:      Query{Mode: ModeAll},
			want:   "a0 all, a1 all, a2 all, a3 all, a4 all, a5 all, a6 all, a7 all, a9 all, b0 all, b1 all, b2 all, b3 all, b4 all, b5 all, b6 all, b7 all, b8 all, b9 all, c/large all",
		},
		"all, up to some": {
			q:    Query{Mode: ModeAll, MaxTools: 2},
			want: "a0 all, a1 all",
		},
	} {
		t.Run(name, func(t *testing.T) {
			res, err := selectorOf(newOffice(), c.prefer, func(o *Options) { o.NoLifts = true }).Select(t.Context(),
				c.q)
			if err != nil {
				t.Fatal(err)
			}
			if got := told(res); got != c.want {
				t.Errorf("selected %s\nwant     %s", got, c.want)
			}
			tokens := 0
			for i, s := range res.Selected {
				tokens += s.Tokens
				if !strings.Contains(string(res.Tools[i]), `"`+s.Name+`"`) {
					t.Errorf("%s is written as %s", s.Name, res.Tools[i])
				}
			}
			if tokens != res.Tokens || res.Saved != res.AllTokens-tokens || len(res.Tools) != len(res.Selected) {
				t.Errorf("%d tokens, told %d of %d, saved %d", tokens, res.Tokens, res.AllTokens, res.Saved)
			}
		})
	}
}

func TestSelectMistakes(t *testing.T) {
	s := selectorOf(newOffice(), Preferences{}, func(o *Options) { o.NoLifts = true })
	for name, q := range map[string]Query{
		"no message":        {},
		"mode":              {Message: "one", Mode: "some"},
		"format":            {Message: "one", Format: "xml"},
		"tools":             {Message: "one", MaxTools: -1},
		"tokens":            {Message: "one", TokenThreshold: maxLimitToken + 1},
		"deferred for all":  {Message: "one", Format: FormatGemini, Defer: true},
		"a long session":    {Message: "one", Session: strings.Repeat("x", 401)},
		"very many by name": {Message: "one", Explicit: make([]string, maxPreferred+1)},
	} {
		if _, err := s.Select(t.Context(), q); tool.CodeOf(err) != tool.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.Select(t.Context(), Query{Message: "broken"}); tool.CodeOf(err) != tool.Unavailable {
		t.Errorf("an error of the search becomes %v", err)
	}
	res, err := s.Select(t.Context(), Query{
		Message: "several", MaxTools: 8,
		Explicit: []string{"no such", "a/tool8"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []LeftOut{
		{Name: "no such", Why: `no tool is named "no such"`},
		{Name: "a/tool8", Why: "it is disabled"},
		{Name: "a/tool7", Why: "there are 8 tools already"},
	}
	if diff := gocmp.Diff(want, res.LeftOut); diff != "" {
		t.Errorf("left out (-want +got)\n%s", diff)
	}
}

func TestDeferredTools(t *testing.T) {
	res, err := selectorOf(newOffice(), Preferences{}).Select(t.Context(),
		Query{Message: "one", MaxTools: 2, Format: FormatAnthropic, Defer: true, References: true})
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%s %v", res.Tools, res.References)
	want := `[{"name":"a__tool9","description":"tool9","input_schema":{"type":"object","properties":{}}} ` +
		`{"name":"a__tool1","description":"tool1","input_schema":{"type":"object","properties":{}},"defer_loading":true}] [{tool_reference a__tool1}]`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestSelectionsMark wants a selection to say of which tools calls have to be confirmed, by what holds when it is made.
func TestSelectionsMark(t *testing.T) {
	needs := map[tool.ID]bool{"a/tool9": true}
	s := selectorOf(newOffice(), Preferences{}, func(o *Options) {
		o.Confirms = func(t *tool.Tool) bool { return needs[t.ID()] }
	})
	marked := func() (out []tool.ID) {
		res, err := s.Select(t.Context(), Query{Message: "one"})
		if err != nil || len(res.Selected) < 2 {
			t.Fatalf("%v, %v", res, err)
		}
		for _, one := range res.Selected {
			if one.Confirm {
				out = append(out, one.ID)
			}
		}
		return out
	}
	if got := marked(); len(got) != 1 || got[0] != "a/tool9" {
		t.Errorf("marked are %v", got)
	}
	clear(needs)
	if got := marked(); len(got) > 0 {
		t.Errorf("marked are %v, and none needs to be confirmed any more", got)
	}
}

// TestConversation follows a conversation through its turns, beside a task of it and another conversation, until it
// ends.
func TestConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := selectorOf(newOffice(), Preferences{})
		say := func(session, task, message, want string) {
			t.Helper()
			res, err := s.Select(t.Context(), Query{Message: message, Session: session, Task: task})
			if err != nil {
				t.Fatal(err)
			}
			if got := told(res); got != want {
				t.Errorf("%s %s says %q\ngot  %s\nwant %s", session, task, message, got, want)
			}
		}
		say("s", "", "one", "a9 core, a1 search, a2 search, a3 search")
		say("s", "", "b", "a9 core, a1 session, a2 session, a3 session, b1 search, b2 search")
		say("other", "", "weak", "a9 core, b5 search, b6 search")
		say("s", "task", "weak", "a9 core, b5 cache, b6 cache")
		s.Called("s", "b/tool9")
		<-time.After(4 * time.Minute)
		say("s", "", "one", "a9 core, a1 cache, a2 cache, a3 cache, b1 session, b2 session, b9 session")
		<-time.After(4 * time.Minute)
		say("other", "", "b", "a9 core, b1 cache, b2 cache") // it has ended
		say("s", "task", "one", "a9 core, a1 cache, a2 cache, a3 cache")
		<-time.After(2 * time.Minute) // the conversation lasts as long as its task
		say("s", "", "weak", "a9 core, a1 session, a2 session, a3 session, b1 session, b2 session, b9 session, b5 cache, b6 cache")
		<-time.After(defaultIdle + time.Second)
		say("s", "", "weak", "a9 core, b5 search, b6 search")
	})
}

// TestConversationsAreBounded opens more than are remembered.
func TestConversationsAreBounded(t *testing.T) {
	c := newConversations(time.Hour)
	for i := range maxConversations + 10 {
		c.updateTools(conversationKey{session: fmt.Sprint(i)}, []tool.ID{"a/b"}, func(tool.ID) bool { return true })
	}
	if len(c.byKey) != maxConversations || c.recent.Len() != maxConversations ||
		c.toolsOf(conversationKey{session: "0"}) != nil || c.toolsOf(conversationKey{session: "10"}) == nil {
		t.Errorf("%d are kept", len(c.byKey))
	}
	var many []tool.ID
	for i := range maxRemembered + 5 {
		many = append(many, tool.ID(fmt.Sprint("a/", i)))
	}
	c.updateTools(conversationKey{session: "long"}, many, func(id tool.ID) bool { return id > "a/1" })
	if got := c.toolsOf(conversationKey{session: "long"}); len(got) != maxRemembered || slices.Contains(got, "a/0") {
		t.Errorf("%d tools are kept: %v", len(got), got)
	}
}

// TestLiftsAreBounded holds for random scores that no lift puts a tool before another that scores better by more than a
// lift is.
func TestLiftsAreBounded(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	o := newOffice()
	for range 300 {
		f := &searchOutcome{}
		for i := range 8 {
			id := tool.ID(fmt.Sprint([]string{"a", "b"}[random.IntN(2)], "/tool", i))
			one, _ := o.set.Get(id)
			f.hits = append(f.hits, tool.Hit{ID: id, Score: random.Float64(), Category: one.Category})
		}
		slices.SortFunc(f.hits, func(x, y tool.Hit) int { return cmp.Compare(y.Score, x.Score) })
		used := map[tool.ID]bool{f.hits[random.IntN(8)].ID: true, f.hits[random.IntN(8)].ID: true}
		score := map[tool.ID]float64{}
		for _, h := range f.hits {
			score[h.ID] = h.Score
		}
		got := selectorOf(o, Preferences{}).cutHits(o.set, f, used, 1, FromSearch)
		for i, x := range got {
			for _, y := range got[i+1:] {
				a, b := score[x.tool.ID()], score[y.tool.ID()]
				if b > a*(1+maxLift)+1e-9 {
					t.Fatalf("%s of %.3f is before %s of %.3f", x.tool.ID(), a, y.tool.ID(), b)
				}
			}
		}
	}
	near := &searchOutcome{hits: []tool.Hit{
		{ID: "a/tool1", Score: .80, Category: "a1"},
		{ID: "b/tool2", Score: .78, Category: "b0"},
	}}
	if got := selectorOf(o, Preferences{}).cutHits(o.set, near, map[tool.ID]bool{"b/tool2": true}, 1,
		FromSearch); got[0].tool.ID() != "a/tool1" {
		t.Errorf("the category of the best is lifted as much as a call lifts: %s is first", got[0].tool.ID())
	}
	near.hits[0].Category, near.hits[1].Category = "x", "y"
	if got := selectorOf(o, Preferences{}).cutHits(o.set, near, map[tool.ID]bool{"b/tool2": true}, 1,
		FromSearch); got[0].tool.ID() != "b/tool2" {
		t.Errorf("a tool in use is not lifted: %s is first", got[0].tool.ID())
	}
}

// angles makes vectors of messages that are numbers of degrees.
type angles map[string][]float32

func (a angles) Queries(_ context.Context, texts []string) ([][]float32, error) {
	return [][]float32{a[texts[0]]}, nil
}

func TestCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice()
		now := newPreferred(Preferences{}, 1)
		policy := Policy{Tools: o, Preferred: func() *Preferred { return now }}
		s := NewSelector(Options{
			Searcher: policy.Searcher(o), Catalog: policy.Catalog(o), Preferred: policy.Preferred, CacheSize: 2,
			Embedder: angles{"one": {2, 0}, "uno": {1.9, .3}, "b": {0, 3}, "weak": {-1, 0}, "one tool": {2, 0}},
		})
		ask := func(message string, cached bool) {
			t.Helper()
			res, err := s.Select(t.Context(), Query{Message: message})
			if err != nil {
				t.Fatal(err)
			}
			if res.Cached != cached {
				t.Errorf("%s: cached %v", message, res.Cached)
			}
		}
		ask("one", false)
		ask("one", true)
		ask("uno", true)       // near
		ask("one tool", false) // near, but it has a word that names of tools have
		ask("b", false)        // far; "one" was used last before "one tool", so it goes
		ask("one tool", true)
		ask("one", false)
		<-time.After(cacheAge + time.Second)
		ask("one", false)
		now = newPreferred(Preferences{NeverInclude: []string{"b/tool0"}}, 2)
		ask("one", false)
		ask("one", true)
		o.set = tool.NewSet(o.set.All()[1:], "")
		ask("one", false)
	})
	o := newOffice()
	s := selectorOf(o, Preferences{}, func(o *Options) { o.CacheSize = -1 })
	for range 2 {
		if _, err := s.Select(t.Context(), Query{Message: "one"}); err != nil {
			t.Fatal(err)
		}
	}
	if len(o.searched) != 2 {
		t.Errorf("without a cache, %d searches", len(o.searched))
	}
}
