package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tooldex/config"
	"tooldex/httpapi"
	"tooldex/tool"
)

// The pages of docs/reference that are made from the program, by "make docs". These tests fail when a page is not what
// the program says now.

const generated = "<!-- Made from the program by make docs: change it there. -->\n"

// published holds a page to what the program says, or writes it anew.
func published(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join("../../docs/reference", name)
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v: make docs writes it", err)
	}
	if diff := gocmp.Diff(string(want), text); diff != "" {
		t.Errorf("make docs writes docs/reference/%s anew (-published +now):\n%s", name, diff)
	}
}

func TestReferenceCLI(t *testing.T) {
	root := bareRoot()
	seen := exitCodesInScripts(t, root)
	var b strings.Builder
	fmt.Fprintf(&b, "# Command line\n\n%s\n%s.\n\n", generated, root.Short)
	b.WriteString("Exit codes: 0 done, 1 failed, 2 wrong usage, 3 nothing found or a gate not met. Errors are printed to\n" +
		"standard error, with the remedy on a line that begins with `hint:`.\n\n## Flags of all commands\n\n")
	writeFlags(&b, root.PersistentFlags())
	for _, cmd := range commandsBelow(root) {
		writeCommand(&b, cmd, seen[cmd.CommandPath()])
	}
	published(t, "cli.md", strings.TrimRight(b.String(), "\n")+"\n")
}

// commandsBelow lists all commands but help and those that are hidden, each before those below it.
func commandsBelow(parent *cobra.Command) []*cobra.Command {
	var out []*cobra.Command
	for _, c := range parent.Commands() {
		if c.Name() != "help" && !c.Hidden {
			out = append(append(out, c), commandsBelow(c)...)
		}
	}
	return out
}

func writeCommand(b *strings.Builder, cmd *cobra.Command, codes []int) {
	fmt.Fprintf(b, "## %s\n\n```text\n%s\n```\n\n", cmd.CommandPath(), cmd.UseLine())
	switch {
	case cmd.Parent().Name() == "completion": // cobra's own texts have commands of other programs in them
		fmt.Fprintf(b, "%s: `%s --help` tells how to load it.\n\n", cmd.Short, cmd.CommandPath())
	case strings.HasPrefix(cmd.Long, cmd.Short):
		b.WriteString(proseOf(strings.TrimSpace(cmd.Long)) + "\n\n")
	default:
		b.WriteString(strings.TrimSpace(cmd.Short+".\n\n"+proseOf(cmd.Long)) + "\n\n")
	}
	if len(cmd.Aliases) > 0 {
		fmt.Fprintf(b, "Also: `%s`.\n\n", strings.Join(cmd.Aliases, "`, `"))
	}
	writeFlags(b, cmd.LocalNonPersistentFlags())
	if cmd.Example != "" {
		var lines []string
		for line := range strings.SplitSeq(cmd.Example, "\n") {
			lines = append(lines, strings.TrimPrefix(line, "  "))
		}
		b.WriteString(exampleMarks(cmd.CommandPath()))
		fmt.Fprintf(b, "```sh\n%s\n```\n\n", strings.Join(lines, "\n"))
	}
	if len(codes) > 0 {
		text := strings.Trim(strings.ReplaceAll(fmt.Sprint(codes), " ", ", "), "[]")
		fmt.Fprintf(b, "Ends with: %s.\n\n", text)
	}
}

// proseOf makes Markdown of a help text: what is indented in it is a table in columns.
func proseOf(text string) string {
	var out []string
	within := false
	for line := range strings.SplitSeq(text, "\n") {
		if indented := strings.HasPrefix(line, "  "); indented != within {
			within = indented
			out = append(out, map[bool]string{true: "\n```text", false: "```"}[indented])
		}
		if within && strings.TrimSpace(line) == "" {
			continue
		}
		if !within {
			line = strings.NewReplacer("<", `\<`, "*", `\*`, "|", `\|`).Replace(line)
		}
		out = append(out, line)
	}
	if within {
		out = append(out, "```")
	}
	return strings.ReplaceAll(strings.Join(out, "\n"), "\n```text\n```", "")
}

