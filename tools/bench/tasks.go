package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/catalog/sources"
	"tooldex/mcpsrv"
	"tooldex/tool"
	"tooldex/tools/internal/gauge"
)

// task is one thing that an agent does: it looks for a tool in its own words, and calls it.
type task struct{ request, tool, args string }

// tasks are what an agent does in one session, over servers of the real catalogue.
func tasks() []task {
	return []task{
		{"see what is written in notes.txt", "filesystem__read_text_file", `{"path":"notes.txt"}`},
		{"give the file another name", "filesystem__move_file", `{"source":"notes.txt","destination":"old.txt"}`},
		{
			"start a branch in my GitHub repository", "github__create_branch",
			`{"owner":"me","repo":"site","branch":"fix"}`,
		},
		{
			"file a bug in our GitLab project", "gitlab__create_issue",
			`{"project_id":"7","title":"The form forgets what was typed"}`,
		},
		{"capture how the page looks in the browser", "playwright__browser_take_screenshot", `{"scale":"css"}`},
		{
			"look something up on the web", "brave-search__brave_web_search",
			`{"query":"why forms forget what was typed"}`,
		},
		{
			"run a query against the Supabase database", "supabase__execute_sql",
			`{"project_id":"p","query":"select count(*) from forms"}`,
		},
		{
			"show what the pod printed", "kubernetes__kubectl_logs",
			`{"resourceType":"pod","name":"web-1","namespace":"default"}`,
		},
		{"which errors does Sentry know", "sentry__search_issues", `{"organizationSlug":"me","query":"form"}`},
		{
			"keep in mind what I learned about an entity", "memory__add_observations",
			`{"observations":[{"entityName":"form","contents":["forgets"]}]}`,
		},
	}
}

// tally is what one session cost the model that worked in it, in tokens.
type tally struct {
	first, last int // the list of tools, in the beginning and in the end
	talk        int // calls and answers
	added       int // what was added to the list on the way
	turns       int
	everyTurn   int // all that the turns read, each the list and what was said before it
	found       int // tasks whose tool was among the first five
}

// turn counts one call and its answer.
func (t *tally) turn(call, answer string) {
	t.turns++
	t.everyTurn += t.last + t.talk
	t.talk += countTokens(call) + countTokens(answer)
}

// once is all that is read if nothing is read twice.
func (t *tally) once() int { return t.first + t.added + t.talk }

// taskRows plays the tasks in each mode, with upstreams that are the dumps come alive and answer every call alike.
func taskRows(ctx context.Context, c config, dir, data string) ([]row, error) {
	servers, err := dumpServers(c, dir)
	if err != nil {
		return nil, err
	}
	var rows []row
	plain := 0
	for _, mode := range []mcpsrv.Mode{mcpsrv.Full, mcpsrv.Lazy, mcpsrv.Dynamic, mcpsrv.Search} {
		t, err := play(ctx, c, mode, servers, data)
		if err != nil {
			return nil, fmt.Errorf("ten tasks in %s mode: %w", mode, err)
		}
		if mode == mcpsrv.Full {
			plain = t.once()
		}
		got := fmt.Sprintf("%d tokens (list %d, then %d; talk %d)", t.once(), t.first, t.last, t.talk)
		if mode != mcpsrv.Full {
			got += fmt.Sprintf(", %.1f %% saved", 100*(1-float64(t.once())/float64(plain)))
		}
		if mode == mcpsrv.Search || mode == mcpsrv.Dynamic {
			got += fmt.Sprintf("; %d of %d found by the first search", t.found, len(tasks()))
		}
		rows = append(
			rows,
			row{fmt.Sprintf("ten tasks in `%s` mode, reading everything once", mode), got, "", true},
			row{
				fmt.Sprintf("the same, reading everything again in each of %d turns", t.turns),
				fmt.Sprintf("%d tokens", t.everyTurn), "", true,
			},
		)
	}
	return rows, nil
}

// dumpServers writes a file of servers that serve the dumps.
func dumpServers(c config, dir string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	files, err := gauge.Dumps(c.data)
	if err != nil {
		return "", err
	}
	servers := map[string]any{}
	for _, file := range files {
		path, err := filepath.Abs(file)
		if err != nil {
			return "", err
		}
		servers[strings.TrimSuffix(filepath.Base(file), ".json")] = map[string]any{
			"command": self,
			"args":    []string{"upstream", path},
		}
	}
	b, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "dumps.json")
	return file, os.WriteFile(file, b, 0o600)
}

// player is an agent that knows from each answer what to do next.
type player struct {
	*mcp.ClientSession
	tally
	listed map[string]bool // names in the list as it was read last; nil before
}

func play(ctx context.Context, c config, mode mcpsrv.Mode, servers, data string) (tally, error) {
	cmd := exec.CommandContext(ctx, c.bin, "serve", "--stdio", "--mode", string(mode), "-c", servers, "-d", data)
	s, err := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil).
		Connect(ctx, &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		return tally{}, fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = s.Close() }()
	p := &player{ClientSession: s}
	if err := p.list(ctx); err != nil {
		return tally{}, err
	}
	for _, one := range tasks() {
		if err := p.do(ctx, mode, one); err != nil {
			return tally{}, fmt.Errorf("%s: %w", one.tool, err)
		}
	}
	return p.tally, nil
}

