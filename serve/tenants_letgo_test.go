package serve

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/access"
)

// sees requires that a holder finds the tools of the tenant, and nothing else.
func (h *holder) sees(t *testing.T) {
	t.Helper()
	status, answer := h.request(http.MethodGet, "/search?q=read+a+note", "")
	if status != http.StatusOK || !strings.Contains(answer, h.mark) || len(h.foreign("", answer)) > 0 {
		t.Errorf("tenant %d finds: %d %s", h.tenant, status, answer)
	}
}

// TestManyTenants asks many tenants, 200 with TOOLDEX_SOAK, of a server that keeps eight open: one after the other, and
// several at once. All answer for themselves, and no more than eight are open at any time.
func TestManyTenants(t *testing.T) {
	count, most := 48, 8
	switch {
	case testing.Short() || raceEnabled:
		count = 24
	case os.Getenv("TOOLDEX_SOAK") != "":
		count = 200
	}
	w := newTenantWorld(t, count, most)
	stop := w.serve()
	others := w.people[1:]
	var first []time.Duration
	for _, h := range others {
		begun := time.Now()
		h.sees(t)
		first = append(first, time.Since(begun))
		if open := w.open(); len(open) > most {
			t.Fatalf("%d are open", len(open))
		}
	}
	var memory runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&memory)
	open, connections := w.open(), w.connections()
	var groups sync.WaitGroup
	for g := range 6 {
		groups.Go(func() {
			for i := range count / 6 { // each asks its own
				others[(i*7+g)%(count/6)*6+g].sees(t)
				if open := w.open(); len(open) > most {
					t.Errorf("%d are open", len(open))
				}
			}
		})
	}
	groups.Wait()
	slices.Sort(first)
	t.Logf("%d tenants, %d open with %d connections: opened and asked in %v (p50), %v (p99); heap %d MB", count, len(open),
		connections, first[len(first)/2], first[len(first)*99/100], memory.HeapAlloc>>20)
	stop()
	if n := w.connections(); n > 0 {
		t.Errorf("%d connections to the database remain", n)
	}
}