func writeFlags(b *strings.Builder, flags *pflag.FlagSet) {
	var rows []string
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" || f.Hidden {
			return
		}
		name := "`--" + f.Name + "`"
		if f.Shorthand != "" {
			name = "`-" + f.Shorthand + "`, " + name
		}
		kind, initial := f.Value.Type(), f.DefValue
		if initial == "[]" || initial == "0s" || kind == "bool" && initial == "false" || kind != "string" &&
			initial == "0" {
			initial = ""
		}
		if initial != "" {
			initial = "`" + initial + "`"
		}
		rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s |", name, kind, initial,
			strings.NewReplacer("|", `\|`, "<", `\<`).Replace(f.Usage)))
	})
	if len(rows) > 0 {
		fmt.Fprintf(b, "| flag | type | default | |\n|---|---|---|---|\n%s\n\n", strings.Join(rows, "\n"))
	}
}

// exampleMarks are the marks that the examples of a command need, so that TestDocuments can run them.
func exampleMarks(path string) string {
	marks := map[string][]string{
		"tooldex audit verify": {"not run: needs an anchor that was noted before"},
		"tooldex call":         {"before: tooldex import ~/.claude.json"},
		"tooldex index copy":   {"not run: needs a database"},
		"tooldex search":       {"before: tooldex import github.json"},
		"tooldex serve":        {"before: tooldex import github.json"},
		"tooldex enrich":       {"before: tooldex import odd.json"},
		"tooldex eval":         {"before: tooldex import github.json"},
		"tooldex eval compare": {"before: for f in before after; do tooldex eval mine --run $f.jsonl; tooldex eval mine --cases -o json > $f.json; done"},
		"tooldex eval gate":    {"before: for f in accepted new; do tooldex eval mine --cases -o json > $f.json; done"},
		"tooldex eval init":    {"before: rm -rf mine"},
		"tooldex learn export": {
			"before: tooldex import github.json",
			"before: TOOLDEX_LEARN_TEXT=1 tooldex serve --stdio < bot.jsonl",
			"before: tooldex learn approve create_issue",
		},
		"tooldex learn forget": {
			"before: tooldex serve --stdio < bot.jsonl",
			"before: tooldex serve --stdio < ana.jsonl",
		},
		// the second cannot be reached
		"tooldex servers add": {"before: tooldex servers remove files", "exits: 1"},
		// create_issue is not held
		"tooldex servers approve": {
			"before: tooldex servers add --replace github -- upstream turning",
			"before: tooldex servers add --replace github -- upstream turned", "exits: 3",
		},
		"tooldex servers login":  {"not run: needs a server that asks for it"},
		"tooldex servers logout": {"not run: needs a server that asks for it"},
	}
	var b strings.Builder
	for _, line := range marks[path] {
		fmt.Fprintf(&b, "<!-- %s -->\n", line)
	}
	return b.String()
}

func TestReferenceSettings(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, "# Settings\n\n%s\n", generated)
	b.WriteString("Each key of `tooldex.yaml`, and the flag and the variable that override it: [configuration.md](configuration.md) explains the order.\n\n" +
		"| key | flag | environment | type | default | |\n|---|---|---|---|---|---|\n")
	secrets := ""
	for _, s := range config.Settings() {
		if s.Secret {
			secrets += fmt.Sprintf("| `%s` | %s |\n", s.Env, s.About)
			continue
		}
		code := func(before, v string) string {
			if v == "" {
				return ""
			}
			return "`" + before + v + "` "
		}
		initial, about := "", s.About
		if s.Default != nil {
			initial = fmt.Sprint(s.Default)
		}
		if len(s.Choices) > 0 {
			about += ": `" + strings.Join(s.Choices, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s| %s| %s | %s| %s |\n", s.Key, code("--", s.Flag), code("", s.Env), s.Kind(),
			code("", initial), about)
	}
	fmt.Fprintf(&b, "\nSecrets stand in the environment alone:\n\n| environment | |\n|---|---|\n%s", secrets)
	published(t, "settings.md", b.String())
}

