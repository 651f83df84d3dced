package mcpsrv

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/access"
	"tooldex/config"
	"tooldex/gateway"
	"tooldex/service"
	"tooldex/tool"
)

// newShelf returns a server over a real service with a folder of skills, the files of which are given by their paths;
// no files mean no folder.
func newShelf(t *testing.T, files map[string]string) *fixture {
	t.Helper()
	dir := t.TempDir()
	for path, text := range files {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	loaded, err := config.Load(config.Options{NoFile: true, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	cfg := *loaded.Config()
	cfg.Audit.On = false
	if len(files) > 0 {
		cfg.Skills = []string{dir}
	}
	s, err := service.Open(t.Context(), service.Options{
		Dir: t.TempDir(), Config: func() *config.Config { return &cfg }, Use: service.ToSearch,
	})
	if err != nil {
		t.Fatal(err)
	}
	gw := s.NewGateway(gateway.Options{})
	views, err := s.NewViews(t.Context(), service.ViewOptions{Gateway: gw})
	if err != nil {
		t.Fatal(err)
	}
	v := views.New(access.View{})
	o := Options{Searcher: v.Searcher, Caller: v.Caller, Catalog: v.Catalog, Upstreams: v.Upstreams, MaxResult: 1000}
	if v.Skills != nil {
		o.Skills = v.Skills
	}
	f := &fixture{}
	f.Server = New(o)
	t.Cleanup(func() { _ = errors.Join(f.Server.Close(), gw.Close(), s.Close()); views.Close() })
	return f
}

// skillFiles are two ordinary skills, and one whose front matter has a name that clients refuse.
var skillFiles = map[string]string{
	"release-notes/SKILL.md": "---\nname: release-notes\ndescription: Writes release notes from merged changes. Use when a version is released.\n" +
		"license: MIT\n---\n# Gather the changes\nFollow [the style](references/style guide.md).\n",
	"release-notes/references/style guide.md": "# Style\n",
	"release-notes/logo.png":                  "\x89PNG\xff",
	"release-notes/.env":                      "TOKEN=1",
	"pdf-forms/SKILL.md":                      "---\nname: pdf-forms\ndescription: Fills in PDF forms.\n---\n" + strings.Repeat("step\n", 2000),
	"odd/SKILL.md":                            "---\nname: An odd name\ndescription: Plays chess.\n---\n",
}

// custom sends a request of a method that the SDK does not know, and returns its result or error.
func (f *fixture) custom(t *testing.T, revision, method, params string) (string, string) {
	t.Helper()
	if revision >= statelessRevision {
		const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
			`"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"}}}`
		params = strings.TrimSuffix(params, "}") + map[bool]string{true: "", false: ","}[params == "{}"] + meta
	}
	answers := f.exchange(t, revision, fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":%q,"params":%s}`, method, params))
	var m struct{ Result, Error json.RawMessage }
	if err := json.Unmarshal([]byte(answers[len(answers)-1]), &m); err != nil {
		t.Fatal(err)
	}
	return string(m.Result), string(m.Error)
}

func TestSkills(t *testing.T) {
	f := newShelf(t, skillFiles)
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			c := f.connect(t, revision, nil)
			if init := c.InitializeResult(); revision != statelessRevision && init.Capabilities.Extensions[skillsExtension] == nil {
				t.Errorf("the capabilities are %+v", init.Capabilities)
			}
			list, err := c.ListResources(t.Context(), nil)
			if err != nil || len(list.Resources) != 3 || list.Resources[2].URI != "skill://release-notes/SKILL.md" ||
				list.Resources[2].Name != "release-notes" || list.Resources[2].MIMEType != "text/markdown" ||
				!strings.HasPrefix(list.Resources[2].Description, "Writes release notes") {
				t.Fatalf("resources %+v, %v", list, err)
			}
			templates, err := c.ListResourceTemplates(t.Context(), nil)
			if err != nil || len(templates.ResourceTemplates) != 1 || templates.ResourceTemplates[0].URITemplate != skillTemplate {
				t.Fatalf("templates %+v, %v", templates, err)
			}
			for uri, want := range map[string]string{
				"skill://release-notes/SKILL.md":                       skillFiles["release-notes/SKILL.md"],
				"skill://release-notes/references/style%20guide.md":    "# Style\n",
				"skill://odd/SKILL.md":                                 skillFiles["odd/SKILL.md"],
				"skill://release-notes/.env":                           "",
				"skill://release-notes/../pdf-forms/SKILL.md":          "",
				"skill://release-notes/%2e%2e/pdf-forms/SKILL.md":      "",
				"skill://release-notes//etc/passwd":                    "",
				"skill://none/SKILL.md":                                "",
				"skill://":                                             "",
				"skill://release-notes/references/style%20guide.md%00": "",
			} {
				read, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
				if want == "" {
					if rpc := (*jsonrpc.Error)(nil); !errors.As(err, &rpc) || rpc.Code != jsonrpc.CodeInvalidParams {
						t.Errorf("%s reads as %+v, %v", uri, read, err)
					}
					continue
				}
				if err != nil || len(read.Contents) != 1 || read.Contents[0].URI != uri || read.Contents[0].Text != want {
					t.Errorf("%s reads as %+v, %v", uri, read, err)
				}
			}
			if read, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "skill://release-notes/logo.png"}); err != nil ||
				string(read.Contents[0].Blob) != "\x89PNG\xff" || read.Contents[0].MIMEType != "image/png" {
				t.Errorf("the picture reads as %+v, %v", read, err)
			}

			found := call(t, c, searchName, map[string]any{"query": "write release notes"})
			if got := text(found); !strings.Contains(got, "\nSkills (instructions to follow; get_tool_description reads them):\n- skill://release-notes/SKILL.md: Writes release notes") {
				t.Errorf("the search answers %s", got)
			}
			described := text(call(t, c, describeName, map[string]any{"name": []string{"skill://release-notes/SKILL.md", "skill://release-notes/logo.png"}}))
			for _, want := range []string{
				"# skill://release-notes/SKILL.md\n" + skillFiles["release-notes/SKILL.md"],
				"Files beside it:\n- skill://release-notes/logo.png (5 bytes)\n- skill://release-notes/references/style%20guide.md (8 bytes)\n",
				"image/png; resources/read returns them",
			} {
				if !strings.Contains(described, want) {
					t.Errorf("the description lacks %q:\n%s", want, described)
				}
			}
			if got := text(call(t, c, describeName, map[string]any{"name": "skill://pdf-forms/SKILL.md"})); len(got) > 4200 ||
				!strings.Contains(got, "The rest is left out") {
				t.Errorf("%d bytes of a long skill", len(got))
			}
			if r := call(t, c, describeName, map[string]any{"name": "skill://none/SKILL.md"}); !r.IsError {
				t.Errorf("a skill that does not exist is described: %s", text(r))
			}
			if r := call(t, c, invokeName, map[string]any{"name": "skill://release-notes/SKILL.md"}); !r.IsError {
				t.Errorf("a skill is called: %s", text(r))
			}
			for one, err := range c.Tools(t.Context(), nil) {
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(one.Name, "release") || strings.Contains(one.Name, "skill") {
					t.Errorf("tools/list has %s", one.Name)
				}
			}
		})
	}
}

