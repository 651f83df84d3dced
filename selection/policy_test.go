package selection

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tooldex/tool"
	"tooldex/upstream"
)

// world is a catalogue whose search finds all that a query lets through, and whose servers note what reaches them.
type world struct {
	set    *tool.Set
	called []tool.ID
	asked  []string
}

func (w *world) Set() *tool.Set { return w.set }

func (w *world) Search(_ context.Context, q tool.Query) (*tool.Result, error) {
	res := &tool.Result{Tools: []tool.Hit{}}
	for _, t := range w.set.All() {
		if q.Filter.Match(t) && (q.Limit == 0 || len(res.Tools) < q.Limit) {
			res.Tools = append(res.Tools, tool.Hit{ID: t.ID(), Exposed: w.set.Exposed(t.ID())})
		}
	}
	return res, nil
}

func (w *world) Call(_ context.Context, c tool.Call) (*tool.CallResult, error) {
	w.called = append(w.called, c.ID)
	return &tool.CallResult{Raw: json.RawMessage(`{}`)}, nil
}

func (w *world) Features() []upstream.Features {
	var out []upstream.Features
	for _, c := range w.set.Servers() {
		out = append(out, upstream.Features{Server: c.Name})
	}
	return out
}

func (w *world) Forward(_ context.Context, r upstream.Request) (json.RawMessage, error) {
	w.asked = append(w.asked, r.Server)
	return json.RawMessage(`{}`), nil
}

func newWorld(servers, tools int) *world {
	var all []*tool.Tool
	for s := range servers {
		for i := range tools {
			all = append(all, &tool.Tool{Server: fmt.Sprint("server", s), Name: fmt.Sprint("tool", i)})
		}
	}
	return &world{set: tool.NewSet(all, "")}
}

// TestWhatIsDeniedIsNeitherFoundNorCalled holds for random policies, and that all that is allowed is both. Each of the
// rounds puts some forty questions: to search, to list, and to call and ask each tool.
func TestWhatIsDeniedIsNeitherFoundNorCalled(t *testing.T) {
	rounds := 2_700
	if testing.Short() {
		rounds = 200
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range rounds {
		w := newWorld(6, 3)
		var p Policy
		for s := range 8 { // two of which do not exist
			if random.IntN(3) == 0 {
				p.Servers = append(p.Servers, fmt.Sprint("server", s))
			}
		}
		only := map[string]bool{} // servers of which some tools are named
		for _, one := range w.set.All() {
			switch random.IntN(8) {
			case 0:
				p.Only, only[one.Server] = append(p.Only, string(one.ID())), true
			case 1:
				p.Hidden = append(p.Hidden, string(one.ID()))
			}
		}
		allowed := func(server string) bool { return len(p.Servers) == 0 || slices.Contains(p.Servers, server) }
		exists := func(one *tool.Tool) bool {
			id := string(one.ID())
			return allowed(one.Server) && !slices.Contains(p.Hidden, id) &&
				(!only[one.Server] || slices.Contains(p.Only, id))
		}
		var want []tool.ID
		for _, one := range w.set.All() {
			if exists(one) {
				want = append(want, one.ID())
			}
		}
		var found, listed []tool.ID
		res, err := p.Searcher(w).Search(t.Context(), tool.Query{Text: "x"})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range res.Tools {
			found = append(found, h.ID)
		}
		set := p.Catalog(w).Set()
		for _, one := range set.All() {
			listed = append(listed, one.ID())
			if set.Exposed(one.ID()) != w.set.Exposed(one.ID()) {
				t.Errorf("%v: %s is exposed as %s", p, one.ID(), set.Exposed(one.ID()))
			}
		}
		for _, one := range w.set.All() {
			_, err := p.Caller(w).Call(t.Context(), tool.Call{ID: one.ID()})
			if exists(one) != (err == nil) || err != nil && tool.CodeOf(err) != tool.NotFound {
				t.Errorf("%v: a call of %s gives %v", p, one.ID(), err)
			}
			_, err = p.Upstreams(w).Forward(t.Context(), upstream.Request{Server: one.Server})
			if allowed(one.Server) != (err == nil) || err != nil && tool.CodeOf(err) != tool.NotFound {
				t.Errorf("%v: a request to %s gives %v", p, one.Server, err)
			}
		}
		for what, got := range map[string][]tool.ID{"found": found, "listed": listed, "called": w.called} {
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("%v: %s (-want +got):\n%s", p, what, diff)
			}
		}
		if slices.ContainsFunc(w.asked, func(server string) bool { return !allowed(server) }) {
			t.Errorf("%v: asked %v", p, w.asked)
		}
		for _, f := range p.Upstreams(w).Features() {
			if !allowed(f.Server) {
				t.Errorf("%v: %s is shown", p, f.Server)
			}
		}
	}
}

func TestQueryIsNarrowed(t *testing.T) {
	w := newWorld(3, 5)
	p := Policy{Reach: Reach{Servers: []string{"server1"}}}
	asked := 0
	q := tool.Query{Limit: 2, Filter: tool.Filter{Allow: func(one *tool.Tool) bool {
		asked++
		return one.Name != "tool0"
	}}}
	res, err := p.Searcher(w).Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var got []tool.ID
	for _, h := range res.Tools {
		got = append(got, h.ID)
	}
	if diff := gocmp.Diff([]tool.ID{"server1/tool1", "server1/tool2"}, got); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
	if asked != 5 {
		t.Errorf("the query's own filter saw %d tools, want the five of the server", asked)
	}
}

