package sources

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tooldex/tool"
)

// TestKnownFiles shows which files are not parsed again: those that have one source alone, named after the file, of the
// digest that is known. A file that is known offers the same tools.
func TestKnownFiles(t *testing.T) {
	const one, two = `{"catalogue":1,"tools":[{"name":"a"}]}`, `{"catalogue":1,"servers":[{"name":"x","tools":[{"name":"a"}]}`
	const dump = `{"tools":[{"name":"send"},{"name":"read"}]}`
	for name, c := range map[string]struct {
		file, content string
		later         string // the content that is read the second time; "" for the same
		parsed        bool   // the second time
	}{
		"dump":                    {"mail.json", dump, "", false},
		"marked UTF-8":            {"mail.json", "\ufeff" + dump, "", false},
		"catalogue":               {"mail.yaml", one, "", false},
		"lines of one server":     {"mail.jsonl", `{"name":"a"}` + "\n" + `{"name":"b"}`, "", false},
		"lines of two servers":    {"mail.jsonl", `{"name":"a"}` + "\n" + `{"name":"b","server":"x"}`, "", true},
		"changed":                 {"mail.json", dump, strings.Replace(dump, "send", "sent", 1), true},
		"several servers":         {"x.yaml", two + `,{"name":"y","tools":[{"name":"b"}]}]}`, "", true},
		"other name":              {"mail.yaml", two + "]}", "", true},
		"beside an overlay":       {"mail.yaml", one[:len(one)-1] + `,"overlay":{"name":"o","tools":{}}}`, "", true},
		"no longer what it was":   {"mail.json", dump, "{", true},
		"no longer a source":      {"mail.json", dump, `{"mcpServers":{}}`, true},
		"a source where was none": {"mail.json", `{"mcpServers":{"s":{"command":"x"}}}`, dump, true},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), c.file)
			read := func(text string, known map[string][32]byte) FileContent {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				f, err := OpenFiles([]string{path})
				if err != nil {
					t.Fatal(err)
				}
				f.Known = func(name string) ([32]byte, bool) { d, ok := known[name]; return d, ok }
				for _, batch := range f.Batches(1<<20, 10) {
					return batch[0]
				}
				return FileContent{}
			}
			tools := func(c FileContent) (all []*tool.Tool) {
				if c.Err != nil {
					return nil
				}
				for _, src := range c.Sources {
					got, err := src.Tools(context.Background())
					if err != nil {
						t.Fatal(err)
					}
					all = append(all, got...)
				}
				return all
			}
			before := read(c.content, nil)
			known := map[string][32]byte{}
			if before.Err == nil {
				for _, src := range before.Sources {
					known[src.Name()] = src.(*File).Digest()
				}
			}
			after := read(cmp.Or(c.later, c.content), known)
			f := &Files{Known: func(name string) ([32]byte, bool) { d, ok := known[name]; return d, ok }}
			if src := f.knownSource(newDocument(path, []byte(cmp.Or(c.later, c.content)))); (src == nil) != c.parsed {
				t.Errorf("parsed is %v, want %v", src == nil, c.parsed)
			}
			fresh := read(cmp.Or(c.later, c.content), nil)
			if d := gocmp.Diff(tools(fresh), tools(after)); d != "" {
				t.Errorf("other tools than those of a file that nothing knows:\n%s", d)
			}
			if (after.Err == nil) != (fresh.Err == nil) {
				t.Errorf("the error is %v, and %v if nothing is known", after.Err, fresh.Err)
			}
		})
	}
}