// list reads the list of tools, and counts what was not in it before.
func (p *player) list(ctx context.Context) error {
	all, added := 0, 0
	now := map[string]bool{}
	for one, err := range p.Tools(ctx, nil) {
		if err != nil {
			return err
		}
		b, err := json.Marshal(one)
		if err != nil {
			return err
		}
		n := countTokens(string(b))
		all += n
		if now[one.Name] = true; !p.listed[one.Name] {
			added += n
		}
	}
	if p.listed == nil {
		p.first = all
	} else {
		p.added += added
	}
	p.last, p.listed = all, now
	return nil
}

func (p *player) do(ctx context.Context, mode mcpsrv.Mode, one task) error {
	name, _ := json.Marshal(one.tool) // a string
	switch mode {
	case mcpsrv.Lazy:
		if _, err := p.call(ctx, "get_tool_description", fmt.Sprintf(`{"name":[%s]}`, name)); err != nil {
			return err
		}
	case mcpsrv.Search, mcpsrv.Dynamic:
		if err := p.search(ctx, one); err != nil {
			return err
		}
	}
	switch mode {
	case mcpsrv.Search:
		if _, err := p.call(ctx, "get_tool_description", fmt.Sprintf(`{"name":[%s]}`, name)); err != nil {
			return err
		}
		_, err := p.call(ctx, "invoke_tool", fmt.Sprintf(`{"name":%s,"arguments":%s}`, name, one.args))
		return err
	case mcpsrv.Dynamic:
		if err := p.list(ctx); err != nil {
			return err
		}
	}
	_, err := p.call(ctx, one.tool, one.args)
	return err
}

// search looks for the tool, and once more for more of them if it is not there.
func (p *player) search(ctx context.Context, one task) error {
	for _, limit := range []int{5, 20} {
		request, err := json.Marshal(map[string]any{"query": one.request, "limit": limit})
		if err != nil {
			return err
		}
		answer, err := p.call(ctx, "search_tools", string(request))
		if err != nil {
			return err
		}
		if slices.ContainsFunc(strings.Split(answer, "\n"), func(line string) bool {
			return strings.HasPrefix(line, "- "+one.tool+"(")
		}) {
			if limit == 5 {
				p.found++
			}
			return nil
		}
	}
	return nil // the agent knows it from elsewhere
}

func (p *player) call(ctx context.Context, name, args string) (string, error) {
	res, err := p.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(args)})
	if err != nil {
		return "", err
	}
	var parts []string
	for _, content := range res.Content {
		if text, ok := content.(*mcp.TextContent); ok {
			parts = append(parts, text.Text)
		}
	}
	answer := strings.Join(parts, "\n")
	if res.IsError {
		return "", errors.New(answer)
	}
	p.turn(name+args, answer)
	return answer, nil
}

// alive is a dump as a server: it lists the tools and answers every call alike.
type alive struct{ set *tool.Set }

func (a alive) Set() *tool.Set { return a.set }

func (alive) Search(context.Context, tool.Query) (*tool.Result, error) {
	return nil, &tool.Error{Code: tool.Invalid, Op: "search", Msg: "a dump is not searched"}
}

func (alive) Call(context.Context, tool.Call) (*tool.CallResult, error) {
	return &tool.CallResult{Raw: json.RawMessage(`{"content":[{"type":"text","text":"Done: one item, as was asked for."}]}`)}, nil
}

// serveDump is a server of what a dump holds.
func serveDump(ctx context.Context, file string) error {
	s, err := dumpServer(ctx, file)
	if err != nil {
		return err
	}
	return s.RunStdio(ctx)
}

func dumpServer(ctx context.Context, file string) (*mcpsrv.Server, error) {
	content, err := sources.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var tools []*tool.Tool
	for _, source := range content.Sources {
		more, err := source.Tools(ctx)
		if err != nil {
			return nil, err
		}
		tools = append(tools, more...)
	}
	a := alive{tool.NewSet(tools, "")}
	return mcpsrv.New(mcpsrv.Options{Searcher: a, Caller: a, Catalog: a, Mode: mcpsrv.Full}), nil
}

// serveDumpsHTTP serves each dump of a folder over streamable HTTP at its name, and says where it listens.
func serveDumpsHTTP(ctx context.Context, dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	for _, file := range files {
		s, err := dumpServer(ctx, file)
		if err != nil {
			return err
		}
		mux.Handle("/"+strings.TrimSuffix(filepath.Base(file), ".json"), s.Handler())
	}
	return serveHTTP(ctx, mux)
}

// countTokens estimates how many tokens a model reads for s: characters / 4, rounded up.
func countTokens(s string) int { return (utf8.RuneCountInString(s) + 3) / 4 }
