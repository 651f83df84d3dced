package selection

import (
	"cmp"
	"context"
	"strings"
	"sync/atomic"
	"time"

	"tooldex/tool"
)

// DefaultCacheSize is the number of messages that a Selector remembers unless Options.CacheSize says otherwise.
const DefaultCacheSize = 512

const (
	defaultMaxTools       = 15
	defaultTokenThreshold = 50_000
	defaultIdle           = 5 * time.Minute
	// sameMeaning is the cosine above which two messages mean the same.
	sameMeaning = .92
)

// cacheAge bounds how long answers ignore what was learned meanwhile.
const cacheAge = 10 * time.Minute

// Embedder makes vectors of messages. embed.Embedder is one.
type Embedder interface {
	Queries(ctx context.Context, texts []string) ([][]float32, error)
}

// Options configure a Selector. Searcher and Catalog are required, and are those of the profile; the zero value of the
// rest works.
type Options struct {
	Searcher  tool.Searcher
	Catalog   tool.Catalog
	Embedder  Embedder          // finds messages that mean the same; nil: only those of the same text do
	Preferred func() *Preferred // what the profile prefers now; nil means nothing
	Profile   string            // whose evidence of use counts
	// Confirms reports whether a person has to confirm calls of a tool now, so that clients can say so; nil: never.
	Confirms func(*tool.Tool) bool
	// Core names tools that are in every selection, beside those that the catalogue always includes; nil for none. It
	// is called for each selection.
	Core func() []string

	Mode           Mode          // where neither the request nor the preferences say; "" means auto
	MaxTools       int           // likewise; zero means 15
	TokenThreshold int           // likewise; zero means 50,000
	CacheSize      int           // messages that are remembered; zero means DefaultCacheSize, less means none
	Idle           time.Duration // without use after which a conversation ends; zero means 5 minutes
	NoLifts        bool          // neither recent use nor the category of a message counts
}

// withDefaults fills in the documented defaults on a copy.
func (o Options) withDefaults() Options {
	o.Mode = cmp.Or(o.Mode, ModeAuto)
	o.MaxTools = cmp.Or(o.MaxTools, defaultMaxTools)
	o.TokenThreshold = cmp.Or(o.TokenThreshold, defaultTokenThreshold)
	o.CacheSize = cmp.Or(o.CacheSize, DefaultCacheSize)
	o.Idle = cmp.Or(o.Idle, defaultIdle)
	if o.Preferred == nil {
		none := &Preferred{}
		o.Preferred = func() *Preferred { return none }
	}
	if o.Core == nil {
		o.Core = func() []string { return nil }
	}
	return o
}

// Selector chooses the tools that an agent is given for a message. It starts nothing, and is safe for concurrent use.
type Selector struct {
	o             Options
	cache         *messageCache
	conversations *conversations
	costs         atomic.Pointer[toolCosts]
}

// NewSelector returns a Selector.
func NewSelector(o Options) *Selector {
	o = o.withDefaults()
	return &Selector{o: o, cache: newCache(o.CacheSize, sameMeaning, cacheAge), conversations: newConversations(o.Idle)}
}

// Called notes that a tool was called in a conversation, or outside of any if session is "": it is likely to be needed
// again.
func (s *Selector) Called(session string, id tool.ID) {
	s.conversations.recordCall(conversationKey{session: session}, id)
}

// Select chooses tools: the core ones and those asked for by name; what the message needs, and the last turns of the
// history with less weight; what earlier turns of the conversation needed; and what the preferences say; as many as the
// limits allow, each once. The tools of a conversation keep their order, and new ones come after them, so that what a
// model has read stays a prefix.
//
// The errors are those of a search, and Invalid for a query that cannot be answered.
func (s *Selector) Select(ctx context.Context, q Query) (*Selection, error) {
	q.Message = strings.TrimSpace(q.Message)
	now := s.o.Preferred()
	q = s.withDefaults(q, now)
	if q.SearchCall != nil {
		var err error
		if q.Message, err = q.SearchCall.query(); err != nil {
			return nil, err
		}
		q.Mode, q.Defer = ModeAuto, true
	}
	if err := checkQuery(q); err != nil {
		return nil, err
	}
	set := s.o.Catalog.Set()
	if set == nil {
		set = tool.NewSet(nil, "")
	}
	b := &builder{
		set: set, costs: s.costsOf(set), confirms: s.o.Confirms, maxTools: q.MaxTools, maxTokens: q.TokenThreshold,
		at: map[tool.ID]int{},
	}
	b.selection = &Selection{
		Format: q.Format, Mode: q.Mode, Confident: true, AllTools: b.costs.tools,
		AllTokens: b.costs.tokens,
	}
	if err := s.addTools(ctx, b, q, now); err != nil {
		return nil, err
	}
	b.writeTools(q)
	return b.selection, nil
}

