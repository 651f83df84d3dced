package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/access"
	"tooldex/catalog/sources"
	"tooldex/config"
	"tooldex/enrich"
	"tooldex/gateway"
	"tooldex/httpapi"
	"tooldex/mcpsrv"
	"tooldex/selection"
	"tooldex/service"
	"tooldex/tool"
	"tooldex/upstream"
)

// permissionCases is how many requests TestPermissions makes: with TOOLDEX_SOAK all of them, otherwise a sample, and
// with -short a small one.
const (
	permissionCases = 100_000
	permissionSome  = 5_000
	permissionShort = 2_500
	permissionRound = 1_250 // requests to each catalogue
)

// TestPermissions asks services that see parts of random catalogues for random things, in all ways in which clients
// ask. Every tool and server has a mark that nothing else has: what may not be seen is nowhere in an answer, and
// nothing that is not allowed is called.
func TestPermissions(t *testing.T) {
	cases := permissionSome
	switch {
	case testing.Short() || raceEnabled:
		cases = permissionShort
	case os.Getenv("TOOLDEX_SOAK") != "":
		cases = permissionCases
	}
	w := newPermissionWorld(t)
	for done := 0; done < cases && !t.Failed(); done += permissionRound {
		w.anew(done)
		for range permissionRound {
			w.ask()
		}
	}
	for kind, n := range w.asked {
		if n.shown == 0 && !slices.Contains([]string{
			"learned", "feedback", "insight", "overlay", "metrics",
			"preferences",
		}, kind) {
			t.Errorf("none of %d answers of %s shows anything, so nothing was tested", n.all, kind)
		}
	}
	w.measure()
	for kind, n := range w.asked {
		t.Logf("%s: %d answers, %d of which show something", kind, n.all, n.shown)
	}
}

// permissionWorld is a real stack, with random tools in it, whose upstreams note what reaches them.
type permissionWorld struct {
	t      *testing.T
	rand   *rand.Rand
	config config.Config
	stack  *service.Service
	all    *surfaces
	gw     *gateway.Gateway
	asked  map[string]*permissionCount

	tools   []*tool.Tool
	servers []string
	views   []*permissionView

	mu     sync.Mutex
	called []tool.ID
	sent   []string // servers that were asked for something beside tools
}

type permissionCount struct{ all, shown int }

// permissionView is what a token sees, and how it asks.
type permissionView struct {
	access.View
	http    http.Handler
	absent  http.Handler // of a catalogue in which there is nothing else than what the view shows
	session *mcp.ClientSession
	shows   map[string]bool // marks of tools
	sees    map[string]bool // of servers
	set     *tool.Set
}

var (
	toolMark   = regexp.MustCompile(`qx\d{3}`)
	serverMark = regexp.MustCompile(`srvqy\d{4}`)
	nameMark   = regexp.MustCompile(`srvqy\d{4}(?:__|/)[a-z]+_[a-z]+(?:_qx\d{3})?`)
)

var (
	verbs = []string{"read", "write", "list", "delete", "send", "create", "search", "move"}
	nouns = []string{"file", "issue", "message", "invoice", "calendar", "image", "branch", "contact"}
)

