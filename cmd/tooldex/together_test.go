package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tooldex/metrics"
	"tooldex/selection"
)

// together is how long TestFourProcesses lets them work.
var together = flag.Duration("together", 2*time.Second,
	"how long TestFourProcesses lets four processes work on one folder")

// TestFourProcesses has two servers over standard streams, one over HTTP and the command line work on one folder: they
// import, search, call and count at once. No command fails, no answer is an error, every search and call is counted
// once, and what was imported or preferred last is what is stored.
func TestFourProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("runs for seconds")
	}
	// Each import changes all tools of its servers, which the other policies hold until somebody approves them.
	t.Setenv("TOOLDEX_TRUST_POLICY", "off")
	data := t.TempDir()
	runCommand(t, data, "servers", "add", "probe", "--", upstreamCommand(t))
	var searches, calls, imports, preferred atomic.Int64
	versions := [][]string{manyDumps(t, 1), manyDumps(t, 2)}
	last := 0 // which version of the files was imported last
	t.Run("at work", func(t *testing.T) {
		base := serveHTTP(t, data)
		first, second := connectStdio(t, data, "serve", "--stdio", "--mode", "search"),
			connectStdio(t, data, "serve", "--stdio", "--mode", "search")
		end := time.Now().Add(*together)
		working := func() bool { return time.Now().Before(end) && !t.Failed() }
		var all sync.WaitGroup
		for i, c := range []*client{first, second} {
			all.Go(func() {
				for n := 0; working(); n++ {
					if text := c.text("search_tools",
						map[string]any{"query": "turn a text into capital letters"}); !strings.Contains(text, "shout") {
						t.Errorf("client %d: %s", i, text)
					}
					searches.Add(1)
					if n%3 == 0 {
						c.text("shout", map[string]any{"text": "a"})
						calls.Add(1)
					}
				}
			})
		}
		all.Go(func() {
			for working() {
				if got := string(fetched(t, base+"/search?q=turn+a+text+into+capital+letters")); !strings.Contains(got,
					"shout") {
					t.Error(got)
				}
				searches.Add(1)
			}
		})
		for range 2 { // who raise the same number, and try again when the other was faster
			all.Go(func() {
				for working() {
					if raised(t, base) {
						preferred.Add(1)
					}
				}
			})
		}
		all.Go(func() {
			for n := 0; working(); n++ {
				last = n % 2
				runCommand(t, data, append([]string{"import"}, versions[last]...)...)
				imports.Add(1)
				runCommand(t, data, "servers", "add", "--no-import", "brief", "--", "none")
				runCommand(t, data, "search", "turn a text into capital letters")
				runCommand(t, data, "servers", "remove", "brief")
				if n%4 == 3 {
					runCommand(t, data, "index", "compact")
				}
			}
		})
		all.Wait()
		http.DefaultClient.CloseIdleConnections() // a server waits for those that were made and not used yet
		for _, c := range []*client{first, second} {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	if t.Failed() {
		return
	}
	runCommand(t, data, "index", "verify")
	if have := toolsOfRound(t, data, last+1); len(have) != killFiles {
		t.Errorf("%d servers have the tools that were imported last, want %d", len(have), killFiles)
	}
	base := serveHTTP(t, data)
	var got metrics.Metrics
	if err := json.Unmarshal(fetched(t, base+"/api/metrics?window=24h"), &got); err != nil {
		t.Fatal(err)
	}
	if int64(got.Searches) != searches.Load() || int64(got.Calls) != calls.Load() || got.Errors != 0 {
		t.Errorf("counted %d searches, %d calls, %d errors; there were %d and %d, and no error", got.Searches,
			got.Calls, got.Errors, searches.Load(), calls.Load())
	}
	var p selection.Preferences
	if err := json.Unmarshal(fetched(t, base+"/api/tools/preferences"), &p); err != nil ||
		int64(p.TokenThreshold) != preferred.Load() {
		t.Errorf("the number is %d, and was raised %d times; %v", p.TokenThreshold, preferred.Load(), err)
	}
	t.Logf("%d searches, %d calls, %d imports, %d preferences in %v", searches.Load(), calls.Load(), imports.Load(),
		preferred.Load(), *together)
}

// raised raises the number that is preferred by one, and reports false if another was faster.
func raised(t *testing.T, base string) bool {
	res, err := http.Get(base + "/api/tools/preferences")
	if err != nil {
		t.Error(err)
		return false
	}
	defer func() { _ = res.Body.Close() }()
	var p selection.Preferences
	if err := json.NewDecoder(res.Body).Decode(&p); err != nil {
		t.Error(err)
		return false
	}
	req, err := http.NewRequest(http.MethodPut, base+"/api/tools/preferences",
		strings.NewReader(fmt.Sprintf(`{"tokenThreshold": %d}`, p.TokenThreshold+1)))
	if err != nil {
		t.Error(err)
		return false
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("If-Match", res.Header.Get("ETag"))
	put, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return false
	}
	defer func() { _ = put.Body.Close() }()
	if put.StatusCode != http.StatusOK && put.StatusCode != http.StatusPreconditionFailed {
		t.Errorf("preferences: %d", put.StatusCode)
	}
	return put.StatusCode == http.StatusOK
}

// toolsOfRound counts each server's tools as the given round described them.
func toolsOfRound(t *testing.T, data string, round int) map[string]int {
	t.Helper()
	var list []listed
	if err := json.Unmarshal([]byte(runCommand(t, data, "list", "-o", "json")), &list); err != nil {
		t.Fatal(err)
	}
	have := map[string]int{}
	for _, l := range list {
		if strings.HasSuffix(l.Summary, fmt.Sprintf(" round %d", round)) {
			have[l.Server]++
		}
	}
	return have
}