// withDefaults puts the preferences, and then the defaults, where the query says nothing.
func (s *Selector) withDefaults(q Query, now *Preferred) Query {
	q.Mode = cmp.Or(q.Mode, now.Mode, s.o.Mode)
	q.Format = cmp.Or(q.Format, FormatMCP)
	if q.Mode != ModeAll { // all means all, unless the query says how many
		q.MaxTools = cmp.Or(q.MaxTools, now.MaxTools, s.o.MaxTools)
		q.TokenThreshold = cmp.Or(q.TokenThreshold, now.TokenThreshold, s.o.TokenThreshold)
	}
	return q
}

// checkQuery returns an Invalid error for a query that no selection can answer: an unknown mode or format, negative
// bounds, or nothing to select by.
func checkQuery(q Query) error {
	switch q.Mode {
	case ModeManual, ModeAll:
	case ModeAuto:
		if q.Message == "" && q.ToolSearch == "" {
			return &tool.Error{
				Code: tool.Invalid, Op: "select", Msg: "the message is empty",
				Hint: "say what the agent should do; only the modes manual and all need no message",
			}
		}
	default:
		return invalidPreference("mode", "is none of auto, manual, all")
	}
	known := false
	for _, f := range allFormats() {
		known = known || f == q.Format
	}
	switch {
	case !known:
		return invalidPreference("format", "is none of mcp, anthropic, openai, openai-responses, gemini")
	case q.References && q.Format != FormatAnthropic:
		return invalidPreference("toolReferences", "is for the format anthropic")
	case (q.Namespaces || q.ToolSearch != "" || q.SearchCall != nil) && q.Format != FormatResponses:
		return invalidPreference("namespaces, toolSearch and toolSearchCall", "are for the format openai-responses")
	case q.Defer && q.Format != FormatAnthropic && q.Format != FormatResponses:
		return invalidPreference("deferLoading", "is for the formats anthropic and openai-responses")
	case q.ToolSearch != "" && q.ToolSearch != ServerSearch && q.ToolSearch != ClientSearch:
		return invalidPreference("toolSearch", "is neither server nor client")
	case q.ToolSearch != "" && q.SearchCall != nil:
		return invalidPreference("toolSearch", "is for the first request, and toolSearchCall for a later one")
	case q.MaxTools < 0 || q.MaxTools > maxLimitTools:
		return invalidPreference("maxTools", "is not from 0 to 1000")
	case q.TokenThreshold < 0 || q.TokenThreshold > maxLimitToken:
		return invalidPreference("tokenThreshold", "is not from 0 to 10000000")
	case len(q.Explicit) > maxPreferred:
		return invalidPreference("explicitTools", "names more than 1000 tools")
	case len(q.Session) > maxNameLength || len(q.Task) > maxNameLength:
		return invalidPreference("session", "or task is longer than 400 characters")
	}
	return nil
}

const maxNameLength = 400

// addTools adds tools in the order of their importance, so that the bounds leave out the least important.
func (s *Selector) addTools(ctx context.Context, b *builder, q Query, now *Preferred) error {
	for _, name := range q.Explicit {
		b.addNamed(name, FromExplicit)
	}
	if q.Mode == ModeAll {
		for _, t := range b.set.All() {
			b.addTool(t, FromAll, 0)
		}
		return nil
	}
	if q.Mode == ModeAuto {
		for _, id := range b.costs.core {
			if !now.always[id] { // added below, with the origin that clients know
				b.addNamed(string(id), FromCore)
			}
		}
		for _, name := range s.o.Core() {
			b.addNamed(name, FromCore)
		}
	}
	for _, id := range now.AlwaysInclude {
		b.addNamed(id, FromPreference)
	}
	if q.Mode == ModeManual || q.Message == "" {
		return nil
	}
	wanted, first, cached, err := s.findNeeds(ctx, b.set, q, s.conversations.recentlyCalled())
	if err != nil {
		return err
	}
	b.selection.Cached, b.selection.Confident, b.selection.Advice, b.selection.Degraded = cached, first.confident, first.advice, first.degraded
	for _, n := range wanted {
		b.addNeed(n)
	}
	if q.SearchCall != nil { // the model keeps what it loaded
		return nil
	}
	key := conversationKey{q.Session, q.Task}
	had := s.conversations.toolsOf(key)
	b.quiet = true // the rest is there if there is room
	for _, id := range s.conversations.mostRecent(key, had) {
		if t, ok := b.set.Get(id); ok {
			b.addTool(t, FromSession, 0)
		}
	}
	for _, t := range b.set.All() {
		if now.alwaysIncludes(categoryOf(t)) {
			b.addTool(t, FromPreference, 0)
		}
	}
	b.orderTools(had)
	s.conversations.updateTools(key, b.pickedIDs(),
		func(id tool.ID) bool { return b.picked[b.at[id]].Source != FromSession })
	return nil
}
