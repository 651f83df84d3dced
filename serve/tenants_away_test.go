package serve

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestTenantsWithoutDatabase kills the database right after a tenant was first opened. That tenant can still be
// searched. A search of one that was never opened gets 503 with Retry-After, and nothing of another tenant. When the
// database is back, both can be searched.
func TestTenantsWithoutDatabase(t *testing.T) {
	w := newTenantWorld(t, 2, 2)
	w.serve()
	opened, never := w.people[1], w.people[2]
	search := func(h *holder) (status int, answer string) {
		status, answer = h.request(http.MethodGet, "/search?q=read+a+note", "")
		if leaks := h.foreign("", answer); len(leaks) > 0 {
			t.Errorf("tenant %d gets %v of others: %s", h.tenant, leaks, answer)
		}
		return status, answer
	}
	found := func(h *holder) bool {
		status, answer := search(h)
		return status == http.StatusOK && strings.Contains(answer, h.mark)
	}
	if !found(opened) {
		t.Fatal("the tenant cannot be searched")
	}
	w.database.Kill()
	if !found(opened) {
		t.Error("a tenant that was opened cannot be searched without the database")
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/search?q=read+a+note", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := never.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close() // status and headers are enough
	if res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" {
		t.Errorf("a tenant that was never opened: %s, Retry-After %q", res.Status, res.Header.Get("Retry-After"))
	}
	if _, answer := search(never); strings.Contains(answer, "t001") || strings.Contains(answer, "home") {
		t.Errorf("the answer names other tenants: %s", answer)
	}
	w.database.Restart()
	for limit := time.Now().Add(30 * time.Second); !found(opened) || !found(never); {
		if time.Now().After(limit) {
			t.Fatal("a tenant cannot be searched though the database is back")
		}
	}
	preferences := "/api/tools/preferences?profile=" + opened.profile
	status, answer := opened.request(http.MethodPut, preferences, `{"maxTools": 5}`)
	if status != http.StatusOK {
		t.Errorf("a change when the database is back: %d %s", status, answer)
	}
}
