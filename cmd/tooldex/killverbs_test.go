package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tooldex/store"
)

// What the files of killed imports hold.
const (
	killFiles = 20 // more than one step
	killTools = 5  // in each
)

// killedVerbs makes a folder for each command that changes what is stored.
func killedVerbs(t *testing.T) map[string]*killedVerb {
	t.Helper()
	old, fresh := manyDumps(t, 1), manyDumps(t, 2)
	model := tinyModel(t)
	full := realTempDir(t)
	run := func(dir string, args ...string) { runCommand(t, filepath.Join(dir, "data"), args...) }
	run(full, append([]string{"import"}, old[:12]...)...)
	run(full, "servers", "add", "--no-import", "kind00", "--", "none")
	run(full, "servers", "add", "--no-import", "kept", "--", "none")
	learnSomething(t, full)
	with := func(change func(dir string)) string {
		dir := copyOf(t, full)
		change(dir)
		return dir
	}
	backup := func(dir string) string { return filepath.Join(dir, "backup.zip") }
	just := func(args ...string) func(string) []string { return func(string) []string { return args } }
	whole := func(t *testing.T, dir string) {
		if _, err := os.Stat(backup(dir)); err != nil {
			return // it is not there yet
		}
		if _, err := store.VerifyBackup(context.Background(), backup(dir)); err != nil {
			t.Error(err)
		}
	}
	overlay := filepath.Join(t.TempDir(), "overlay.yaml")
	if err := os.WriteFile(overlay, []byte("overlay:\n  kind01/*:\n    keywords: [extra]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return map[string]*killedVerb{
		"import":          {args: just(append([]string{"import"}, fresh...)...), ready: full, steps: true},
		"import overlay":  {args: just("import", overlay), ready: full},
		"servers add":     {args: just("servers", "add", "--replace", "--no-import", "more", "--", "none"), ready: full},
		"servers remove":  {args: just("servers", "remove", "kind00"), ready: full},
		"learn approve":   {args: just("learn", "approve", "kind01/list_customer"), ready: full},
		"learn forget":    {args: just("learn", "forget", "--all"), ready: full},
		"switch embedder": {args: just("import", "--embedder", "model2vec:"+model, fresh[18]), ready: full},
		"compact": {args: just("index", "compact"), ready: with(func(dir string) {
			run(dir, "servers", "remove", "kind02", "kind03", "kind04")
		})},
		"backup": {
			args:  func(dir string) []string { return []string{"index", "backup", backup(dir)} },
			ready: full, beside: whole, once: true,
		},
		"backup anew": {
			args:  func(dir string) []string { return []string{"index", "backup", "--force", backup(dir)} },
			ready: with(func(dir string) { run(dir, "index", "backup", backup(dir)) }), beside: whole,
		},
		"restore": {
			args: func(dir string) []string { return []string{"index", "restore", backup(dir)} },
			ready: with(func(dir string) {
				run(dir, "index", "backup", backup(dir))
				run(dir, "servers", "remove", "kind05")
			}),
		},
		"rebuild": {args: just("index", "rebuild", "--no-sources"), ready: with(func(dir string) {
			damageFile(t, dir, func(b []byte) []byte {
				clear(b[:2*os.Getpagesize()])
				return b
			})
		}), damaged: true},
		"make": {args: just("index", "verify"), ready: realTempDir(t)},
	}
}

// damageFile changes the stored file.
func damageFile(t *testing.T, dir string, change func([]byte) []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "data", store.FileName), change(bytes.Clone(fileIn(t, dir))),
		0o600); err != nil {
		t.Fatal(err)
	}
}

// learnSomething has a server be told which tools were right, and counts some searches.
func learnSomething(t *testing.T, dir string) {
	t.Helper()
	t.Run("learn", func(t *testing.T) { // a server that ends with it
		base := serveHTTP(t, filepath.Join(dir, "data"))
		for _, request := range []string{"who buys from us", "our clients"} {
			posted(t, base+"/api/feedback", fmt.Sprintf(`{"query": %q, "tool": "kind01/list_customer"}`, request))
			fetched(t, base+"/search?q=customer")
		}
	})
}

// tinyModel writes a Model2Vec model of three words.
func tinyModel(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	header := `{"embeddings":{"dtype":"I8","shape":[3,2],"data_offsets":[0,6]}}`
	table := append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header+"\x00\x00\x01\x00\x00\x01"...)
	tokens := `{"normalizer":{"type":"Lowercase"},"pre_tokenizer":{"type":"Whitespace"},"model":{"type":"WordLevel","unk_token":"?","vocab":{"?":0,"list":1,"customer":2}}}`
	for name, b := range map[string][]byte{"model.safetensors": table, "tokenizer.json": []byte(tokens)} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// manyDumps writes tools/list answers of servers kind00 and so on. Each round describes the tools a little differently,
// so that an import has something to do.
func manyDumps(t *testing.T, round int) []string {
	t.Helper()
	verbs := []string{"list", "create", "update", "delete", "export", "archive", "share", "count", "rename", "merge"}
	nouns := []string{
		"invoice", "customer", "parcel", "lesson", "recipe", "sensor", "ticket", "contract", "playlist",
		"garden",
	}
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
				InputSchema: map[string]any{"type": "object", "properties": map[string]any{noun +
					"_id": map[string]any{"type": "string"}}},
			})
		}
		b, err := json.Marshal(map[string]any{
			"serverInfo": map[string]any{"name": "ignored", "version": "1"},
			"tools":      tools,
		})
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

// posted sends JSON, which must be taken.
func posted(t *testing.T, url, body string) {
	t.Helper()
	res, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if b, err := io.ReadAll(res.Body); err != nil || res.StatusCode/100 != 2 {
		t.Fatalf("%s: %d %s %v", url, res.StatusCode, b, err)
	}
}
