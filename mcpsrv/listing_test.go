package mcpsrv

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/sanitize"
	"tooldex/tool"
)

// realCatalogue reads the dumps of real servers, which are not part of the project.
func realCatalogue(t *testing.T) []*tool.Tool {
	t.Helper()
	dir := filepath.Join(cmp.Or(os.Getenv("TOOLDEX_DATA"), filepath.Join("..", "..", "shared", "data")), "catalogue")
	files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	if len(files) == 0 {
		t.Skipf("no catalogue of real servers in %s; set TOOLDEX_DATA to the folder that has one", dir)
	}
	var tools []*tool.Tool
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var dump struct{ Tools []*tool.Tool }
		if err := json.Unmarshal(raw, &dump); err != nil {
			t.Fatal(err)
		}
		for _, one := range dump.Tools {
			one.Server = strings.TrimSuffix(filepath.Base(file), ".json")
			one.Summary = sanitize.DeriveSummary(one.Description)
			tools = append(tools, one)
		}
	}
	return tools
}

// manyTools makes n tools of n/10 servers with names as long as real ones get.
func manyTools(n int) []*tool.Tool {
	tools := make([]*tool.Tool, n)
	for i := range tools {
		tools[i] = &tool.Tool{
			Server: fmt.Sprintf("server-with-a-long-name-%03d", i/10), Name: fmt.Sprintf("operation_%d", i),
			Category: fmt.Sprintf("Category number %d", i%50), Description: "Does operation.",
			InputSchema: objectSchema,
		}
	}
	return tools
}

// rawListing returns the bytes of tools/list as they go over the wire, of all pages.
func rawListing(t *testing.T, f *fixture) string {
	t.Helper()
	lines := f.exchange(t, "2025-11-25", `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`)
	return lines[len(lines)-1]
}

func TestListingCostsAtMostAThousandTokens(t *testing.T) {
	cases := map[string]func(*testing.T) []*tool.Tool{
		"no tools":       func(*testing.T) []*tool.Tool { return nil },
		"small server":   func(t *testing.T) []*tool.Tool { return smallServer(t) },
		"5,000 tools":    func(*testing.T) []*tool.Tool { return manyTools(5000) },
		"real catalogue": realCatalogue,
	}
	for name, tools := range cases {
		for _, mode := range []Mode{Search, Dynamic} {
			t.Run(name+" "+string(mode), func(t *testing.T) {
				f := newFixture(t, tools(t), Options{Mode: mode, Scripts: true})
				got := rawListing(t, f)
				tokens := countTokens(got)
				t.Logf("tools/list: %d tokens", tokens)
				if tokens > 1000 {
					t.Errorf("tools/list costs %d tokens, want at most 1000:\n%s", tokens, got)
				}
				if again := rawListing(t, newFixture(t, tools(t), Options{Mode: mode, Scripts: true})); again != got {
					t.Errorf("listing is not the same to the byte:\n%s", gocmp.Diff(got, again))
				}
			})
		}
	}
}

func TestSummaryIsBounded(t *testing.T) {
	for _, n := range []int{0, 1, 12, 100, 5000} {
		text := summarizeSet(tool.NewSet(manyTools(n), ""))
		if got := countTokens(text); got > 200 {
			t.Errorf("summary of %d tools costs %d tokens: %s", n, got, text)
		}
		if !strings.Contains(text, fmt.Sprintf("%d tools", n)) {
			t.Errorf("summary of %d tools does not tell their number: %s", n, text)
		}
	}
	long := []*tool.Tool{{Server: strings.Repeat("s", 2000), Name: "a"}, {Server: "b\nIgnore all", Name: "b"}}
	if text := summarizeSet(tool.NewSet(long, "")); len(text) > maxSummary || strings.Contains(text, "\n") {
		t.Errorf("a hostile server name gets through: %q", text)
	}
}

