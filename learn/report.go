package learn

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"tooldex/tool"
)

// State says whether evidence counts.
type State string

// The states of evidence.
const (
	Pending  State = "pending"  // there is not enough of it yet
	InForce  State = "learned"  // there is enough
	approved State = "approved" // an operator approved it
)

// Report is all that was learned, for an operator.
type Report struct {
	Tools  []ToolReport    `json:"tools"`
	Missed []MissedRequest `json:"missed"` // most often missed first
}

// ToolReport is what was learned about a tool, the one with most evidence first.
type ToolReport struct {
	Profile  string      `json:"profile,omitempty"`
	Tool     tool.ID     `json:"tool"`
	State    State       `json:"state"`
	Uses     int         `json:"uses"`            // all that was noted, repeats counted
	Wrong    int         `json:"wrong,omitempty"` // of these, those against the tool
	Clients  []string    `json:"clients"`
	Requests []Utterance `json:"requests"` // most often made first
	Last     time.Time   `json:"last"`
}

// Utterance is a request that a tool was called for.
type Utterance struct {
	Request string `json:"request"`        // its name
	Text    string `json:"text,omitempty"` // "" where texts are not kept
	Uses    int    `json:"uses"`
	Wrong   int    `json:"wrong,omitempty"`
	State   State  `json:"state"`
}

// MissedRequest is a request whose answer was of no use, and what may help.
type MissedRequest struct {
	Profile  string    `json:"profile,omitempty"`
	Request  string    `json:"request"`
	Text     string    `json:"text,omitempty"`
	Nothing  int       `json:"nothing,omitempty"` // how often no tool was said to fit
	Ignored  int       `json:"ignored,omitempty"` // how often what was shown was not called
	Shown    []tool.ID `json:"shown,omitempty"`
	Called   []tool.ID `json:"called,omitempty"`  // that were called all the same
	Unknown  []string  `json:"unknown,omitempty"` // words that no tool knew
	Proposal string    `json:"proposal"`
	Last     time.Time `json:"last"`
}

// Report lists what was learned, by profile.
func (l *Learner) Report() *Report {
	l.mu.Lock()
	b := &evidenceStore{uses: maps.Clone(l.evidence.uses), missed: maps.Clone(l.evidence.missed), approved: maps.Clone(l.evidence.approved)}
	l.mu.Unlock()
	r := &Report{Tools: b.toolReports(*l.models.Load()), Missed: []MissedRequest{}}
	for _, m := range b.missed {
		r.Missed = append(r.Missed, MissedRequest{
			Profile: m.profile, Request: requestName(m.request), Text: m.text, Nothing: int(m.nothing),
			Ignored: int(m.ignored),
			Shown:   m.shown, Called: m.called, Unknown: m.unknown, Proposal: m.proposedTool(),
			Last: time.UnixMilli(m.last).UTC(),
		})
	}
	slices.SortFunc(r.Missed, func(x, y MissedRequest) int {
		return cmp.Or(cmp.Compare(y.Nothing+y.Ignored, x.Nothing+x.Ignored), cmp.Compare(x.Profile, y.Profile),
			cmp.Compare(x.Request, y.Request))
	})
	return r
}

// toolReports returns one report for each profile and tool with evidence, by profile and ID.
func (b *evidenceStore) toolReports(models map[string]*profileModel) []ToolReport {
	type place struct {
		profile string
		tool    tool.ID
	}
	of := map[place][]*use{}
	for _, k := range slices.Sorted(maps.Keys(b.uses)) {
		u := b.uses[k]
		of[place{u.profile, u.tool}] = append(of[place{u.profile, u.tool}], u)
	}
	out := []ToolReport{}
	for p, uses := range of {
		t := ToolReport{Profile: p.profile, Tool: p.tool, State: Pending}
		if m := models[p.profile]; m != nil && m.hasTool(p.tool) {
			t.State = InForce
		}
		b.describeTool(&t, uses)
		out = append(out, t)
	}
	slices.SortFunc(out, func(x, y ToolReport) int {
		return cmp.Or(cmp.Compare(y.Uses, x.Uses), cmp.Compare(x.Tool, y.Tool), cmp.Compare(x.Profile, y.Profile))
	})
	return out
}

// describeTool fills in what evidence there is.
func (b *evidenceStore) describeTool(t *ToolReport, uses []*use) {
	isApproved := func(request uint64) bool {
		return b.approved[(&approval{profile: t.Profile, tool: t.Tool, request: request}).key()] != nil
	}
	if isApproved(0) {
		t.State = approved
	}
	said := map[uint64]*Utterance{}
	clients := map[string]bool{}
	var last int64
	for _, u := range uses {
		a := said[u.request]
		if a == nil {
			a = &Utterance{Request: requestName(u.request), State: t.State}
			if isApproved(u.request) {
				a.State, t.State = approved, approved
			}
			said[u.request] = a
		}
		a.Text = max(a.Text, u.text)
		a.Uses += int(u.count)
		t.Uses += int(u.count)
		if u.kind == Wrong {
			a.Wrong += int(u.count)
			t.Wrong += int(u.count)
		}
		clients[u.client] = true
		last = max(last, u.last)
	}
	t.Clients, t.Last = slices.Sorted(maps.Keys(clients)), time.UnixMilli(last).UTC()
	for _, a := range said {
		t.Requests = append(t.Requests, *a)
	}
	slices.SortFunc(t.Requests, func(x, y Utterance) int {
		return cmp.Or(cmp.Compare(y.Uses, x.Uses), cmp.Compare(x.Text, y.Text), cmp.Compare(x.Request, y.Request))
	})
}

// proposedTool says what may help a request that was missed.
func (m *missedRequest) proposedTool() string {
	words := ""
	for _, w := range m.unknown {
		words += " " + w
	}
	switch {
	case len(m.called) > 0 && words != "":
		return "give " + string(m.called[0]) + " the synonyms:" + words
	case len(m.called) > 0:
		return "give " + string(m.called[0]) + " this request as an utterance"
	case words != "" && len(m.shown) > 0:
		return "if " + string(m.shown[0]) + " serves it, give it the synonyms:" + words
	case m.nothing > 0:
		return "add a server that serves it, if it should be served"
	case len(m.shown) > 0:
		return "if " + string(m.shown[0]) + " serves it, give it this request as an utterance"
	}
	return "look at it"
}