func newPermissionWorld(t *testing.T) *permissionWorld {
	t.Helper()
	w := &permissionWorld{
		t: t, rand: rand.New(rand.NewPCG(8, 15)), asked: map[string]*permissionCount{},
		gw: gateway.New(gateway.Options{}),
	}
	loader, err := config.Load(config.Options{NoFile: true, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	w.config = *loader.Config()
	w.config.Audit.On = false
	w.stack, err = service.Open(t.Context(), service.Options{
		Dir: t.TempDir(), Use: service.ToSearch, Serving: true, Config: func() *config.Config { return &w.config },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.stack.Close() })
	t.Cleanup(func() { _ = w.gw.Close() })
	return w
}

// Call notes what reaches the upstreams.
func (w *permissionWorld) Call(_ context.Context, c tool.Call) (*tool.CallResult, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.called = append(w.called, c.ID)
	return &tool.CallResult{Raw: json.RawMessage(`{"content":[{"type":"text","text":"done"}]}`)}, nil
}

// Features has each server offer a prompt, a resource and a template under its mark.
func (w *permissionWorld) Features() []upstream.Features {
	var out []upstream.Features
	for _, name := range w.servers {
		out = append(out, upstream.Features{
			Server: name, Prompts: []json.RawMessage{fmt.Appendf(nil, `{"name":"ask%s","arguments":[{"name":"a"}]}`,
				name)},
			Resources: []json.RawMessage{fmt.Appendf(nil, `{"name":"r","uri":"res://%s/r"}`, name)},
			Templates: []json.RawMessage{fmt.Appendf(nil, `{"name":"t","uriTemplate":"res://%s/{id}"}`, name)},
		})
	}
	return out
}

// Forward notes which server is asked.
func (w *permissionWorld) Forward(_ context.Context, r upstream.Request) (json.RawMessage, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = append(w.sent, r.Server)
	return json.RawMessage(`{"contents":[],"messages":[],"completion":{"values":["` + r.Server + `"]}}`), nil
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// anew makes another catalogue, other profiles, and views of them.
func (w *permissionWorld) anew(seed int) {
	w.t.Helper()
	for _, v := range w.views {
		_ = v.session.Close()
	}
	if w.all != nil {
		_ = w.all.shutdownAll(0)
	}
	w.makeTools(seed)
	profiles := map[string]config.Profile{}
	for i := range 5 {
		p := config.Profile{Mode: "full"}
		for _, s := range w.servers {
			if w.rand.IntN(2) == 0 {
				p.Servers = append(p.Servers, s)
			}
		}
		if i == 0 || len(p.Servers) == 0 {
			p.Servers = []string{w.servers[0], "srvqy9999"} // which does not exist
		}
		profiles[fmt.Sprint("p", i)] = p
	}
	w.config.Profiles = profiles
	views, err := w.stack.NewViews(w.t.Context(), service.ViewOptions{Gateway: w})
	if err != nil {
		w.t.Fatal(err)
	}
	w.all = newSurfaces(views, mcpsrv.Options{
		Related: w.stack.Engine, Learner: w.stack.Learner, Enricher: enrich.New(w.stack.Catalog), AnyHost: true,
		Logger: slog.New(slog.DiscardHandler),
	})
	w.all.http = httpapi.Options{Upstreams: w.gw, Logger: slog.New(slog.DiscardHandler)}
	w.hide(profiles)
	w.views = nil
	for name := range profiles {
		for _, readOnly := range []bool{false, true} {
			w.views = append(w.views, w.newView(access.View{Profile: name, ReadOnly: readOnly}))
		}
	}
	slices.SortFunc(w.views, func(a, b *permissionView) int {
		return strings.Compare(fmt.Sprint(a.View), fmt.Sprint(b.View))
	})
}

// makeTools puts random tools into the catalogue, some of them the same on several servers, and some that name others.
func (w *permissionWorld) makeTools(seed int) {
	w.t.Helper()
	old := w.servers
	w.servers, w.tools = nil, nil
	mark := seed
	var all []sources.Source
	for range 3 + w.rand.IntN(3) {
		name := fmt.Sprintf("srvqy%04d", seed/permissionRound*10+len(w.servers))
		w.servers = append(w.servers, name)
		g := memorySource{name: name}
		for i := range 2 + w.rand.IntN(4) {
			verb, noun := pick(w.rand, verbs), pick(w.rand, nouns)
			one := &tool.Tool{Server: name, InputSchema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)}
			if i == 0 { // which others have, too
				one.Name, one.Description = "read_note", "Read a note of the notebook by its title"
			} else {
				mark++
				m := fmt.Sprintf("qx%03d", mark%900)
				one.Name = verb + "_" + noun + "_" + m
				one.Title, one.Description, one.Category = verb+" "+m, fmt.Sprintf("%s the %s that somebody keeps, %s",
					verb, noun, m), "cat"+m
				one.Utterances = []tool.Utterance{{Text: "please " + verb + " my " + noun}}
				one.InputSchema = fmt.Appendf(nil,
					`{"type":"object","properties":{"a_%s":{"type":"string","enum":["%s"]}}}`, m, m)
			}
			if yes := w.rand.IntN(2) == 0; yes {
				one.Annotations = &tool.Annotations{ReadOnlyHint: &yes}
			}
			if len(w.tools) > 0 && w.rand.IntN(2) == 0 {
				one.Related = []tool.ID{pick(w.rand, w.tools).ID()}
			}
			if !slices.ContainsFunc(g.tools, func(have *tool.Tool) bool { return have.Name == one.Name }) {
				g.tools, w.tools = append(g.tools, one), append(w.tools, one)
			}
		}
		all = append(all, g)
	}
	for _, name := range old {
		if !slices.Contains(w.servers, name) {
			if _, err := w.stack.Catalog.Remove(w.t.Context(), name); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	if _, err := w.stack.Catalog.SyncAll(w.t.Context(), all); err != nil {
		w.t.Fatal(err)
	}
	w.tools = w.stack.Catalog.Set().All()
}

// hide has each profile prefer not to see something.
func (w *permissionWorld) hide(profiles map[string]config.Profile) {
	w.t.Helper()
	for name := range profiles {
		var p selection.Preferences
		if w.rand.IntN(2) == 0 {
			var own []*tool.Tool
			for _, one := range w.tools {
				if slices.Contains(profiles[name].Servers, one.Server) {
					own = append(own, one)
				}
			}
			if len(own) > 0 {
				p.NeverInclude = []string{string(pick(w.rand, own).ID())}
				if c := pick(w.rand, own).Category; c != "" {
					p.Categories = map[string]selection.CategoryUse{c: selection.CategoryNever}
				}
			}
		}
		_, version, err := w.all.views.Preferences(w.t.Context(), name)
		if err == nil {
			_, _, err = w.all.views.SetPreferences(w.t.Context(), name, version, p)
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *permissionWorld) newView(key access.View) *permissionView {
	w.t.Helper()
	one, err := w.all.surfaceOf(key)
	if err != nil {
		w.t.Fatal(err)
	}
	srv, err := one.http()
	if err != nil {
		w.t.Fatal(err)
	}
	allowed := one.Catalog.Set()
	out := &permissionView{View: key, http: srv.Handler(), shows: map[string]bool{}, sees: map[string]bool{}}
	var shown []*tool.Tool
	for _, t := range w.tools {
		if _, ok := allowed.Get(t.ID()); ok {
			shown = append(shown, t)
			out.shows[string(t.ID())] = true
			for _, m := range toolMark.FindAllString(t.Name, -1) {
				out.shows[m] = true
			}
		}
		if one.AllowsServer(t.Server) {
			out.sees[t.Server] = true
		}
	}
	out.sees["srvqy9999"] = slices.Contains(w.config.Profiles[key.Profile].Servers, "srvqy9999")
	out.set = tool.NewSet(shown, tool.DefaultTemplate)
	// what the profile hides by itself it may name
	servers := w.config.Profiles[key.Profile].Servers
	bare, err := httpapi.New(httpapi.Options{
		Searcher: w.stack.Engine, Caller: w, Catalog: fixedSet{out.set},
		Learner: w.stack.Learner, Preferences: barePreferences{ownSet(w.tools, servers)}, Profile: key.Profile,
		ReadOnly: key.ReadOnly,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	out.absent = bare.Handler()
	there, here := mcp.NewInMemoryTransports()
	go func() { _ = one.mcp.Run(w.t.Context(), there) }() // until the session is closed
	if out.session, err = mcp.NewClient(&mcp.Implementation{Name: "p", Version: "1"}, nil).Connect(w.t.Context(), here,
		nil); err != nil {
		w.t.Fatal(err)
	}
	return out
}

// ownSet is a catalogue of nothing but the tools of a profile.
func ownSet(tools []*tool.Tool, servers []string) *tool.Set {
	var own []*tool.Tool
	for _, t := range tools {
		if slices.Contains(servers, t.Server) {
			own = append(own, t)
		}
	}
	return tool.NewSet(own, tool.DefaultTemplate)
}

// barePreferences are those of a catalogue in which there is nothing else.
type barePreferences struct{ set *tool.Set }

func (barePreferences) Preferences(context.Context, string) (selection.Preferences, uint64, error) {
	return selection.Preferences{}, 0, nil
}

func (b barePreferences) SetPreferences(_ context.Context, _ string, _ uint64, p selection.Preferences) (selection.Preferences,
	uint64, error,
) {
	if _, err := selection.Check(p, b.set); err != nil {
		return p, 0, err
	}
	return p, 0, tool.ErrConflict
}

type fixedSet struct{ set *tool.Set }

func (f fixedSet) Set() *tool.Set { return f.set }

// ask makes one request, and looks at all of its answer.
func (w *permissionWorld) ask() {
	v := pick(w.rand, w.views)
	target := pick(w.rand, w.tools) // whether the view shows it or not
	kinds := permissionKinds
	kind := kinds[w.rand.IntN(len(kinds))]
	w.called, w.sent = w.called[:0], w.sent[:0]
	request, answer := kind.ask(w, v, target)
	n := w.asked[kind.name]
	if n == nil {
		n = &permissionCount{}
		w.asked[kind.name] = n
	}
	n.all++
	if leaks := v.leaks(request, answer); len(leaks) > 0 {
		w.t.Errorf("%s of %v: %s\ntells of %v, which it may not see:\n%.3000s", kind.name, v.View, request, leaks,
			answer)
	}
	if serverMark.MatchString(strings.ReplaceAll(answer, request, "")) || toolMark.MatchString(answer) {
		n.shown++
	}
	for _, id := range w.called {
		if !v.shows[string(id)] {
			w.t.Errorf("%s of %v: %s\ncalls %s", kind.name, v.View, request, id)
		}
	}
	for _, server := range w.sent {
		if server != "" && !v.sees[server] {
			w.t.Errorf("%s of %v: %s\nasks %s", kind.name, v.View, request, server)
		}
	}
}

// leaks lists the marks in an answer of what may not be seen and was not in the request.
func (v *permissionView) leaks(request, answer string) []string {
	var out []string
	for _, m := range toolMark.FindAllString(answer, -1) {
		if !v.shows[m] && !strings.Contains(request, m) {
			out = append(out, m)
		}
	}
	for _, m := range serverMark.FindAllString(answer, -1) {
		if !v.sees[m] && !strings.Contains(request, m) {
			out = append(out, m)
		}
	}
	for _, m := range nameMark.FindAllString(answer, -1) {
		if id := strings.Replace(m, "__", "/", 1); !v.shows[id] && !strings.Contains(request, m) {
			out = append(out, m)
		}
	}
	return out
}

// words is a request in words of a tool, without its mark, unless it is to have it.
func (w *permissionWorld) words(t *tool.Tool, marked bool) string {
	text := pick(w.rand, []string{
		t.Description, strings.ReplaceAll(t.Name, "_", " "),
		"please " + strings.ReplaceAll(t.Name, "_", " my ") + " and read a note",
	})
	if !marked {
		text = toolMark.ReplaceAllString(text, "")
	}
	return strings.TrimSpace(text)
}

// permissionKinds are the ways in which clients ask.
var permissionKinds = []struct {
	name string
	ask  func(w *permissionWorld, v *permissionView, t *tool.Tool) (request, answer string)
}{
	{"search", func(w *permissionWorld, v *permissionView, t *tool.Tool) (string, string) {
		return v.call(w, "search_tools", map[string]any{
			"query": w.words(t, w.rand.IntN(4) == 0),
			"limit": 1 + w.rand.IntN(20), "explain": w.rand.IntN(2) == 0, "detail": pick(w.rand,
				[]string{"name", "summary", "signature", "schema"}),
		})
	}},
	{"search by HTTP", func(w *permissionWorld, v *permissionView, t *tool.Tool) (string, string) {
		return v.get(w, "GET", "/search?explain=true&detail=schema&q="+url.QueryEscape(w.words(t, w.rand.IntN(4) == 0)),
			"")
	}},
	{"search within", func(w *permissionWorld, v *permissionView, t *tool.Tool) (string, string) {
		return v.get(w, "GET", "/search?server="+t.Server+"&category="+url.QueryEscape(t.Category)+"&q="+url.QueryEscape(w.words(t, false)), "")
	}},
	{"describe", func(w *permissionWorld, v *permissionView, t *tool.Tool) (string, string) {
		return v.call(w, "get_tool_description", map[string]any{"name": w.spelled(t), "utterances": true})
	}},
	{"list", func(w *permissionWorld, v *permissionView, t *tool.Tool) (string, string) {
		args := map[string]any{}
		if w.rand.IntN(2) == 0 {
			args["server"] = t.Server
		}
		return v.call(w, "list_available_tools", args)
	}},
	{"categories", func(w *permissionWorld, v *permissionView, _ *tool.Tool) (string, string) {
		return v.call(w, "list_tool_categories", nil)
	}},
	{"invoke", func(w *permissionWorld, v *permissionView, t *tool.Tool) (string, string) {
		return v.call(w, "invoke_tool", map[string]any{"name": w.spelled(t), "arguments": map[string]any{}})
	}},
	{"call", func(w *permissionWorld, v *permissionView, t *tool.Tool) (string, string) {
		return v.call(w, w.spelled(t), map[string]any{"path": "a"})
	}},
	{"tools/list", func(w *permissionWorld, v *permissionView, _ *tool.Tool) (string, string) {
		res, err := v.session.ListTools(w.t.Context(), nil)
		return "", said(res, err)
	}},
	{"prompts", func(w *permissionWorld, v *permissionView, t *tool.Tool) (string, string) {
		if w.rand.IntN(2) == 0 {
			res, err := v.session.ListPrompts(w.t.Context(), nil)
			return "", said(res, err)
		}
		name := pick(w.rand, []string{"ask" + t.Server, t.Server + "__ask" + t.Server})
		return v.alike(w, t.Server, name, func(name string) string {
			res, err := v.session.GetPrompt(w.t.Context(), &mcp.GetPromptParams{Name: name})
			return said(res, err)
		})
	}},
	{"resources", func(w *permissionWorld, v *permissionView, t *tool.Tool) (string, string) {
		switch w.rand.IntN(3) {
		case 0:
			res, err := v.session.ListResources(w.t.Context(), nil)
			return "", said(res, err)
		case 1:
			res, err := v.session.ListResourceTemplates(w.t.Context(), nil)
			return "", said(res, err)
		}
		return v.alike(w, t.Server, "res://"+t.Server+"/r", func(uri string) string {
			res, err := v.session.ReadResource(w.t.Context(), &mcp.ReadResourceParams{URI: uri})
			return said(res, err)
		})
	}},
	{"complete", func(w *permissionWorld, v *permissionView, t *tool.Tool) (string, string) {
		name := pick(w.rand, []string{"ask" + t.Server, t.Server + "__ask" + t.Server})
		return v.alike(w, t.Server, name, func(name string) string {
			res, err := v.session.Complete(w.t.Context(),
				&mcp.CompleteParams{
					Ref:      &mcp.CompleteReference{Type: "ref/prompt", Name: name},
					Argument: mcp.CompleteParamsArgument{Name: "a", Value: "s"},
				})
			return said(res, err)
		})
	}},
	{"select", func(w *permissionWorld, v *permissionView, t *tool.Tool) (string, string) {
		body, _ := json.Marshal(map[string]any{
			"message": w.words(t, false),
			"mode":    pick(w.rand, []string{"auto", "all", "manual"}), "explicitTools": pick(w.rand,
				[][]string{nil, {w.spelled(t)}}), "profile": v.Profile, "session": "s",
		})
		return v.get(w, "POST", "/api/tools/select", string(body))
	}},
	{"tools", func(w *permissionWorld, v *permissionView, _ *tool.Tool) (string, string) {
		request, answer := v.get(w, "GET", "/api/tools?include_disabled=true", "")
		if want := fmt.Sprintf(`"total":%d}`, v.set.Len()); !strings.Contains(answer, want) {
			w.t.Errorf("%v counts otherwise than %s: %s", v.View, want, answer)
		}
		return request, answer
	}},
	{"tool", func(w *permissionWorld, v *permissionView, t *tool.Tool) (string, string) {
		return v.same(w, t, "GET", "/api/tools/"+url.PathEscape(w.spelled(t)), "")
	}},
	{"call by HTTP", func(w *permissionWorld, v *permissionView, t *tool.Tool) (string, string) {
		return v.same(w, t, "POST", "/api/tools/"+url.PathEscape(w.spelled(t))+"/call", `{}`)
	}},
	{"categories by HTTP", func(w *permissionWorld, v *permissionView, _ *tool.Tool) (string, string) {
		return v.get(w, "GET", "/api/tools/categories", "")
	}},
	{"servers", func(w *permissionWorld, v *permissionView, _ *tool.Tool) (string, string) {
		return v.get(w, "GET", "/api/servers", "")
	}},
	{"feedback", func(w *permissionWorld, v *permissionView, t *tool.Tool) (string, string) {
		body, _ := json.Marshal(map[string]any{"query": w.words(t, false), "tool": w.spelled(t)})
		return v.same(w, t, "POST", "/api/feedback", string(body))
	}},
	{"preferences", func(w *permissionWorld, v *permissionView, t *tool.Tool) (string, string) {
		body, _ := json.Marshal(map[string]any{"neverInclude": []string{w.spelled(t)}})
		// which it is not, so that nothing changes
		return v.same(w, t, "PUT", "/api/tools/preferences?profile="+v.Profile, string(body), "If-Match", `"7777777"`)
	}},
	{"metrics", func(w *permissionWorld, v *permissionView, _ *tool.Tool) (string, string) {
		return v.get(w, "GET", "/api/metrics?window=all", "")
	}},
	{"insight", func(w *permissionWorld, v *permissionView, t *tool.Tool) (string, string) {
		return v.get(w, "GET", "/api/insights/"+url.PathEscape(string(t.ID())), "")
	}},
	{"overlay", func(w *permissionWorld, v *permissionView, t *tool.Tool) (string, string) {
		return v.get(w, "GET", "/api/overlays/"+url.PathEscape(string(t.ID())), "")
	}},
}

// spelled is one of the ways in which clients write a tool's name, right or nearly so.
func (w *permissionWorld) spelled(t *tool.Tool) string {
	return pick(w.rand, []string{
		string(t.ID()), t.Server + "__" + t.Name, t.Name, "mcp__" + t.Server + "__" + t.Name,
		strings.ToUpper(t.Name), t.Name[:len(t.Name)-1], t.Server + "__" + t.Name[:4],
	})
}

func said(res any, err error) string {
	b, _ := json.Marshal(res)
	return fmt.Sprintf("%s %v", b, err)
}

func (v *permissionView) call(w *permissionWorld, name string, args any) (string, string) {
	b, _ := json.Marshal(args)
	res, err := v.session.CallTool(w.t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	return name + " " + string(b), said(res, err)
}

func (v *permissionView) get(_ *permissionWorld, method, target, body string, headers ...string) (string, string) {
	return method + " " + unescaped(target) + " " + body, answerOf(v.http, method, target, body, headers...)
}

// same also holds that a tool which may not be seen is answered for as one that is not there: byte for byte as where
// there is nothing else than what may be seen.
func (v *permissionView) same(w *permissionWorld, t *tool.Tool, method, target, body string, headers ...string) (string,
	string,
) {
	request, answer := v.get(w, method, target, body, headers...)
	if !v.shows[string(t.ID())] {
		if absent := answerOf(v.absent, method, target, body, headers...); absent != answer {
			w.t.Errorf("%v: %s\nis answered with %s\nand where it is not, with %s", v.View, request, answer, absent)
		}
	}
	return request, answer
}

// alike holds the same for what has no tool behind it, by asking for the same of a server that is not there.
func (v *permissionView) alike(w *permissionWorld, server, request string, ask func(string) string) (string, string) {
	const nobody = "srvqy8888"
	answer := ask(request)
	if !v.sees[server] {
		if absent := ask(strings.ReplaceAll(request, server, nobody)); strings.ReplaceAll(absent, nobody,
			server) != answer {
			w.t.Errorf("%v: %s\nis answered with %s\nand one that is not there, with %s", v.View, request, answer,
				absent)
		}
	}
	return request + server, answer
}

// measure tells how long it takes to hear that there is no such tool, of one that is hidden and of one that is not
// there. It only reports: what decides is that both go the same way, by the set of what the view shows.
func (w *permissionWorld) measure() {
	v, hidden := w.views[0], w.tools[0]
	for _, one := range w.tools {
		if !v.shows[string(one.ID())] {
			hidden = one
		}
	}
	names := map[string]string{"hidden": string(hidden.ID()), "absent": strings.Replace(string(hidden.ID()),
		hidden.Server, "srvqy8888", 1)}
	took := map[string][]time.Duration{}
	for range 2_000 {
		for _, which := range []string{"hidden", "absent"} {
			start := time.Now()
			answerOf(v.http, http.MethodGet, "/api/tools/"+names[which], "")
			took[which] = append(took[which], time.Since(start))
		}
	}
	for which, all := range took {
		slices.Sort(all)
		w.t.Logf("%s: median %v, a quarter less than %v, a quarter more than %v", which, all[len(all)/2],
			all[len(all)/4], all[3*len(all)/4])
	}
}

func unescaped(s string) string {
	if out, err := url.QueryUnescape(s); err == nil {
		return out
	}
	return s
}

func answerOf(h http.Handler, method, target, body string, headers ...string) string {
	req := httptest.NewRequest(method, target, strings.NewReader(body))
	req.Host = "127.0.0.1"
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Request-Id", "same")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, req)
	return fmt.Sprint(rec.Code, " ", rec.Body)
}

// memorySource is a source of tools that are in memory already.
type memorySource struct {
	name  string
	tools []*tool.Tool
}

func (m memorySource) Name() string                                { return m.name }
func (m memorySource) Tools(context.Context) ([]*tool.Tool, error) { return m.tools, nil }
