package selection

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"

	"tooldex/confirm"
	"tooldex/tool"
	"tooldex/upstream"
)

// Reach says which tools exist for a profile. The zero Reach has all.
type Reach struct {
	Servers []string // those whose tools there are; empty means all
	// Only holds patterns of IDs, such as "github/get_*": of a server that one of them names, only tools that match
	// one exist. Hidden holds patterns of tools that do not exist. A star stands for any characters.
	Only, Hidden []string
}

// limits reports whether there is any tool that does not exist.
func (r Reach) limits() bool { return len(r.Servers)+len(r.Only)+len(r.Hidden) > 0 }

// equals reports whether both say the same in the same order.
func (r Reach) equals(other Reach) bool {
	return slices.Equal(r.Servers, other.Servers) && slices.Equal(r.Only, other.Only) &&
		slices.Equal(r.Hidden, other.Hidden)
}

// hasServer reports whether something of this server exists.
func (r Reach) hasServer(name string) bool {
	return len(r.Servers) == 0 || slices.Contains(r.Servers, name)
}

// hasTool reports whether a tool exists.
func (r Reach) hasTool(t *tool.Tool) bool {
	if !r.hasServer(t.Server) || confirm.MatchesAny(r.Hidden, t) {
		return false
	}
	listed := slices.ContainsFunc(r.Only, func(pattern string) bool {
		server, _, _ := strings.Cut(pattern, "/")
		return confirm.MatchPattern(server, t.Server)
	})
	return !listed || confirm.MatchesAny(r.Only, t)
}

// Policy says which tools may be seen and called. The zero Policy lets all through. It must not be changed once it is
// used.
type Policy struct {
	Reach // which tools may be
	// Current returns, in place of Reach, that of this moment; nil means Reach. It must be quick, and safe for
	// concurrent use.
	Current  func() Reach
	ReadOnly bool // only tools that are annotated as changing nothing
	// Preferred returns what the profile prefers at this moment: what it hides does not exist. Nil means that it hides
	// nothing. It must be quick, and safe for concurrent use.
	Preferred func() *Preferred
	// Tools holds the definitions of called tools. It is needed where Preferred is there, or ReadOnly.
	Tools tool.Catalog
}

// AllowsServer reports whether something of this server may be seen and called.
func (p Policy) AllowsServer(name string) bool {
	return p.currentReach().hasServer(name)
}

// currentReach is that of this moment.
func (p Policy) currentReach() Reach {
	if p.Current != nil {
		return p.Current()
	}
	return p.Reach
}

// Allows reports whether a tool may be seen and called.
func (p Policy) Allows(t *tool.Tool) bool {
	return p.allowsTool(t, p.currentReach(), p.currentPreferences())
}

// allowsTool reports whether t may be seen, given the reach and the preferences of this moment.
func (p Policy) allowsTool(t *tool.Tool, reach Reach, now *Preferred) bool {
	return reach.hasTool(t) && (!p.ReadOnly || t.ReadOnly()) && !now.Hides(t)
}

// currentPreferences returns what is preferred now, nil for nothing.
func (p Policy) currentPreferences() *Preferred {
	if p.Preferred == nil {
		return nil
	}
	return p.Preferred()
}

// allowsID is Allows for a tool of which only the ID is known for certain.
func (p Policy) allowsID(id tool.ID) bool {
	if p.Tools != nil {
		if set := p.Tools.Set(); set != nil {
			if t, ok := set.Get(id); ok {
				return p.Allows(t)
			}
		}
	}
	return p.Allows(&tool.Tool{Server: id.Server(), Name: id.Name()})
}

// allowsEverything reports whether there is nothing to hide, ever.
func (p Policy) allowsEverything() bool {
	return p.Current == nil && !p.restrictsTools(p.Reach) && p.Preferred == nil
}

// restrictsTools reports whether reach or ReadOnly hide any tool. Preferences may hide more.
func (p Policy) restrictsTools(reach Reach) bool { return reach.limits() || p.ReadOnly }

// Searcher returns a Searcher that finds only what the policy allows. It narrows the query rather than the answer, so
// that limits count allowed tools only.
func (p Policy) Searcher(next tool.Searcher) tool.Searcher {
	if p.allowsEverything() {
		return next
	}
	return policySearcher{p, next}
}

// policySearcher adds a policy to the filter of each query.
type policySearcher struct {
	policy Policy
	next   tool.Searcher
}