func TestReferenceAPI(t *testing.T) {
	s, err := httpapi.New(httpapi.Options{Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/openapi.json", nil)
	r.Host = "127.0.0.1"
	s.Handler().ServeHTTP(w, r)
	var indented bytes.Buffer
	if err := json.Indent(&indented, w.Body.Bytes(), "", " "); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	published(t, "openapi.json", strings.TrimSpace(indented.String())+"\n")
	var d openAPI
	if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	published(t, "api.md", d.page())
}

// openAPI is the description of the API, as far as the page shows it.
type openAPI struct {
	Paths map[string]map[string]struct {
		Summary    string
		Parameters []struct {
			Name, In, Description string
			Required              bool
			Schema                apiSchema
		}
		RequestBody struct {
			Content map[string]struct{ Schema apiSchema }
		}
		Responses map[string]struct {
			Content map[string]struct{ Schema apiSchema }
		}
	}
	Components struct {
		Schemas   map[string]apiSchema
		Responses map[string]struct {
			Description string
			Headers     map[string]struct{}
		}
	}
}

type apiSchema struct {
	Ref                  string `json:"$ref"`
	Type                 any
	Description          string
	Default              any
	Enum                 []any
	Items                *apiSchema
	Properties           map[string]apiSchema
	Required             []string
	AdditionalProperties any
	AnyOf                []apiSchema
}

// UnmarshalJSON takes true, which allows anything, for the empty schema.
func (s *apiSchema) UnmarshalJSON(b []byte) error {
	type plain apiSchema
	if b[0] != '{' {
		return nil
	}
	return json.Unmarshal(b, (*plain)(s))
}

// kind is a schema in a word.
func (s apiSchema) kind() string {
	switch name := strings.TrimPrefix(s.Ref, "#/components/schemas/"); {
	case name != "":
		return fmt.Sprintf("[%s](#%s)", name, strings.ToLower(name))
	case s.Items != nil:
		return "list of " + s.Items.kind()
	case len(s.Enum) > 0:
		return "`" + strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Enum), " ", "`, `"), "[]") + "`"
	case len(s.AnyOf) > 0:
		var all []string
		for _, a := range s.AnyOf {
			all = append(all, a.kind())
		}
		return strings.Join(all, " or ")
	}
	if list, ok := s.Type.([]any); ok {
		var kinds []string
		for _, k := range list {
			if k != "null" {
				kinds = append(kinds, fmt.Sprint(k))
			}
		}
		return strings.Join(kinds, " or ")
	}
	if s.Type == nil {
		return "any"
	}
	return fmt.Sprint(s.Type)
}

func (d openAPI) page() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# HTTP API\n\n%s\n", generated)
	b.WriteString("Every operation of [openapi.json](openapi.json), which a running server gives at `/openapi.json`. What holds for all of them, tokens, errors\n" +
		"and limits, is in [http.md](http.md). An error is a [Problem](#problem).\n" + d.outcomes())
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(d.Paths[path])) {
			op := d.Paths[path][method]
			fmt.Fprintf(&b, "\n## %s %s\n\n%s.", strings.ToUpper(method), path, op.Summary)
			if body := firstSchema(op.RequestBody.Content); body != nil {
				fmt.Fprintf(&b, " Body: %s.", body.kind())
			}
			if answer := firstSchema(op.Responses["200"].Content); answer != nil && answer.Ref != "" {
				fmt.Fprintf(&b, " Answer: %s.", answer.kind())
			}
			b.WriteString("\n")
			if len(op.Parameters) > 0 {
				b.WriteString("\n| parameter | in | type | |\n|---|---|---|---|\n")
			}
			for _, p := range op.Parameters {
				about := p.Description
				if p.Required {
					about = "**required**; " + about
				}
				fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", p.Name, p.In, p.Schema.kind(),
					strings.TrimSuffix(about, "; "))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Components.Schemas)) {
		fmt.Fprintf(&b, "\n## %s\n\n| field | type | |\n|---|---|---|\n", name)
		d.Components.Schemas[name].writeFields(&b, "")
	}
	return b.String()
}

