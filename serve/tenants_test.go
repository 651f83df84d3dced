package serve

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tooldex/access"
	"tooldex/tool"
)

// tenantCases is how many requests TestTenants makes: with TOOLDEX_SOAK all of them, otherwise a sample.
const (
	tenantCases = 100_000
	tenantSome  = 2_000
	tenantShort = 400
)

// TestTenants asks for the tenants of a server in all ways in which clients ask, with their tokens, while fewer are
// open than there are. Every name and text of a tenant has a mark that no other has: none of another tenant's is in an
// answer, nothing of another is counted or called, and what another has is answered for as what does not exist.
func TestTenants(t *testing.T) {
	cases := tenantSome
	switch {
	case testing.Short() || raceEnabled:
		cases = tenantShort
	case os.Getenv("TOOLDEX_SOAK") != "":
		cases = tenantCases
	}
	w := newTenantWorld(t, 5, 3)
	w.serve()
	shown, asked := map[string]int{}, map[string]int{}
	searches := map[int]int64{}
	for n := range cases {
		if t.Failed() {
			return
		}
		// The same few ask for a while, so that not every request opens a tenant.
		h := w.people[(n/40+w.rand.IntN(3))%len(w.people)]
		other := w.people[(h.tenant+1+w.rand.IntN(len(w.people)-1))%len(w.people)]
		kind := tenantKinds[w.rand.IntN(len(tenantKinds))]
		mine := w.rand.IntN(3) == 0
		target := pick(w.rand, other.tools)
		if mine {
			target = pick(w.rand, h.tools)
		}
		request, answer := kind.ask(h, target)
		if kind.name != "reports" { // whose request may be all of the others
			h.remember(request)
		}
		if asked[kind.name]++; tenantMark.MatchString(answer) {
			shown[kind.name]++
		}
		if strings.HasPrefix(kind.name, "search") {
			searches[h.tenant]++
		}
		if leaks := h.foreign(request, answer); len(leaks) > 0 {
			t.Errorf("%s of tenant %d: %s\ntells of %v:\n%.3000s", kind.name, h.tenant, request, leaks, answer)
		}
		for _, mark := range w.takeCalled() {
			if mark != h.mark {
				t.Errorf("%s of tenant %d: %s\ncalls a tool of %s", kind.name, h.tenant, request, mark)
			}
		}
		if !mine && kind.same {
			w.sameAsInvented(h, kind, target, request, answer)
		}
		if open := w.open(); len(open) > 3 {
			t.Errorf("%d tenants are open: %v", len(open), open)
		}
	}
	for _, kind := range tenantKinds {
		if t.Logf("%s: %d answers, %d of which show something", kind.name, asked[kind.name], shown[kind.name]); shown[kind.name] == 0 && !kind.silent {
			t.Errorf("no answer of %s shows anything, so nothing was tested", kind.name)
		}
	}
	w.countsApart(searches)
}

// sameAsInvented holds that what another tenant has is answered for as what nobody has.
func (w *tenantWorld) sameAsInvented(h *holder, kind tenantKind, target *tool.Tool, request, answer string) {
	w.t.Helper()
	mark := tenantMark.FindString(target.Name)
	if mark == "" || strings.Contains(answer, h.mark) { // a name that all have, or something of its own was found by the words
		return
	}
	invent := strings.NewReplacer("qz"+mark[2:5], "qz777")
	nobody := *target
	nobody.Name, nobody.Server = invent.Replace(target.Name), invent.Replace(target.Server)
	nobody.Title, nobody.Category, nobody.Description = invent.Replace(target.Title), invent.Replace(target.Category), invent.Replace(target.Description)
	asked, invented := kind.ask(h, &nobody)
	if h.remember(asked); invented != invent.Replace(answer) {
		w.t.Errorf("%s of tenant %d: %s\nis answered with\n%s\nand an invented one with\n%s", kind.name, h.tenant, request, answer, invented)
	}
	w.takeCalled()
}

