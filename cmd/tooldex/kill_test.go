package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The import that is killed: enough files that a kill in the middle leaves some of them unread.
const (
	killFiles = 36
	killTools = 12 // in each
	kills     = 10
)

// TestKillDuringImport kills an import in the middle, again and again. After each kill the data must be sound, everything
// must be there that the import said it had stored, and the next import must be able to go on.
func TestKillDuringImport(t *testing.T) {
	data := t.TempDir()
	random := rand.New(rand.NewPCG(1, 2))
	interrupted := 0
	for round := range kills {
		files := manyDumps(t, round)
		acknowledged, killed := killImport(t, data, files, random.IntN(killFiles))
		if killed {
			interrupted++
		}
		runCommand(t, data, "index", "verify")
		have := toolsOfRound(t, data, round)
		for _, server := range acknowledged {
			if have[server] != killTools {
				t.Errorf("round %d: %s was acknowledged with %d tools, %d are there", round, server, killTools, have[server])
			}
		}
		if t.Failed() {
			return
		}
	}
	if interrupted == 0 {
		t.Error("no import was killed before it was done: the test shows nothing")
	}
	runCommand(t, data, append([]string{"import"}, manyDumps(t, kills)...)...)
	if have := toolsOfRound(t, data, kills); len(have) != killFiles {
		t.Errorf("%d servers after the last import, want %d", len(have), killFiles)
	}
}

// killImport imports files and kills the command after the nth acknowledgement. It returns the servers that were acknowledged, and whether the kill came before the end.
func killImport(t *testing.T, data string, files []string, nth int) (acknowledged []string, killed bool) {
	t.Helper()
	cmd := exec.Command(builtCommand(t), append([]string{"import"}, files...)...)
	cmd.Env = append(os.Environ(), "TOOLDEX_DATA_DIR="+data)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stored := regexp.MustCompile(`\b(kind\d\d)\b`)
	if nth == 0 { // before anything was said
		_ = cmd.Process.Kill()
	}
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if m := stored.FindStringSubmatch(lines.Text()); m != nil {
			acknowledged = append(acknowledged, m[1])
		}
		if len(acknowledged) == nth {
			_ = cmd.Process.Kill() // what is still in the pipe was acknowledged too, and is read on
		}
	}
	return acknowledged, cmd.Wait() != nil
}

// toolsOfRound counts each server's tools as the given round described them.
func toolsOfRound(t *testing.T, data string, round int) map[string]int {
	t.Helper()
	cmd := exec.Command(builtCommand(t), "list", "-o", "json")
	cmd.Env = append(os.Environ(), "TOOLDEX_DATA_DIR="+data)
	out, err := cmd.Output() // exit code 3 when there are none yet
	if err != nil && !strings.HasPrefix(string(out), "[]") {
		t.Fatalf("list: %v\n%s", err, out)
	}
	var list []listed
	if err := json.Unmarshal(out, &list); err != nil {
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

// manyDumps writes tools/list answers of servers kind00 and so on. Each round describes the tools a little differently, so
// that an import has something to do.
func manyDumps(t *testing.T, round int) []string {
	t.Helper()
	verbs := []string{"list", "create", "update", "delete", "export", "archive", "share", "count", "rename", "merge"}
	nouns := []string{"invoice", "customer", "parcel", "lesson", "recipe", "sensor", "ticket", "contract", "playlist", "garden"}
	dir := t.TempDir()
	var files []string
	for f := range killFiles {
		type dumped struct {
			Name        string         `json:"name"`
			Description string         `json:"description"`
			InputSchema map[string]any `json:"inputSchema"`
		}
		var tools []dumped
		for i := range killTools {
			verb, noun := verbs[i%len(verbs)], nouns[(i/len(verbs)+f)%len(nouns)]
			tools = append(tools, dumped{
				Name:        fmt.Sprintf("%s_%s", verb, noun),
				Description: fmt.Sprintf("%s one %s of workspace %d in round %d", verb, noun, f, round),
				InputSchema: map[string]any{"type": "object", "properties": map[string]any{noun + "_id": map[string]any{"type": "string"}}},
			})
		}
		b, err := json.Marshal(map[string]any{"serverInfo": map[string]any{"name": "ignored", "version": "1"}, "tools": tools})
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, fmt.Sprintf("kind%02d.json", f))
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}