// outcomes writes a row for each status other than 200, with the operations that are answered so where those are few.
func (d openAPI) outcomes() string {
	var b strings.Builder
	b.WriteString("\n| status | headers | when | of |\n|---|---|---|---|\n")
	for _, status := range slices.Sorted(maps.Keys(d.Components.Responses)) {
		var of []string
		all := 0
		for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
			for _, method := range slices.Sorted(maps.Keys(d.Paths[path])) {
				all++
				if _, ok := d.Paths[path][method].Responses[status]; ok {
					of = append(of, fmt.Sprintf("`%s %s`", strings.ToUpper(method), path))
				}
			}
		}
		where := strings.Join(of, ", ")
		if len(of) == all {
			where = "all"
		} else if len(of) > 3 {
			where = fmt.Sprintf("%d operations", len(of))
		}
		o := d.Components.Responses[status]
		headers := strings.Join(slices.Sorted(maps.Keys(o.Headers)), ", ")
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", status, headers, o.Description, where)
	}
	return b.String()
}

func firstSchema(content map[string]struct{ Schema apiSchema }) *apiSchema {
	for _, c := range content {
		return &c.Schema
	}
	return nil
}

// writeFields writes a row for each field, and for those of objects within it.
func (s apiSchema) writeFields(b *strings.Builder, within string) {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		f := s.Properties[name]
		about := f.Description
		if slices.Contains(s.Required, name) && within == "" {
			about = "**always**; " + about
		}
		fmt.Fprintf(b, "| `%s%s` | %s | %s |\n", within, name, f.kind(), strings.ReplaceAll(strings.TrimSuffix(about,
			"; "), "|", `\|`))
		f.writeFields(b, within+name+".")
		if f.Items != nil {
			f.Items.writeFields(b, within+name+"[].")
		}
	}
}

// TestReferenceMCP lists the tools that tooldex itself has over MCP: those that the modes list, and those that are
// called without being listed.
func TestReferenceMCP(t *testing.T) {
	if testing.Short() {
		t.Skip("checks a page of the documents")
	}
	t.Parallel()
	var b strings.Builder
	fmt.Fprintf(&b, "# Meta-tools\n\n%s\n", generated)
	b.WriteString("The tools that tooldex itself offers over MCP, beside those of its servers. [mcp.md](mcp.md) says which mode lists which.\n" +
		"`propose_utterances` and `write_utterances` are in no list, and are called through `invoke_tool`: [enrich.md](enrich.md#by-an-agent).\n")
	listed := map[string]bool{}
	for _, mode := range []string{"search", "dynamic"} {
		cmd := servingCommand(t, t.TempDir(), "serve", "--stdio", "--demo", "--mode", mode, "--summary",
			"(Here stands what can be found.)")
		client := mcp.NewClient(&mcp.Implementation{Name: "reference", Version: "1"}, nil)
		if err := mcp.AddSendingCustomMethod[*describeParams, *describedTool](client, "tools/describe"); err != nil {
			t.Fatal(err)
		}
		// which has sessions, that dynamic needs
		c, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd},
			&mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		list, err := c.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range list.Tools {
			if listed[m.Name] {
				continue
			}
			listed[m.Name] = true
			writeMetaTool(t, &b, m)
			writeMetaOutput(t, &b, c, m.Name)
			if mode == "dynamic" {
				b.WriteString("\nListed in the mode `dynamic` alone.\n")
			}
		}
	}
	published(t, "mcp-tools.md", b.String())
}

// describeParams and describedTool are what tools/describe takes and returns.
type describeParams struct {
	mcp.ParamsBase
	Name string `json:"name"`
}

type describedTool struct {
	mcp.ResultBase
	Tool struct {
		OutputSchema *apiSchema `json:"outputSchema"`
	} `json:"tool"`
}