// countsApart compares what the home tenant's reports count with what it asked, and looks at what each tenant stored.
func (w *tenantWorld) countsApart(searches map[int]int64) {
	w.t.Helper()
	home := w.people[0]
	for _, path := range []string{"/metrics", "/api/metrics?window=all", "/api/access"} {
		status, answer := home.request(http.MethodGet, path, "")
		if leaks := home.foreign("", answer); status != http.StatusOK || len(leaks) > 0 {
			w.t.Errorf("%s: %d, tells of %v", path, status, leaks)
		}
	}
	var report struct{ Searches int64 }
	_, answer := home.request(http.MethodGet, "/api/metrics?window=all", "")
	if err := json.Unmarshal([]byte(answer), &report); err != nil || report.Searches != searches[0] {
		w.t.Errorf("the home tenant counts %d searches (%v), and made %d", report.Searches, err, searches[0])
	}
	// The page counts the requests before it.
	_, page := home.request(http.MethodGet, "/metrics", "")
	if n := sumOf(page, "tooldex_http_requests_total"); n != home.requests-1 {
		w.t.Errorf("the home tenant counts %d requests, and made %d", n, home.requests-1)
	}
	if err := w.server.others.close(0); err != nil { // so that they store their counts
		w.t.Error(err)
	}
	for _, h := range w.people[1:] {
		s, err := w.openService(w.t.Context(), h.config)
		if err != nil {
			w.t.Fatal(err)
		}
		counts, _, err := s.Store.Counts(w.t.Context(), 0)
		if err != nil {
			w.t.Error(err)
		}
		total := int64(0)
		for _, value := range counts {
			var one struct{ Searches int64 }
			if leaks := h.foreign("", string(value)); len(leaks) > 0 {
				w.t.Errorf("the counts of tenant %d tell of %v", h.tenant, leaks)
			}
			if err := json.Unmarshal(value, &one); err != nil {
				w.t.Error(err)
			}
			if one.Searches > total { // the sum of all time is the largest
				total = one.Searches
			}
		}
		if total != searches[h.tenant] {
			w.t.Errorf("tenant %d counted %d searches, and made %d", h.tenant, total, searches[h.tenant])
		}
		if err := s.Close(); err != nil {
			w.t.Error(err)
		}
	}
}

// sumOf adds up the samples of a family in a page for Prometheus.
func sumOf(page, family string) (sum int) {
	for _, m := range regexp.MustCompile(`(?m)^`+family+`(?:\{.*\})? (\d+)$`).FindAllStringSubmatch(page, -1) {
		n, _ := strconv.Atoi(m[1]) // digits
		sum += n
	}
	return sum
}

