package service

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"tooldex/access"
	"tooldex/eval"
	"tooldex/eval/agent"
	"tooldex/tool"
)

// agentDepth is how many calls of an agent are scored for one request.
const agentDepth = 10

// RunAgent puts the requests of a set to a chat model, as newAgent opens it, and scores the tools that it calls.
func (s *Service) RunAgent(ctx context.Context, name string, set *eval.Dataset, o eval.Options) (*eval.Report, error) {
	a, closeViews, err := s.newAgent(ctx, name)
	if err != nil {
		return nil, err
	}
	defer closeViews()
	o.Limit, o.Answer = agentDepth, -1
	r, err := eval.Run(ctx, a, set, o)
	if err != nil {
		return nil, err
	}
	u := a.Use()
	r.Mode, r.Calibration = "", nil // a call has no probability
	r.Agent = &eval.AgentUse{
		Model: name, Calls: u.Calls, Invalid: u.Invalid, Unknown: u.Unknown, Silent: u.Silent, Offered: u.Offered,
		PromptTokens: u.PromptTokens, AnswerTokens: u.AnswerTokens,
	}
	return r, nil
}

// newAgent returns an agent that has a chat model, ollama:MODEL or openai:MODEL, choose among the tools of the service.
// The addresses and the key are those of the embedders. Call close after use. The service must be opened ToSearch. The
// error is Invalid for another name.
func (s *Service) newAgent(ctx context.Context, name string) (a *agent.Agent, closeViews func(), err error) {
	c := s.Config()
	kind, model, _ := strings.Cut(name, ":")
	o := agent.Options{Model: model, Set: s.Catalog.Set()}
	switch kind {
	case "ollama":
		o.URL = cmp.Or(OllamaURL(c.OllamaHost), "http://127.0.0.1:11434") + "/v1"
	case "openai":
		o.URL, o.Key = cmp.Or(c.OpenAIBaseURL, "https://api.openai.com/v1"), c.OpenAIKey
	default:
		return nil, nil, &tool.Error{
			Code: tool.Invalid, Op: "open agent", Msg: fmt.Sprintf("%q is no chat model", name),
			Hint: "use ollama:MODEL or openai:MODEL",
		}
	}
	views, err := s.NewViews(ctx, ViewOptions{})
	if err != nil {
		return nil, nil, err
	}
	o.Select = views.New(access.View{}).Selector.Select
	if a, err = agent.New(o); err != nil {
		views.Close()
		return nil, nil, err
	}
	return a, views.Close, nil
}