// call calls a tool.
func call(t *testing.T, c *mcp.ClientSession, name string, args any) *mcp.CallToolResult {
	t.Helper()
	r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSkillMethods runs the exchange of the extension as its specification describes it for hosts: each file of an
// entry has the size and the digest that the entry says.
func TestSkillMethods(t *testing.T) {
	f := newShelf(t, skillFiles)
	for _, revision := range []string{"2025-11-25", statelessRevision} {
		t.Run(revision, func(t *testing.T) {
			got, problem := f.custom(t, revision, listSkillsMethod, `{}`)
			var list struct {
				ResultType string
				Skills     []struct {
					URI         string
					Frontmatter map[string]any
					Resources   []tool.SkillFile
				}
				TTLMs      int    `json:"ttlMs"`
				CacheScope string `json:"cacheScope"`
			}
			if err := json.Unmarshal([]byte(got), &list); err != nil {
				t.Fatalf("%v: %s %s", err, got, problem)
			}
			if wants := map[bool]string{true: "complete"}[revision >= statelessRevision]; strings.Count(got, "resultType") > 1 ||
				list.ResultType != wants || list.TTLMs == 0 || list.CacheScope != "private" ||
				len(list.Skills) != 2 { // not the odd one
				t.Fatalf("%s", got)
			}
			one := list.Skills[1]
			if diff := gocmp.Diff(map[string]any{
				"name": "release-notes", "description": "Writes release notes from merged changes. Use when a version is released.", "license": "MIT",
			}, one.Frontmatter); diff != "" || one.URI != "skill://release-notes/SKILL.md" {
				t.Error(diff)
			}
			if len(one.Resources) != 3 || one.Resources[0].URI != one.URI {
				t.Errorf("%+v", one.Resources)
			}
			c := f.connect(t, revision, nil)
			for _, file := range one.Resources {
				read, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: file.URI})
				if err != nil {
					t.Fatal(err)
				}
				b := read.Contents[0].Blob
				if len(b) == 0 {
					b = []byte(read.Contents[0].Text)
				}
				if sum := sha256.Sum256(b); file.Digest != "sha256:"+hex.EncodeToString(sum[:]) || file.Size != int64(len(b)) {
					t.Errorf("%s has another digest or size", file.URI)
				}
			}
			got, _ = f.custom(t, revision, getSkillMethod, `{"uri":"skill://release-notes/SKILL.md"}`)
			if !strings.Contains(got, `"skill":{"uri":"skill://release-notes/SKILL.md","frontmatter":{`) || !strings.Contains(got, `"ttlMs"`) {
				t.Errorf("%s", got)
			}
			for _, params := range []string{
				`{}`, `{"uri":""}`, `{"uri":"skill://none/SKILL.md"}`, `{"uri":"skill://release-notes/logo.png"}`, `{"uri":"skill://odd/SKILL.md"}`,
				`{"uri":7}`,
			} {
				if got, problem := f.custom(t, revision, getSkillMethod, params); !strings.Contains(problem, "-32602") {
					t.Errorf("%s: %s %s", params, got, problem)
				}
			}
			if _, problem := f.custom(t, revision, listSkillsMethod, `{"cursor":"none"}`); !strings.Contains(problem, "-32602") {
				t.Errorf("an unknown cursor: %s", problem)
			}
		})
	}
}

