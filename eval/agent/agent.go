package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"tooldex/selection"
	"tooldex/tool"
	"tooldex/validate"
)

// system is the first message of every conversation. It names no tool and no domain, so that what is measured is the
// choice of tools.
const system = "You are an agent that works through tools. Call every tool that the user's request needs, all of " +
	"them at once, with arguments taken from the request; invent plausible values for what it does not give. Ask " +
	"nothing. If no tool does what is asked, call none and say so in a few words."

// Options configure an Agent. URL, Model, Select and Set are required.
type Options struct {
	URL    string // of the API, to which /chat/completions is added
	Key    string // sent as a bearer token; "" for none
	Model  string
	Select func(context.Context, selection.Query) (*selection.Selection, error)
	Set    *tool.Set    // the tools that Select chooses from
	Client *http.Client // nil means one that waits five minutes for an answer
}

// Use counts what the model did since the Agent was made.
type Use struct {
	Offered, Calls, Invalid, Unknown, Silent int
	PromptTokens, AnswerTokens               int
}

// Agent asks a chat model behind the chat completions API, which OpenAI, Ollama and many others offer. It is safe for
// concurrent use. mu guards use only; requests run concurrently.
type Agent struct {
	o        Options
	endpoint string
	schemas  *validate.Schemas
	mu       sync.Mutex
	use      Use
}

// New checks the options. It does not contact the service. The error is Invalid.
func New(o Options) (*Agent, error) {
	base, err := url.Parse(strings.TrimRight(o.URL, "/"))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" || base.User != nil {
		return nil, &tool.Error{
			Code: tool.Invalid, Op: "open agent", Msg: "the address of the chat API is not one",
			Hint: "give it like https://api.openai.com/v1, without a name or key in it",
		}
	}
	if o.Model == "" {
		return nil, &tool.Error{
			Code: tool.Invalid, Op: "open agent", Msg: "no chat model is named",
			Hint: "name one, such as ollama:qwen3 or openai:gpt-5-mini",
		}
	}
	if o.Client == nil {
		o.Client = &http.Client{Timeout: answerTimeout}
	}
	return &Agent{
		o: o, endpoint: base.String() + "/chat/completions",
		schemas: validate.NewSchemas(slog.New(slog.DiscardHandler)),
	}, nil
}

// Use returns the counts so far.
func (a *Agent) Use() Use {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.use
}

// Search implements tool.Searcher. The result has the tools that the model calls, without repeats, at most q.Limit, and
// is confident if there is one. Nothing but the IDs and a score of 1 is filled in. The errors are those of Select, and
// Unavailable if the model does not answer.
func (a *Agent) Search(ctx context.Context, q tool.Query) (*tool.Result, error) {
	// The tools are selected as for a real agent, so that the score includes the selection.
	offered, err := a.o.Select(ctx, selection.Query{Message: q.Text, Format: selection.FormatOpenAI})
	if err != nil {
		return nil, err
	}
	answer, err := a.complete(ctx, q.Text, offered.Tools)
	if err != nil {
		return nil, err
	}
	byName := make(map[string]*selection.Selected, len(offered.Selected))
	for i := range offered.Selected {
		byName[offered.Selected[i].Name] = &offered.Selected[i]
	}
	use := Use{Offered: len(offered.Tools), PromptTokens: answer.Usage.Prompt, AnswerTokens: answer.Usage.Completion}
	res := &tool.Result{Degraded: offered.Degraded}
	seen := map[tool.ID]bool{}
	for _, call := range answer.calls() {
		use.Calls++
		one, ok := byName[call.Function.Name]
		if !ok {
			use.Unknown++
			continue
		}
		// A call with wrong arguments still counts as the choice of its tool; the count shows it beside the score.
		if !a.fits(one, call.Function.Arguments) {
			use.Invalid++
		}
		if limit := cmp.Or(q.Limit, tool.DefaultLimit); !seen[one.ID] && len(res.Tools) < limit {
			seen[one.ID] = true
			res.Tools = append(res.Tools, tool.Hit{ID: one.ID, Exposed: one.Name, Score: 1})
		}
	}
	if use.Calls == 0 {
		use.Silent++
	}
	res.Confident = len(res.Tools) > 0
	a.add(use)
	return res, nil
}

// add adds to the counts.
func (a *Agent) add(u Use) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.use.Offered += u.Offered
	a.use.Calls += u.Calls
	a.use.Invalid += u.Invalid
	a.use.Unknown += u.Unknown
	a.use.Silent += u.Silent
	a.use.PromptTokens += u.PromptTokens
	a.use.AnswerTokens += u.AnswerTokens
}

// fits reports whether the arguments of a call are those of the tool. Parameters that the format renamed get their own
// names back first.
func (a *Agent) fits(one *selection.Selected, arguments string) bool {
	t, ok := a.o.Set.Get(one.ID)
	if !ok {
		return false
	}
	args := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(cmp.Or(strings.TrimSpace(arguments), "{}")), &args); err != nil {
		return false
	}
	for given, own := range one.Renamed {
		if v, ok := args[given]; ok {
			delete(args, given)
			maps.Copy(args, map[string]json.RawMessage{own: v})
		}
	}
	b, err := json.Marshal(args)
	if err != nil {
		return false
	}
	return a.schemas.Of(fmt.Sprint(one.ID), t.InputSchema).CheckArguments(one.Name, b) == nil
}