// TestTenantQuota holds that what the quota of a tenant's token refuses is not counted, and the token not named, in the
// metrics of the home tenant.
func TestTenantQuota(t *testing.T) {
	w := newTenantWorld(t, 1, 1)
	home, h := w.people[0], w.people[1]
	h.token = access.NewSecret()
	err := w.tokens.Add(access.Token{
		Name: "few-" + h.mark, Digest: access.Digest(h.token), View: access.View{Profile: h.profile}, Limits: access.Limits{Requests: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.serve()
	h.sees(t)
	if status, answer := h.request(http.MethodGet, "/api/tools", ""); status != http.StatusTooManyRequests {
		t.Errorf("%d %s", status, answer)
	}
	if _, page := home.request(http.MethodGet, "/metrics", ""); len(home.foreign("", page)) > 0 || sumOf(page, "tooldex_quota_refused_total") > 0 {
		t.Errorf("the home tenant reads\n%s", page)
	}
}

// tenantKind is a way in which clients ask.
type tenantKind struct {
	name string
	ask  func(h *holder, t *tool.Tool) (request, answer string)
	// same: what another tenant has is answered for as what nobody has. silent: the answer shows no names.
	same, silent bool
}

// said returns a request with its answer.
func answered(request string) func(int, string) (string, string) {
	return func(status int, body string) (string, string) { return request, fmt.Sprint(status, " ", body) }
}

// spelledBy is one of the ways in which clients write a tool's name.
func (h *holder) spelled(t *tool.Tool) string {
	return pick(h.w.rand, []string{string(t.ID()), t.Server + "__" + t.Name, t.Name})
}

// auditPage lists what the holder did.
const auditPage = "/api/audit?limit=1000"

var tenantKinds = []tenantKind{
	{name: "search by HTTP", ask: func(h *holder, t *tool.Tool) (string, string) {
		q := "/search?detail=schema&explain=true&q=" + url.QueryEscape(t.Description)
		return answered(unescaped(q))(h.request(http.MethodGet, q, ""))
	}},
	{name: "search by MCP", ask: func(h *holder, t *tool.Tool) (string, string) {
		return answered(t.Description)(h.callTool("search_tools", map[string]any{"query": t.Description, "limit": 20}))
	}},
	{name: "list by HTTP", ask: func(h *holder, _ *tool.Tool) (string, string) {
		status, answer := h.request(http.MethodGet, "/api/tools?include_disabled=true&limit=1000", "")
		if want := fmt.Sprintf(`"total":%d}`, len(h.tools)); !strings.Contains(answer, want) {
			h.w.t.Errorf("tenant %d counts otherwise than %s: %s", h.tenant, want, answer)
		}
		return answered("")(status, answer)
	}},
	{name: "list by MCP", ask: func(h *holder, t *tool.Tool) (string, string) {
		return answered(t.Server)(h.callTool("list_available_tools", map[string]any{"server": t.Server}))
	}, same: true},
	{name: "tools/list", ask: func(h *holder, _ *tool.Tool) (string, string) {
		return answered("")(h.post("/mcp", "tools/list", "", map[string]any{}))
	}},
	{name: "describe", ask: func(h *holder, t *tool.Tool) (string, string) {
		return answered(string(t.ID()))(h.callTool("get_tool_description", map[string]any{"name": string(t.ID())}))
	}, same: true},
	{name: "categories", ask: func(h *holder, _ *tool.Tool) (string, string) {
		return answered("")(h.callTool("list_tool_categories", map[string]any{}))
	}},
	{name: "invoke", ask: func(h *holder, t *tool.Tool) (string, string) {
		return answered(string(t.ID()))(h.callTool("invoke_tool", map[string]any{"name": string(t.ID()), "arguments": map[string]any{}}))
	}, same: true},
	{name: "call by MCP", ask: func(h *holder, t *tool.Tool) (string, string) {
		name := h.spelled(t)
		return answered(name)(h.callTool(name, map[string]any{}))
	}},
	{name: "tool", ask: func(h *holder, t *tool.Tool) (string, string) {
		return answered(string(t.ID()))(h.request(http.MethodGet, "/api/tools/"+url.PathEscape(string(t.ID())), ""))
	}, same: true},
	{name: "call by HTTP", ask: func(h *holder, t *tool.Tool) (string, string) {
		return answered(string(t.ID()))(h.request(http.MethodPost, "/api/tools/"+url.PathEscape(string(t.ID()))+"/call", `{"arguments":{}}`))
	}, same: true},
	{name: "servers", ask: func(h *holder, _ *tool.Tool) (string, string) {
		return answered("")(h.request(http.MethodGet, "/api/servers", ""))
	}},
	{name: "select", ask: func(h *holder, t *tool.Tool) (string, string) {
		body, _ := json.Marshal(map[string]any{"message": t.Description, "mode": pick(h.w.rand, []string{"auto", "all", "manual"}), "profile": h.profile})
		return answered(string(body))(h.request(http.MethodPost, "/api/tools/select", string(body)))
	}},
	{name: "feedback", ask: func(h *holder, t *tool.Tool) (string, string) {
		body, _ := json.Marshal(map[string]any{"query": "a note", "tool": string(t.ID())})
		return answered(string(body))(h.request(http.MethodPost, "/api/feedback", string(body)))
	}, same: true, silent: true},
	{name: "preferences", ask: func(h *holder, t *tool.Tool) (string, string) {
		body, _ := json.Marshal(map[string]any{"neverInclude": []string{string(t.ID())}})
		// Which it is not, so that nothing changes.
		return answered(string(body))(h.request(http.MethodPut, "/api/tools/preferences?profile="+h.profile, string(body), "If-Match", `"7777777"`))
	}, same: true, silent: true},
	{name: "reports", ask: func(h *holder, _ *tool.Tool) (string, string) {
		path := pick(h.w.rand, []string{"/metrics", "/api/metrics?window=all", auditPage, "/api/access", "/api/whoami", "/openapi.json", "/readyz"})
		request := path
		if path == "/readyz" && h.tenant != 0 { // it needs no token, and counts for the process
			h.requests--
			h.w.people[0].requests++
		}
		if path == auditPage {
			request = strings.Join(slices.Sorted(maps.Keys(h.asked)), " ")
		}
		return answered(request)(h.request(http.MethodGet, path, ""))
	}},
	{name: "another's profile", ask: func(h *holder, t *tool.Tool) (string, string) {
		profile := "p-" + tenantMark.FindString("qz"+t.Name[max(0, len(t.Name)-5):]) // of a name without a mark, none
		if mark := tenantMark.FindString(t.Name); mark != "" {
			profile = "p-" + mark[:6]
		}
		status, answer := h.post("/mcp/"+profile, "tools/list", "", map[string]any{})
		if profile != h.profile && status != http.StatusNotFound {
			h.w.t.Errorf("tenant %d may use %s: %s", h.tenant, profile, answer)
		}
		return answered(profile)(status, answer)
	}, same: true, silent: true},
	{name: "another's server", ask: func(h *holder, t *tool.Tool) (string, string) {
		return answered(t.Server)(h.post("/mcp/servers/"+t.Server, "tools/list", "", map[string]any{}))
	}, same: true},
	{name: "prompts and resources", ask: func(h *holder, _ *tool.Tool) (string, string) {
		method := pick(h.w.rand, []string{"prompts/list", "resources/list", "resources/templates/list"})
		return answered(method)(h.post("/mcp", method, "", map[string]any{}))
	}, silent: true},
}

// TestTenantSessions holds that the session of one tenant does not exist for another, and that one which was let go
// begins anew.
func TestTenantSessions(t *testing.T) {
	w := newTenantWorld(t, 2, 1)
	w.serve()
	one, other := w.people[1], w.people[2]
	session := one.connect()
	names := func() (out []string) {
		for tool, err := range session.Tools(t.Context(), nil) {
			if err != nil {
				return []string{err.Error()}
			}
			out = append(out, tool.Name)
		}
		return out
	}
	if got := names(); !slices.ContainsFunc(got, func(name string) bool { return strings.Contains(name, "read_note") }) &&
		!slices.Contains(got, "search_tools") {
		t.Errorf("the session lists %q", got)
	}
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`
	for _, h := range []*holder{other, w.people[0]} {
		status, answer := h.request(http.MethodPost, "/mcp", list, "Mcp-Session-Id", session.ID())
		again, invented := h.request(http.MethodPost, "/mcp", list, "Mcp-Session-Id", strings.Repeat("A", len(session.ID())))
		if status != http.StatusNotFound || again != status || answer != invented {
			t.Errorf("tenant %d in the session of another: %d %s; in none: %d %s", h.tenant, status, answer, again, invented)
		}
	}
	// The other tenant took the place of the one.
	if open := w.open(); !slices.Equal(open, []string{"t002"}) {
		t.Errorf("open are %q", open)
	}
	status, answer := one.request(http.MethodPost, "/mcp", list, "Mcp-Session-Id", session.ID())
	if status != http.StatusNotFound {
		t.Errorf("a session that was let go: %d %s", status, answer)
	}
	if status, answer := one.request(http.MethodGet, "/api/tools", ""); status != http.StatusOK ||
		!strings.Contains(answer, one.mark) || len(one.foreign("", answer)) > 0 {
		t.Errorf("the tenant, asked again: %d %s", status, answer)
	}
}