// TestSkillPages lists more skills than a page has.
func TestSkillPages(t *testing.T) {
	files := map[string]string{}
	for i := range 2*skillPage + 1 {
		name := fmt.Sprintf("skill-%03d", i)
		files[name+"/SKILL.md"] = "---\nname: " + name + "\ndescription: Does things.\n---\n"
	}
	f := newShelf(t, files)
	n, cursor := 0, ""
	for page := 1; ; page++ {
		got, problem := f.custom(t, "2025-11-25", listSkillsMethod, fmt.Sprintf(`{"cursor":%q}`, cursor))
		var list struct {
			Skills     []json.RawMessage
			NextCursor string
		}
		if err := json.Unmarshal([]byte(got), &list); err != nil {
			t.Fatal(err, problem)
		}
		if n += len(list.Skills); list.NextCursor == "" {
			if page != 3 {
				t.Errorf("%d pages", page)
			}
			break
		}
		cursor = list.NextCursor
	}
	if n != len(files) {
		t.Errorf("%d of %d skills", n, len(files))
	}
}

// TestWithoutSkills has none configured: nothing shows that there could be some.
func TestWithoutSkills(t *testing.T) {
	f := newShelf(t, nil)
	c := f.connect(t, "2025-11-25", nil)
	if x := c.InitializeResult().Capabilities.Extensions; len(x) > 0 {
		t.Errorf("extensions %v", x)
	}
	if _, problem := f.custom(t, "2025-11-25", listSkillsMethod, `{}`); !strings.Contains(problem, "-32601") {
		t.Errorf("%s", problem)
	}
	list, err := c.ListResources(t.Context(), nil)
	if err != nil || len(list.Resources) > 0 {
		t.Errorf("%+v %v", list, err)
	}
	templates, err := c.ListResourceTemplates(t.Context(), nil)
	if err != nil || len(templates.ResourceTemplates) > 0 {
		t.Errorf("%+v %v", templates, err)
	}
	if got := text(call(t, c, searchName, map[string]any{"query": "write release notes"})); strings.Contains(got, "kill") {
		t.Errorf("%s", got)
	}
}
