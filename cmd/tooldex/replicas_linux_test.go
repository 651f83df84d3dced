package main

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"tooldex/internal/pgtest"
)

// TestReplicas has two servers, each with a folder of its own, share a database: what is changed through one is found
// by the other. The database is killed: both search on, refuse changes and say so; it comes back, and so do they.
func TestReplicas(t *testing.T) {
	database := pgtest.Start(t)
	const password = "geheim-7243"
	address := strings.Replace(database.URL("team"), "tooldex@", "tooldex:"+password+"@", 1)
	t.Setenv("TOOLDEX_STORE", address) // all commands of this test inherit it
	dumps := manyDumps(t, 1)
	elsewhere := t.TempDir()
	runCommand(t, elsewhere, "import", dumps[0])
	bases := []string{serveHTTP(t, t.TempDir()), serveHTTP(t, t.TempDir())}
	tools := func(base string) (n int) {
		var answer struct{ Total int }
		if err := json.Unmarshal(fetched(t, base+"/api/tools?limit=1"), &answer); err != nil {
			t.Fatal(err)
		}
		return answer.Total
	}
	first := tools(bases[0])
	if first == 0 || tools(bases[1]) != first {
		t.Fatalf("%d and %d tools at the start", first, tools(bases[1]))
	}
	replicas := []*mortal{{base: bases[0]}, {base: bases[1]}}
	if status, answer := replicas[0].asks(t, `{"maxTools": 7}`); status != http.StatusOK {
		t.Fatalf("a change: %d %s", status, answer)
	}
	eventually(t, "the other replica has the preferences", func() bool {
		return strings.Contains(string(fetched(t, bases[1]+"/api/tools/preferences")), `"maxTools":7`)
	})
	runCommand(t, elsewhere, "import", dumps[1])
	for _, base := range bases {
		eventually(t, "a replica has the tools of another process", func() bool { return tools(base) > first })
	}
	second := tools(bases[0])

	database.Kill()
	for i, m := range replicas {
		if got := string(fetched(t, m.base+"/search?q=list+invoices")); !strings.Contains(got, "kind") {
			t.Errorf("search without the database: %s", got)
		}
		res := putPreferences(t, m.base)
		if res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" {
			t.Errorf("a change without the database: %s, Retry-After %q", res.Status, res.Header.Get("Retry-After"))
		}
		if status, answer := m.asks(t, `{"maxTools": 8}`); !strings.Contains(answer, `"code":"unavailable"`) ||
			strings.Contains(answer, password) {
			t.Errorf("replica %d, a change without the database: %d %s", i, status, answer)
		}
		eventually(t, "health tells of it", func() bool {
			got := string(fetched(t, m.base+"/readyz"))
			return strings.Contains(got, "warnings") && strings.Contains(got, "database") && !strings.Contains(got, password)
		})
	}
	if got := tried(t, elsewhere, "list"); got.code != exitFailed || strings.Contains(got.stderr, password) {
		t.Errorf("a command without the database: %+v", got)
	}
	database.Restart()
	for _, m := range replicas {
		eventually(t, "health is good again", func() bool { return !strings.Contains(string(fetched(t, m.base+"/readyz")), "warnings") })
	}
	if status, answer := replicas[1].asks(t, `{"maxTools": 9}`); status != http.StatusOK {
		t.Errorf("a change when the database is back: %d %s", status, answer)
	}
	eventually(t, "the other replica has the new preferences", func() bool {
		return strings.Contains(string(fetched(t, bases[0]+"/api/tools/preferences")), `"maxTools":9`)
	})
	runCommand(t, elsewhere, "import", dumps[2])
	for _, base := range bases {
		eventually(t, "a replica has what came after", func() bool { return tools(base) > second })
	}
	checkDatabaseCommands(t, elsewhere, password)
}

// putPreferences asks for a change and returns the answer without its body.
func putPreferences(t *testing.T, base string) *http.Response {
	t.Helper()
	req, err := http.NewRequest(http.MethodPut, base+"/api/tools/preferences", strings.NewReader(`{"maxTools": 3}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close() // only the status matters
	return res
}

// checkDatabaseCommands runs the commands that look after what is stored. None shows the password, and those that are
// for a file say so.
func checkDatabaseCommands(t *testing.T, dir, password string) {
	t.Helper()
	for line, code := range map[string]int{
		"config show": exitDone, "index status": exitDone, "index verify": exitDone, "index compact": exitDone, "doctor": exitDone,
		"list": exitDone, "search list invoices": exitDone, "index backup " + dir + "/b.zip": exitFailed,
		"index restore b.zip": exitFailed, "index rebuild": exitFailed,
	} {
		got := tried(t, dir, strings.Fields(line)...)
		if got.code != code || strings.Contains(got.stdout+got.stderr, password) {
			t.Errorf("%s: %+v, want exit code %d and no password", line, got, code)
		}
	}
	if _, err := os.Stat(dir + "/tooldex.db"); err == nil {
		t.Error("a file of tools was made beside the database")
	}
}
