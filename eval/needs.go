package eval

import (
	"fmt"
	"strings"
)

// Need is what became of one need of a request for several things, or of one step of a task.
type Need struct {
	Tools []string `json:"tools"`          // one of them is wanted, by the set's names
	Rank  int      `json:"rank,omitempty"` // of the first of them for the whole request; 0 if none was found
	// Query is the request of the step, "" without one. StepRank and First are as Rank and the tool that was found
	// first, for that request.
	Query    string `json:"query,omitempty"`
	StepRank int    `json:"stepRank,omitempty"`
	First    string `json:"first,omitempty"`
}

// needs returns the places of each need, nil for a case that has only one.
func (p *foundPlaces) needs(a *Answer) []Need {
	var out []Need
	for k, group := range p.c.AllOf {
		n := Need{Tools: group, Rank: p.firstOf(group)}
		if p.c.Steps != nil {
			n.Query = p.c.Steps[k]
		}
		if k < len(p.steps) {
			n.StepRank = p.steps[k].firstOf(group)
			if len(a.Steps[k]) > 0 {
				n.First = a.Steps[k][0].Name
			}
		}
		out = append(out, n)
	}
	return out
}

// firstOf returns the lowest place of these tools, 0 if none was found.
func (p *foundPlaces) firstOf(names []string) int {
	first := 0
	for _, name := range names {
		if at := p.at[name]; at > 0 && (first == 0 || at < first) {
			first = at
		}
	}
	return first
}

// placesText lists the place of each need, or that of the first right tool where there is only one.
func (o *Outcome) placesText() string {
	if len(o.Needs) == 0 {
		return formatPlace(o.Rank)
	}
	places := make([]string, len(o.Needs))
	for k, n := range o.Needs {
		places[k] = formatPlace(n.Rank)
	}
	return strings.Join(places, ", ")
}

// MissedRequest returns the request that a missed outcome was missed for, its right tools and the tool that was found
// first: of the whole request, or where that found a right tool, of the first step that did not.
func (o *Outcome) MissedRequest() (query string, wanted []string, first string) {
	if step := o.missedStep(); step > 0 && o.isWithinFive() {
		n := &o.Needs[step-1]
		return n.Query, n.Tools, n.First
	}
	return o.Query, o.Wanted, o.First
}

// isWithinFive reports whether a right tool stands among the first five for the whole request.
func (o *Outcome) isWithinFive() bool { return o.Rank > 0 && o.Rank <= junitDepth }

// missedStep returns the number from 1 of the first step whose own request has none of its tools among the first five,
// and 0 if there is none.
func (o *Outcome) missedStep() int {
	for k, n := range o.Needs {
		if n.Query != "" && (n.StepRank == 0 || n.StepRank > junitDepth) {
			return k + 1
		}
	}
	return 0
}

// missedStepText says where the tool of a missed step stands.
func (o *Outcome) missedStepText(step int) string {
	if at := o.Needs[step-1].StepRank; at > 0 {
		return fmt.Sprintf("the first right tool of step %d stands at %d", step, at)
	}
	return fmt.Sprintf("no right tool of step %d was found", step)
}