// Search implements tool.Searcher.
func (s policySearcher) Search(ctx context.Context, q tool.Query) (*tool.Result, error) {
	asked, now := q.Filter.Allow, s.policy.currentPreferences()
	reach := s.policy.currentReach()
	if s.policy.restrictsTools(reach) || now.hidesAnything() {
		q.Filter.Allow = func(t *tool.Tool) bool {
			return s.policy.allowsTool(t, reach, now) && (asked == nil || asked(t))
		}
	}
	return s.next.Search(ctx, q)
}

// Caller returns a Caller that calls only what the policy allows. The rest is NotFound.
func (p Policy) Caller(next tool.Caller) tool.Caller {
	if p.allowsEverything() {
		return next
	}
	return policyCaller{p, next}
}

// policyCaller refuses calls of tools that the policy hides, as if they did not exist.
type policyCaller struct {
	policy Policy
	next   tool.Caller
}

// Call implements tool.Caller.
func (c policyCaller) Call(ctx context.Context, call tool.Call) (*tool.CallResult, error) {
	if !c.policy.allowsID(call.ID) {
		return nil, &tool.Error{
			Code: tool.NotFound, Op: "call", Msg: "there is no tool " + string(call.ID),
			Hint: "search_tools finds tools by what they do",
		}
	}
	return c.next.Call(ctx, call)
}

// Catalog returns a Catalog of the tools that the policy allows, under the names that they have in next. Tools that the
// preferences always include are marked as such, so that every listing reads [tool.Tool.Always] alone.
func (p Policy) Catalog(next tool.Catalog) tool.Catalog {
	if p.allowsEverything() {
		return next
	}
	return &policyCatalog{policy: p, next: next}
}

// policyCatalog shows the allowed part of another catalogue. It keeps the last subset, since making one costs more than
// a search.
type policyCatalog struct {
	policy Policy
	next   tool.Catalog
	last   atomic.Pointer[allowedSubset]
}

// allowedSubset is the allowed part of a set, with the reach and preferences that it was computed for.
type allowedSubset struct {
	whole, allowed *tool.Set
	reach          Reach
	preferred      *Preferred
}

// Set implements tool.Catalog. As long as next gives the same Set, the reach is the same, and the same is preferred, it
// gives the same, too.
func (c *policyCatalog) Set() *tool.Set {
	whole := c.next.Set()
	if whole == nil {
		return nil
	}
	now, reach := c.policy.currentPreferences(), c.policy.currentReach()
	last := c.last.Load()
	if last == nil || last.whole != whole || last.preferred != now || !last.reach.equals(reach) {
		last = &allowedSubset{whole: whole, allowed: whole, reach: reach, preferred: now}
		if c.policy.restrictsTools(reach) || now.hidesAnything() || now.includesAnything() {
			last.allowed = whole.Subset(func(t *tool.Tool) *tool.Tool {
				if !c.policy.allowsTool(t, reach, now) {
					return nil
				}
				return now.markAlways(t)
			})
		}
		c.last.Store(last)
	}
	return last.allowed
}

// Upstreams offers what servers have beside their tools.
type Upstreams interface {
	// Features returns what each server offers, by name.
	Features() []upstream.Features
	// Forward sends a request to a server, or to all if it names none.
	Forward(ctx context.Context, r upstream.Request) (json.RawMessage, error)
}

// Upstreams returns the Upstreams that the policy allows. A request to another is NotFound.
func (p Policy) Upstreams(next Upstreams) Upstreams {
	if p.allowsEverything() {
		return next
	}
	return policyUpstreams{p, next}
}

// policyUpstreams hides what servers offer beside tools, unless the policy allows the server.
type policyUpstreams struct {
	policy Policy
	next   Upstreams
}

// Features implements Upstreams.
func (u policyUpstreams) Features() []upstream.Features {
	var out []upstream.Features
	for _, f := range u.next.Features() {
		if u.policy.AllowsServer(f.Server) {
			out = append(out, f)
		}
	}
	return out
}

// Forward implements Upstreams.
func (u policyUpstreams) Forward(ctx context.Context, r upstream.Request) (json.RawMessage, error) {
	if r.Server != "" && !u.policy.AllowsServer(r.Server) {
		return nil, &tool.Error{
			Code: tool.NotFound, Op: "forward", Msg: "there is no server " + r.Server,
			Hint: "list what there is",
		}
	}
	return u.next.Forward(ctx, r)
}