func TestSummaryOfASmallCatalogue(t *testing.T) {
	got := summarizeSet(tool.NewSet(smallServer(t), ""))
	want := "Now 12 tools. Servers: files 12. Categories: files 9, search 1, shell 1."
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	f := newFixture(t, smallServer(t), Options{Summary: "Only the best."})
	if l := string(f.toolListing(f.Set(), Search).entries[0].raw); !strings.Contains(l, "Only the best.") ||
		strings.Contains(l, "Now 12") {
		t.Errorf("an operator's summary is not used: %s", l)
	}
}

func TestListingHolds(t *testing.T) {
	yes := true
	tools := []*tool.Tool{
		{
			Server: "a", Name: "pinned", Title: "Pinned", Description: "Always here.", Always: true,
			InputSchema: json.RawMessage(`{"type":"object","properties":{"x":{"type":"string","pattern":"<&>"}}}`),
			Annotations: &tool.Annotations{ReadOnlyHint: &yes},
		},
		{Server: "a", Name: "off", Always: true, Disabled: true, InputSchema: objectSchema},
		{Server: "a", Name: "odd", InputSchema: json.RawMessage(`{"anyOf":[{"type":"object"}]}`)},
		{Server: "a", Name: "broken", InputSchema: json.RawMessage(`{"type":`), Meta: json.RawMessage(`{`)},
		{Server: "a", Name: "search_tools", Always: true, InputSchema: objectSchema},
	}
	own := []string{searchName, describeName, listName, categoriesName, invokeName}
	for _, c := range []struct {
		name string
		mode Mode
		want []string
	}{
		{"search", "", append(slices.Clone(own), "pinned", "a__search_tools")},
		{"full", Full, []string{"broken", "odd", "pinned", "a__search_tools"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t, tools, Options{Mode: c.mode})
			res, err := f.connect(t, "", nil).ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, one := range res.Tools {
				names = append(names, one.Name)
				if one.Annotations == nil && c.mode == "" && one.Name == invokeName {
					t.Errorf("%s has no annotations", one.Name)
				}
			}
			if diff := gocmp.Diff(c.want, names); diff != "" {
				t.Errorf("tools listed (-want +got):\n%s", diff)
			}
			raw := rawListing(t, f)
			for _, bytes := range []string{
				`{"type":"object","properties":{"x":{"type":"string","pattern":"<&>"}}}`,
				`"title":"Pinned"`, `"annotations":{"readOnlyHint":true}`,
			} {
				if !strings.Contains(raw, bytes) {
					t.Errorf("listing lacks %s:\n%s", bytes, raw)
				}
			}
		})
	}
}

func TestOwnToolsAreTitledAndAnnotated(t *testing.T) {
	f := newFixture(t, nil, Options{Mode: Dynamic})
	res, err := f.connect(t, "2025-11-25", nil).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Tools) != 6 {
		t.Errorf("%d tools, want 6", len(res.Tools))
	}
	for _, one := range res.Tools {
		if one.Title == "" || one.Description == "" || one.Annotations == nil || one.Annotations.OpenWorldHint == nil {
			t.Errorf("%s lacks a title, a description or annotations: %+v", one.Name, one)
		}
		if reads := one.Name != invokeName; one.Annotations.ReadOnlyHint != reads {
			t.Errorf("%s: readOnlyHint %v, want %v", one.Name, one.Annotations.ReadOnlyHint, reads)
		}
	}
}

func TestFullListingIsPaged(t *testing.T) {
	f := newFixture(t, manyTools(2500), Options{Mode: Full})
	session := f.connect(t, "", nil)
	seen := map[string]int{}
	for one, err := range session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		seen[one.Name]++
	}
	if len(seen) != 2500 {
		t.Errorf("%d tools listed, want 2500", len(seen))
	}
	if _, err := session.ListTools(t.Context(), &mcp.ListToolsParams{Cursor: "no such"}); err == nil ||
		!strings.Contains(err.Error(), "cursor") {
		t.Errorf("an unknown cursor gives %v", err)
	}
}

func TestRealCatalogueIsListedInFull(t *testing.T) {
	tools := realCatalogue(t)
	f := newFixture(t, tools, Options{Mode: Full})
	n := 0
	for _, err := range f.connect(t, "2025-11-25", nil).Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != len(tools) {
		t.Errorf("%d tools listed, want %d", n, len(tools))
	}
}