// connections returns how many connections to the database the program has.
func (w *tenantWorld) connections() (n int) {
	w.t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, w.database.Address("postgres", "postgres"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if err := conn.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity WHERE usename = 'tooldex'`).Scan(&n); err != nil {
		w.t.Fatal(err)
	}
	return n
}

// TestTenantInUse holds that a tenant with a call under way is not let go: another one waits, and is refused without a
// word about others. A stream that only listens is ended.
func TestTenantInUse(t *testing.T) {
	w := newTenantWorld(t, 2, 1)
	w.wait.patience = 300 * time.Millisecond
	w.serve()
	one, other := w.people[1], w.people[2]
	hold := make(chan struct{})
	w.mu.Lock()
	w.hold = hold
	w.mu.Unlock()
	call := func() string {
		_, answer := one.request(http.MethodPost, "/api/tools/notes%2Fread_note/call", `{"arguments":{}}`)
		return answer
	}
	for name, ask := range map[string]func() string{
		"over HTTP": call,
		"over MCP":  func() string { _, answer := one.callTool("notes__read_note", map[string]any{}); return answer },
	} {
		w.takeCalled()
		answer := inBackground(ask)
		waitFor(t, name+": the call is under way", func() bool { return len(w.takeCalled()) > 0 })
		status, refused := other.request(http.MethodGet, "/search?q=read+a+note", "")
		if status != http.StatusServiceUnavailable || !strings.Contains(refused, "try again") || strings.Contains(refused, "tenant") ||
			len(other.foreign("", refused)) > 0 {
			t.Errorf("%s: another tenant meanwhile: %d %s", name, status, refused)
		}
		hold <- struct{}{}
		if got := await(t, answer, "the call returns"); !strings.Contains(got, "done by "+one.mark) {
			t.Errorf("%s: the call returns %s", name, got)
		}
	}
	close(hold)
	other.sees(t)
	session := one.connect() // its stream listens
	waitFor(t, "the stream has been open for a while", func() bool {
		status, _ := other.request(http.MethodGet, "/search?q=read+a+note", "")
		return status == http.StatusOK
	})
	if err := session.Ping(t.Context(), nil); err == nil {
		t.Error("the session of a tenant that was let go goes on")
	}
	one.sees(t)
}

// waitFor waits for a condition.
func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	limit := time.After(20 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-limit:
			t.Fatalf("it does not come that %s", what)
		case <-tick.C:
		}
	}
}

// TestIdleTenants holds that a tenant that nobody asks for is let go, and that what was counted and learned of it
// stays.
func TestIdleTenants(t *testing.T) {
	w := newTenantWorld(t, 2, 5)
	w.wait.idle = 2 * time.Second
	w.serve()
	for round := range 2 {
		for _, h := range w.people {
			h.sees(t)
		}
		if open := w.open(); len(open) != 2 {
			t.Errorf("round %d: open are %q", round, open)
		}
		waitFor(t, "both are let go", func() bool { return len(w.open()) == 0 })
	}
	w.people[0].sees(t)
	if w.connections() == 0 {
		t.Error("the home tenant has no connection")
	}
}

// TestTokenOfTenantEnds revokes a token of one tenant: its session ends, and nothing is answered any more. That of
// another tenant and one of the same go on.
func TestTokenOfTenantEnds(t *testing.T) {
	w := newTenantWorld(t, 2, 5)
	second := &holder{w: w, tenant: 1, mark: w.people[1].mark, profile: w.people[1].profile, token: access.NewSecret()}
	part := &holder{w: w, tenant: 0, mark: w.people[0].mark, profile: "part-" + w.people[0].mark, token: access.NewSecret()}
	for i, h := range []*holder{second, part} {
		h.client = &http.Client{Transport: h}
		err := w.tokens.Add(access.Token{Name: fmt.Sprint("more", i), Digest: access.Digest(h.token), View: access.View{Profile: h.profile}})
		if err != nil {
			t.Fatal(err)
		}
	}
	w.serve()
	revoked := w.people[1]
	session, stays, others := revoked.connect(), second.connect(), w.people[2].connect()
	if err := w.tokens.Revoke("token-" + revoked.mark); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the token is refused", func() bool {
		status, _ := revoked.request(http.MethodGet, "/api/tools", "")
		return status == http.StatusUnauthorized
	})
	waitFor(t, "the session ends", func() bool { return session.Ping(t.Context(), nil) != nil })
	for name, s := range map[string]*mcp.ClientSession{"of the same tenant": stays, "of another": others} {
		if err := s.Ping(t.Context(), nil); err != nil {
			t.Errorf("the session %s: %v", name, err)
		}
	}
	second.sees(t)
	part.sees(t)
	if status, answer := part.request(http.MethodGet, "/api/servers", ""); status != http.StatusOK || strings.Contains(answer, "srv"+part.mark) {
		t.Errorf("a part of the home tenant: %d %s", status, answer)
	}
}

// TestTenantsAreReloaded changes the profiles of a running server. The token of a profile that is gone finds nothing of
// any tenant, least of all of the home tenant; that of one which was moved finds what its tenant has now.
func TestTenantsAreReloaded(t *testing.T) {
	w := newTenantWorld(t, 2, 5)
	w.serve()
	one, other := w.people[1], w.people[2]
	one.sees(t)
	other.sees(t)
	session := one.connect()
	profile := one.profile
	one.profile = "was-" + one.mark
	w.configure("")
	waitFor(t, "the profile is gone", func() bool {
		status, answer := one.request(http.MethodGet, "/api/tools", "")
		if status == http.StatusOK && len(one.foreign("", answer)) > 0 {
			t.Fatalf("a token without a profile: %s", answer)
		}
		return status == http.StatusNotFound
	})
	if found, err := session.ListTools(t.Context(), nil); err == nil && strings.Contains(fmt.Sprint(found), one.mark) {
		t.Errorf("its session lists %v", found)
	}
	one.profile, one.tenant = profile, 2
	w.configure("")
	waitFor(t, "the profile has another tenant", func() bool {
		status, answer := one.request(http.MethodGet, "/api/tools", "")
		return status == http.StatusOK && strings.Contains(answer, other.mark) && !strings.Contains(answer, one.mark)
	})
	other.sees(t)
	w.people[0].sees(t)
}
