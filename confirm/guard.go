package confirm

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"tooldex/tool"
)

// Options configures a Guard. The zero value works, and asks nothing.
type Options struct {
	// Rules returns the rules of this moment. It is called for each call and search, so it must be quick, and safe for
	// concurrent use. Nil means that no tool needs confirmation.
	Rules   func() Rules
	Catalog tool.Catalog // to find the called tool; nil: only its name is known
}

// Guard asks for confirmation. It is safe for concurrent use. A nil Guard passes everything on.
type Guard struct {
	o Options
}

// New returns a Guard.
func New(o Options) *Guard {
	if o.Rules == nil {
		o.Rules = func() Rules { return Rules{} }
	}
	return &Guard{o}
}

// Needs reports whether calls of t need confirmation.
func (g *Guard) Needs(t *tool.Tool) bool { return g != nil && g.o.Rules().Needs(t) }

// Searcher returns a Searcher that passes queries on to next, and marks tools whose calls need confirmation.
func (g *Guard) Searcher(next tool.Searcher) tool.Searcher {
	if g == nil {
		return next
	}
	return searcher{g, next}
}

// searcher marks what its next Searcher finds.
type searcher struct {
	guard *Guard
	next  tool.Searcher
}

// Search implements tool.Searcher.
func (s searcher) Search(ctx context.Context, q tool.Query) (*tool.Result, error) {
	res, err := s.next.Search(ctx, q)
	rules := s.guard.o.Rules()
	if err != nil || rules.None() {
		return res, err
	}
	out := *res // others may share res
	out.Tools = markHits(rules, res.Tools)
	out.Groups = slices.Clone(res.Groups)
	for i := range out.Groups {
		out.Groups[i].Tools = markHits(rules, out.Groups[i].Tools)
	}
	return &out, nil
}

// markHits returns copies of hits that say whether their calls need confirmation.
func markHits(rules Rules, hits []tool.Hit) []tool.Hit {
	out := slices.Clone(hits)
	for i := range out {
		out[i].Confirm = out[i].Tool != nil && rules.Needs(out[i].Tool)
	}
	return out
}

// Caller returns a Caller that passes on to next the calls that were confirmed or need no confirmation. The error of
// any other is of code Denied, with an Unconfirmed in its chain that says why.
func (g *Guard) Caller(next tool.Caller) tool.Caller {
	if g == nil {
		return next
	}
	return caller{g, next}
}

// caller asks before it passes calls on.
type caller struct {
	guard *Guard
	next  tool.Caller
}

// Call implements tool.Caller.
func (c caller) Call(ctx context.Context, call tool.Call) (*tool.CallResult, error) {
	rules := c.guard.o.Rules()
	if rules.None() || !rules.Needs(c.guard.findTool(call.ID)) {
		return c.next.Call(ctx, call)
	}
	how := "by the request"
	if !call.Confirmed {
		if err := c.guard.askPerson(ctx, call, cmp.Or(rules.Within, DefaultTime)); err != nil {
			return nil, err
		}
		how = "by the user"
	}
	if call.OnConfirm != nil {
		call.OnConfirm(how)
	}
	if call.Client != nil && call.Client.Rounds && call.Client.Ask != nil {
		// What the server itself asks takes the same way as the question: a result that asks would end this call, and
		// the repeated call would have to be confirmed again.
		client := *call.Client
		client.Rounds = false
		call.Client = &client
	}
	return c.next.Call(ctx, call)
}

// findTool returns the tool that is called, or one with nothing but its name if it is unknown.
func (g *Guard) findTool(id tool.ID) *tool.Tool {
	if g.o.Catalog != nil {
		if set := g.o.Catalog.Set(); set != nil {
			if t, ok := set.Get(id); ok {
				return t
			}
		}
	}
	return &tool.Tool{Server: id.Server(), Name: id.Name()}
}

// schema asks for nothing but the answer itself: accept, decline or cancel.
const schema = `{"type":"object","properties":{}}`

// askPerson returns nil if the person at the client says yes to each page of the question.
func (g *Guard) askPerson(ctx context.Context, call tool.Call, within time.Duration) error {
	if call.Client == nil || call.Client.Ask == nil || !supportsForms(call.Client.Capabilities) {
		return refuseCall(call.ID, Unasked, nil)
	}
	for _, page := range Pages(call.ID, call.Arguments) {
		if err := askPage(ctx, call, page, within); err != nil {
			return err
		}
	}
	return nil
}

// askPage returns nil if the person accepts one page.
func askPage(ctx context.Context, call tool.Call, page string, within time.Duration) error {
	params, err := json.Marshal(map[string]any{
		"mode": "form", "message": page,
		"requestedSchema": json.RawMessage(schema),
	})
	if err != nil {
		return fmt.Errorf("ask for confirmation: %w", err)
	}
	asking, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	raw, err := call.Client.Ask(asking, "elicitation/create", params)
	if ctx.Err() != nil {
		return fmt.Errorf("ask for confirmation: %w", ctx.Err())
	}
	if err != nil {
		return refuseCall(call.ID, Unanswered, err)
	}
	var answer struct {
		Action string `json:"action"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return refuseCall(call.ID, Unanswered, err)
	}
	switch answer.Action {
	case "accept":
		return nil
	case "decline":
		return refuseCall(call.ID, Declined, nil)
	case "cancel":
		return refuseCall(call.ID, Dismissed, nil)
	}
	return refuseCall(call.ID, Unanswered, fmt.Errorf("the action %.40q", answer.Action))
}

// supportsForms reports whether a client can show a person a form. Before there were other kinds of elicitation, an
// empty object declared that.
func supportsForms(capabilities json.RawMessage) bool {
	var c struct {
		Elicitation map[string]json.RawMessage `json:"elicitation"`
	}
	if json.Unmarshal(capabilities, &c) != nil || c.Elicitation == nil {
		return false
	}
	_, form := c.Elicitation["form"]
	return form || len(c.Elicitation) == 0
}

// refuseCall returns the error for a model, in words that do not invite another try.
func refuseCall(id tool.ID, why Unconfirmed, cause error) error {
	e := &tool.Error{Code: tool.Denied, Op: "call", Err: why}
	if cause != nil {
		e.Err = fmt.Errorf("%w: %s", why, cause.Error()) // as text only: its code must not decide what callers do
	}
	name := string(id)
	switch why {
	case Declined:
		e.Msg = "the user declined the call of " + name + "; nothing was called"
		e.Hint = "do not call it again with these arguments; ask the user how to proceed"
	case Dismissed:
		e.Msg = "the user closed the question whether to call " + name + "; nothing was called"
		e.Hint = "ask the user how to proceed"
	case Unanswered:
		e.Msg = "nobody confirmed the call of " + name + "; nothing was called"
		e.Hint = "ask the user whether to try again"
	default:
		e.Msg = name + " may change or destroy something, so a person has to confirm each call of it; nothing was called"
		e.Hint = "this client cannot ask the user: it lacks elicitation. Tell the user, who can call the tool by hand, or change serve.confirm"
	}
	return e
}
