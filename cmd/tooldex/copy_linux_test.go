package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"tooldex/internal/pgtest"
)

// toolsAt returns the tools of a place as the command lists them.
func toolsAt(t *testing.T, dir string) string {
	t.Helper()
	got := tried(t, dir, "list", "-o", "json", "--limit", "10000")
	if got.code != exitDone && got.code != exitNone {
		t.Fatalf("list: %+v", got)
	}
	return got.stdout
}

// TestCopyIsKilled copies a catalogue from a file to a database and back, and kills each copy in the middle first: the
// target holds nothing then, and takes the copy when it is repeated. What is found is the same in all three places, and
// nothing shows the password.
func TestCopyIsKilled(t *testing.T) {
	database := pgtest.Start(t)
	const password = "geheim-8531"
	address := strings.Replace(database.URL("moved"), "tooldex@", "tooldex:"+password+"@", 1)
	from, back := t.TempDir(), filepath.Join(t.TempDir(), "back")
	dumps := manyDumps(t, 1)
	runCommand(t, from, "import", dumps[0], dumps[1])
	want := toolsAt(t, from)
	var rows []json.RawMessage
	if err := json.Unmarshal([]byte(want), &rows); err == nil && len(rows) == 0 {
		t.Fatal("nothing is to be copied")
	}
	if got := tried(t, from, "index", "copy", address, t.TempDir()); got.code != exitNone || strings.Contains(got.stderr, password) {
		t.Errorf("copying an empty database: %+v", got)
	}
	// Tools are copied before vectors, so that a copy which waits for their table is in the middle.
	for _, step := range []struct{ from, to string }{{from, address}, {address, back}} {
		killWaitingCopy(t, database, step.from, step.to)
		if got := tried(t, from, "index", "copy", step.to, filepath.Join(t.TempDir(), "none")); got.code != exitNone {
			t.Fatalf("the target of a killed copy: %+v, want nothing there", got)
		}
		got := tried(t, from, "index", "copy", step.from, step.to)
		if got.code != exitDone || strings.Contains(got.stdout+got.stderr, password) || !strings.Contains(got.stdout, "verified") {
			t.Fatalf("repeated: %+v", got)
		}
		if got := tried(t, from, "index", "copy", step.from, step.to); got.code != exitFailed ||
			!strings.Contains(got.stderr, "--force") || strings.Contains(got.stderr, password) {
			t.Errorf("to a target that is not empty: %+v", got)
		}
	}
	if got := toolsAt(t, back); got != want {
		t.Errorf("the tools of the copy of the copy differ: %d bytes, want %d", len(got), len(want))
	}
	t.Setenv("TOOLDEX_STORE", address)
	if got := toolsAt(t, t.TempDir()); got != want {
		t.Errorf("the tools of the database differ: %d bytes, want %d", len(got), len(want))
	}
	audit, err := exec.CommandContext(t.Context(), "grep", "-rlF", password, from, back).Output()
	if len(audit) > 0 || err == nil {
		t.Errorf("the password stands in %s", audit)
	}
}

// killWaitingCopy starts a copy, has it wait at the vectors, and kills it there.
func killWaitingCopy(t *testing.T, database *pgtest.Server, from, to string) {
	t.Helper()
	ctx := context.Background()
	toDatabase := strings.HasPrefix(to, "postgres")
	if toDatabase { // an empty tenant has tables
		_ = tried(t, t.TempDir(), "index", "copy", to, filepath.Join(t.TempDir(), "none"))
		database.Exec(`CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
			'BEGIN PERFORM pg_advisory_xact_lock(42); RETURN NEW; END';
			CREATE TRIGGER wait BEFORE INSERT ON tooldex.vector EXECUTE FUNCTION wait()`)
		defer database.Exec(`DROP FUNCTION wait CASCADE`)
	}
	conn, err := pgx.Connect(ctx, database.Address("postgres", "tooldex"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }() // which ends the transaction
	tx, err := conn.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	hold := `LOCK TABLE tooldex.vector IN ACCESS EXCLUSIVE MODE`
	if toDatabase {
		hold = `SELECT pg_advisory_xact_lock(42)`
	}
	if _, err := tx.Exec(ctx, hold); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(builtCommand(t), "index", "copy", from, to)
	cmd.Env = append(os.Environ(), "TOOLDEX_DATA_DIR="+t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the copy is in the middle", func() bool {
		var n int
		if err := tx.QueryRow(ctx, `SELECT count(*) FROM pg_locks WHERE NOT granted`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n == 1
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the copy ended well")
	}
}