// writeMetaOutput lists the members of a tool's structured result, which tools/list leaves out.
func writeMetaOutput(t *testing.T, b *strings.Builder, c *mcp.ClientSession, name string) {
	t.Helper()
	res, err := mcp.CallCustomMethod[*describeParams, *describedTool](t.Context(), c, "tools/describe",
		&describeParams{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	if res.Tool.OutputSchema == nil {
		return
	}
	b.WriteString("\nThe [structured result](mcp.md#structured-results):\n\n| member | type | |\n|---|---|---|\n")
	res.Tool.OutputSchema.writeFields(b, "")
}

func writeMetaTool(t *testing.T, b *strings.Builder, m *mcp.Tool) {
	t.Helper()
	raw, err := json.Marshal(m.InputSchema)
	if err != nil {
		t.Fatal(err)
	}
	var schema apiSchema
	if err := json.Unmarshal(raw, &schema); err != nil {
		t.Fatal(err)
	}
	hints := []string{}
	if a := m.Annotations; a != nil {
		for name, on := range map[string]bool{
			"reads only":  a.ReadOnlyHint,
			"may destroy": a.DestructiveHint != nil && *a.DestructiveHint, "reaches out": a.OpenWorldHint != nil &&
				*a.OpenWorldHint,
		} {
			if on {
				hints = append(hints, name)
			}
		}
		slices.Sort(hints)
	}
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n", m.Name, m.Description)
	if len(hints) > 0 {
		fmt.Fprintf(b, "Annotated as: %s.\n\n", strings.Join(hints, ", "))
	}
	if len(schema.Properties) == 0 {
		b.WriteString("It takes nothing.\n")
		return
	}
	b.WriteString("| argument | type | default | |\n|---|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		p := schema.Properties[name]
		about, initial := p.Description, ""
		if slices.Contains(schema.Required, name) {
			about = strings.TrimSuffix("**required**; "+about, "; ")
		}
		if p.Default != nil {
			initial = fmt.Sprintf("`%v`", p.Default)
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", name, p.kind(), initial, about)
	}
}

// TestReferenceErrors makes the page of codes from the comments at their declarations.
func TestReferenceErrors(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, "# Error codes and exit codes\n\n%s\n", generated)
	b.WriteString("## Codes\n\nEvery error has one of these, in the Go API (`tool.CodeOf`), over HTTP (`code` of a [Problem](api.md#problem)) and in the log.\n\n" +
		"| code | what it is | again later? |\n|---|---|---|\n")
	comments := codeComments(t)
	for _, c := range tool.Codes() {
		again := "no"
		if c == tool.Unavailable || c == tool.Timeout {
			again = "yes"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", c, cmp.Or(comments[c], "?"), again)
	}
	b.WriteString("\nOver HTTP there are a few more, for what never reaches an operation; the description of `Problem` lists them.\n")
	b.WriteString("\n## Exit codes\n\n| code | meaning |\n|---|---|\n")
	for _, row := range []struct {
		code int
		what string
	}{
		{exitDone, "done"},
		{exitFailed, "failed: any code above but `not_found`"},
		{exitUsage, "wrong usage: this command line can never work"},
		{exitNone, "nothing was found (`not_found`), or a gate is not met"},
	} {
		fmt.Fprintf(&b, "| %d | %s |\n", row.code, row.what)
	}
	b.WriteString("\n[cli.md](cli.md) lists the exit codes of each command.\n")
	published(t, "errors.md", b.String())
}

// codeComments reads what is said of each code where it is declared, in the order of tool.Codes.
func codeComments(t *testing.T) map[tool.Code]string {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "../../tool/errors.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	p, err := doc.NewFromFiles(set, []*ast.File{file}, "tooldex/tool")
	if err != nil {
		t.Fatal(err)
	}
	out := map[tool.Code]string{}
	for _, typ := range p.Types {
		for _, group := range typ.Consts {
			if typ.Name != "Code" {
				continue
			}
			for i, spec := range group.Decl.Specs {
				out[tool.Code(i)] = strings.TrimSpace(spec.(*ast.ValueSpec).Comment.Text())
			}
		}
	}
	return out
}