func TestSetIsMadeOnce(t *testing.T) {
	w := newWorld(2, 2)
	c := Policy{Reach: Reach{Servers: []string{"server0"}}}.Catalog(w)
	first := c.Set()
	if c.Set() != first {
		t.Error("the set is made again though nothing changed")
	}
	w.set = newWorld(2, 3).set
	if n := c.Set().Len(); n != 3 {
		t.Errorf("%d tools after the change, want 3", n)
	}
	w.set = nil
	if c.Set() != nil {
		t.Error("no set became one")
	}
}

// TestReach changes which servers a policy allows while it is in use: what was made of it before follows.
func TestReach(t *testing.T) {
	w := newWorld(3, 2)
	var servers []string
	p := Policy{Current: func() Reach { return Reach{Servers: servers} }, Tools: w}
	catalog, searcher, caller, upstreams := p.Catalog(w), p.Searcher(w), p.Caller(w), p.Upstreams(w)
	for _, step := range []struct {
		servers []string
		tools   int
	}{{nil, 6}, {[]string{"server1"}, 2}, {[]string{"server1", "server2"}, 4}, {[]string{"/"}, 0}, {nil, 6}} {
		servers = step.servers
		found, err := searcher.Search(t.Context(), tool.Query{})
		if err != nil || len(found.Tools) != step.tools || catalog.Set().Len() != step.tools ||
			len(upstreams.Features()) != step.tools/2 {
			t.Errorf("%v: found %v, listed %d, offered %d; %v", step.servers, found, catalog.Set().Len(),
				len(upstreams.Features()), err)
		}
		if first, again := catalog.Set(), catalog.Set(); first != again {
			t.Errorf("%v: the set is made anew each time", step.servers)
		}
		_, err = caller.Call(t.Context(), tool.Call{ID: "server0/tool0"})
		if may := len(step.servers) == 0; (err == nil) != may {
			t.Errorf("%v: a call gives %v", step.servers, err)
		}
		if _, err := upstreams.Forward(t.Context(),
			upstream.Request{Server: "server0"}); (err == nil) != (len(step.servers) == 0) {
			t.Errorf("%v: a request gives %v", step.servers, err)
		}
	}
}

// TestReachOfPatterns names tools by patterns.
func TestReachOfPatterns(t *testing.T) {
	var all []*tool.Tool
	for _, id := range []string{"files/read", "files/read_all", "files/write", "notes/read", "notes/write", "notes/drop_all"} {
		server, name, _ := strings.Cut(id, "/")
		all = append(all, &tool.Tool{Server: server, Name: name})
	}
	set := tool.NewSet(all, "")
	for name, tt := range map[string]struct {
		reach Reach
		want  string
	}{
		"a server's tools":    {Reach{Only: []string{"files/read*"}}, "files/read files/read_all notes/drop_all notes/read notes/write"},
		"of all servers":      {Reach{Only: []string{"*/read"}}, "files/read notes/read"},
		"none of a server":    {Reach{Hidden: []string{"files/*"}}, "notes/drop_all notes/read notes/write"},
		"hidden by name":      {Reach{Hidden: []string{"write"}}, "files/read files/read_all notes/drop_all notes/read"},
		"both, hidden wins":   {Reach{Only: []string{"files/*"}, Hidden: []string{"*_all"}}, "files/read files/write notes/read notes/write"},
		"with servers":        {Reach{Servers: []string{"notes"}, Only: []string{"files/read", "notes/read"}}, "notes/read"},
		"an unknown server":   {Reach{Only: []string{"gone/x"}, Hidden: []string{"gone/*"}}, "files/read files/read_all files/write notes/drop_all notes/read notes/write"},
		"a name within names": {Reach{Only: []string{"file/read"}}, "files/read files/read_all files/write notes/drop_all notes/read notes/write"},
	} {
		var got []string
		for _, one := range (Policy{Reach: tt.reach}).Catalog(&world{set: set}).Set().All() {
			got = append(got, string(one.ID()))
		}
		slices.Sort(got)
		if diff := gocmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestZeroPolicyAddsNothing(t *testing.T) {
	w := newWorld(2, 2)
	var p Policy
	if p.Searcher(w) != tool.Searcher(w) || p.Caller(w) != tool.Caller(w) || p.Catalog(w) != tool.Catalog(w) ||
		p.Upstreams(w) != Upstreams(w) {
		t.Error("the zero policy wraps what it lets through")
	}
}

func TestRequestsToAllPass(t *testing.T) {
	w := newWorld(2, 2)
	p := Policy{Reach: Reach{Servers: []string{"server0"}}}
	if _, err := p.Upstreams(w).Forward(t.Context(),
		upstream.Request{Method: "notifications/roots/list_changed"}); err != nil || len(w.asked) != 1 {
		t.Errorf("asked %q, %v", w.asked, err)
	}
}
