package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"tooldex/eval"
	"tooldex/eval/agent"
	"tooldex/selection"
	"tooldex/tool"
)

// chat is a service with the chat completions API, as OpenAI documents it: a model that calls each offered function
// whose name it finds in the request, with the arguments of args.
type chat struct {
	t    *testing.T
	args string
	busy int // answers with 429 first
}

func (c *chat) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if c.busy > 0 {
		c.busy--
		w.Header().Set("Retry-After", "0")
		http.Error(w, `{"error": {"message": "slow down"}}`, http.StatusTooManyRequests)
		return
	}
	if r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer sk-test" {
		http.Error(w, `{"error": {"message": "Incorrect API key: sk-test"}}`, http.StatusUnauthorized)
		return
	}
	var asked struct {
		Model    string
		Messages []struct{ Role, Content string }
		Tools    []struct {
			Type     string
			Function struct {
				Name       string
				Parameters json.RawMessage
			}
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		c.t.Error(err)
	}
	if asked.Model != "gpt-test" {
		http.Error(w, `{"error": {"code": "model_not_found"}}`, http.StatusNotFound)
		return
	}
	request := asked.Messages[len(asked.Messages)-1].Content
	calls := []any{}
	for _, offered := range asked.Tools {
		if offered.Type == "function" && strings.Contains(request, offered.Function.Name) {
			calls = append(calls, map[string]any{
				"id": "call_1", "type": "function",
				"function": map[string]any{"name": offered.Function.Name, "arguments": c.args},
			})
		}
	}
	if strings.Contains(request, "invent") {
		calls = append(calls, map[string]any{"function": map[string]any{"name": "no_such_tool", "arguments": "{}"}})
	}
	answer := map[string]any{
		"choices": []any{map[string]any{"message": map[string]any{"role": "assistant", "tool_calls": calls}}},
		"usage":   map[string]any{"prompt_tokens": 100, "completion_tokens": 7},
	}
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		c.t.Error(err)
	}
}

// catalogue returns tools, and a Select that offers all of them.
func catalogue(t *testing.T) (*tool.Set, func(context.Context, selection.Query) (*selection.Selection, error)) {
	t.Helper()
	schema := json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)
	set := tool.NewSet([]*tool.Tool{
		{Server: "files", Name: "read_file", Description: "Read a file.", InputSchema: schema},
		{Server: "files", Name: "delete_file", Description: "Delete a file.", InputSchema: schema},
		{Server: "crm", Name: "list_orders", Description: "List orders.", InputSchema: json.RawMessage(`{"type":"object"}`)},
	}, "")
	s := selection.NewSelector(selection.Options{Catalog: fixed{set}, Mode: selection.ModeAll, Searcher: noSearch{}})
	return set, s.Select
}

type fixed struct{ set *tool.Set }

func (f fixed) Set() *tool.Set { return f.set }

type noSearch struct{}

func (noSearch) Search(context.Context, tool.Query) (*tool.Result, error) {
	return nil, errors.New("nothing is searched where all tools are offered")
}

func open(t *testing.T, c *chat, model string) *agent.Agent {
	t.Helper()
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	set, choose := catalogue(t)
	a, err := agent.New(agent.Options{URL: server.URL + "/v1/", Key: "sk-test", Model: model, Select: choose, Set: set})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// What the model calls is scored as what a search finds.
func TestAgentIsScored(t *testing.T) {
	set, _ := catalogue(t)
	d := eval.NewDataset("calls", set)
	d.Cases = []eval.Case{
		{ID: "one", Query: "files__read_file please", Relevant: []string{"files/read_file"}},
		{ID: "wrong", Query: "files__delete_file please", Relevant: []string{"files/read_file"}},
		{ID: "two", Query: "files__read_file, then crm__list_orders", Relevant: []string{"files/read_file", "crm/list_orders"}},
		{ID: "none", Query: "sing a song"},
		{ID: "invented", Query: "invent a tool"},
	}
	for i := range d.Cases { // the set's own names of its tools
		for k, id := range d.Cases[i].Relevant {
			d.Cases[i].Relevant[k] = d.Label(tool.ID(id))
		}
	}
	a := open(t, &chat{t: t, args: `{"path": "a.txt"}`, busy: 2}, "gpt-test")
	r, err := eval.Run(t.Context(), a, d, eval.Options{Answer: -1, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	var ranks []int
	for _, o := range r.Cases {
		ranks = append(ranks, o.Rank)
	}
	if want := []int{1, 0, 1, 0, 0}; !slices.Equal(ranks, want) {
		t.Errorf("ranks %v, want %v", ranks, want)
	}
	if got := r.Cases[2].Places; !slices.Equal(got, []int{1, 2}) {
		t.Errorf("places %v", got)
	}
	if *r.NoMatch.All.Confident != 0 {
		t.Errorf("confident about %v of requests for which it called nothing", *r.NoMatch.All.Confident)
	}
	want := agent.Use{Offered: 15, Calls: 5, Unknown: 1, Silent: 1, PromptTokens: 500, AnswerTokens: 35}
	if got := a.Use(); got != want {
		t.Errorf("use %+v, want %+v", got, want)
	}
}

func TestAgentCountsInvalidArguments(t *testing.T) {
	for args, invalid := range map[string]int{
		`{"path": "a"}`: 0, `{"path": 3}`: 1, `{}`: 1, ``: 1, `nonsense`: 1, `{"path": "a", "other": 1}`: 0,
	} {
		a := open(t, &chat{t: t, args: args}, "gpt-test")
		if _, err := a.Search(t.Context(), tool.Query{Text: "files__read_file"}); err != nil {
			t.Fatal(err)
		}
		if got := a.Use().Invalid; got != invalid {
			t.Errorf("arguments %q: %d invalid calls, want %d", args, got, invalid)
		}
	}
}

// Every failure names the model and what to do, and repeats neither the key nor what the service says.
func TestAgentFails(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	a := open(t, &chat{t: t}, "gpt-test")
	if _, err := a.Search(ended, tool.Query{Text: "files__read_file"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a search whose caller has gone: %v", err)
	}
	for name, tt := range map[string]struct {
		serve http.HandlerFunc
		key   string
		want  tool.Code
	}{
		"key":      {(&chat{t: t}).ServeHTTP, "sk-wrong", tool.Denied},
		"model":    {(&chat{t: t}).ServeHTTP, "sk-test", tool.NotFound},
		"no tools": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) }, "", tool.Invalid},
		"html":     {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, "", tool.Unavailable},
		"empty":    {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") }, "", tool.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(tt.serve)
			defer server.Close()
			set, choose := catalogue(t)
			a, err := agent.New(agent.Options{
				URL: server.URL + "/v1", Key: tt.key, Model: "gpt-other", Select: choose, Set: set,
			})
			if err != nil {
				t.Fatal(err)
			}
			_, err = a.Search(t.Context(), tool.Query{Text: "files__read_file"})
			var e *tool.Error
			if !errors.As(err, &e) || e.Code != tt.want || e.Hint == "" || !strings.Contains(e.Msg, "gpt-other") {
				t.Errorf("error %v, want %v with a hint", err, tt.want)
			}
			if strings.Contains(fmt.Sprint(err), "sk-") {
				t.Errorf("the error repeats the key: %v", err)
			}
		})
	}
}

func TestNewAgentRefuses(t *testing.T) {
	for _, o := range []agent.Options{{URL: "nowhere", Model: "m"}, {URL: "http://u:p@host/v1", Model: "m"}, {URL: "http://host/v1"}} {
		if _, err := agent.New(o); tool.CodeOf(err) != tool.Invalid {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
