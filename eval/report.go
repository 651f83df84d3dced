package eval

import (
	"cmp"
	"slices"
	"time"

	"tooldex/tool"
)

// Report holds the figures of a run and the outcome of each request. Set Cases to nil before encoding it where only the
// summary is wanted.
type Report struct {
	Set         string       `json:"set"`
	Tools       int          `json:"tools"`
	Mode        tool.Mode    `json:"mode,omitempty"` // "" for a run file
	Split       string       `json:"split,omitempty"`
	Depth       int          `json:"depth"` // how many tools were ranked
	All         Summary      `json:"all"`
	Kinds       []Summary    `json:"kinds,omitempty"`       // by name; without requests that no tool serves
	NoMatch     *Abstention  `json:"noMatch,omitempty"`     // nil if some tool serves every request
	Calibration *Calibration `json:"calibration,omitempty"` // nil where scores are not probabilities
	Latency     *Latency     `json:"latency,omitempty"`     // nil for a run file
	Tokens      *Tokens      `json:"tokensPerAnswer,omitempty"`
	Missing     int          `json:"missing,omitempty"`    // requests that a run file leaves out
	Strangers   int          `json:"strangers,omitempty"`  // places of rankings held by tools outside the set
	Degraded    int          `json:"degraded,omitempty"`   // answers found by words only, because the embedder failed
	Unreviewed  int          `json:"unreviewed,omitempty"` // requests whose labels nobody has checked
	Agent       *AgentUse    `json:"agent,omitempty"`      // nil unless a chat model chose the tools; set by the caller
	Cases       []Outcome    `json:"cases,omitempty"`      // in the set's order

	times  []time.Duration // of the answers, ascending; nil for a run file
	tokens []int           // the same; nil where they were not measured
}

// Summary holds the means over requests that a tool serves.
type Summary struct {
	Kind      string   `json:"kind,omitempty"` // "" for all
	Queries   int      `json:"queries"`
	Tasks     int      `json:"tasks,omitempty"`     // of these, whose steps have requests: what steps@k is the mean of
	Confident *float64 `json:"confident,omitempty"` // share answered with confidence; nil if the answers did not say
	Scores    Scores   `json:"scores"`              // nil without requests

	curve []float64 // recall at each depth from 1
}

// Outcome is the result of one request.
type Outcome struct {
	ID        string   `json:"id"`
	Query     string   `json:"query,omitempty"`
	Kind      string   `json:"kind,omitempty"`
	NoMatch   bool     `json:"noMatch,omitempty"`   // no tool serves it
	Needs     []Need   `json:"needs,omitempty"`     // of a request for several things, in the order of its labels
	Rank      int      `json:"rank,omitempty"`      // of the first relevant tool; 0 if none was found
	Places    []int    `json:"places,omitempty"`    // of all relevant tools that were found, ascending
	Confident *bool    `json:"confident,omitempty"` // nil if the answer did not say
	Scores    Scores   `json:"scores,omitempty"`    // nil if no tool serves it
	Wanted    []string `json:"wanted,omitempty"`    // the right tools, by the set's names
	First     string   `json:"first,omitempty"`     // the tool that was found first, by the set's name
	// FirstScore is the score of that tool, 0 for a run without scores.
	FirstScore float64 `json:"firstScore,omitempty"`
	// Help says what would make a missed request find its tool. The caller fills it in; see package inspect.
	Help   string   `json:"help,omitempty"`
	Ranked []Ranked `json:"-"` // best first
	// Steps is as Ranked, for the request of each step.
	Steps [][]Ranked `json:"-"`

	// not in a report file, so zero in one that was read
	nearMiss bool
	top      float64 // the score of the first tool; minus infinity without one
	relevant int     // how many tools are wanted; 1 where any of them is enough
}

// Latency is the time of one answer: percentiles by nearest rank.
type Latency struct {
	P50     time.Duration `json:"p50Ns"`
	P95     time.Duration `json:"p95Ns"`
	P99     time.Duration `json:"p99Ns"`
	Workers int           `json:"workers"` // searches at a time
	Answer  int           `json:"answer"`  // tools asked for
}

// Tokens is what one answer costs an agent to read.
type Tokens struct {
	Median float64     `json:"median"`
	Mean   float64     `json:"mean"`
	Answer int         `json:"answer"` // tools asked for
	Detail tool.Detail `json:"detail"`
}

// AgentUse is what a chat model did and cost in a run.
type AgentUse struct {
	Model        string `json:"model"`
	Calls        int    `json:"calls"`                  // of tools, over all requests
	Invalid      int    `json:"invalid,omitempty"`      // calls whose arguments the schema of the tool refuses
	Unknown      int    `json:"unknown,omitempty"`      // calls of tools that the model was not given
	Silent       int    `json:"silent,omitempty"`       // requests for which it called nothing
	Offered      int    `json:"offered"`                // tools that it was given, over all requests
	PromptTokens int    `json:"promptTokens,omitempty"` // as the service counts them
	AnswerTokens int    `json:"answerTokens,omitempty"`
}

// Answers returns what was answered to each request, in the set's order, for WriteRun.
func (r *Report) Answers() []Answer {
	out := make([]Answer, len(r.Cases))
	for i := range r.Cases {
		c := &r.Cases[i]
		out[i] = Answer{c.ID, c.Ranked, c.Confident, c.Steps}
	}
	return out
}

// newReport scores answers, one for each of cases.
func newReport(d *Dataset, o Options, cases []*Case, answers []Answer) *Report {
	// Everything but the costs follows from the labels and the answers, so a run file gives the same report as the
	// search that made it.
	r := &Report{Set: d.Name, Tools: len(d.Tools), Split: o.Split, Depth: o.Limit, Cases: make([]Outcome, len(cases))}
	for i, c := range cases {
		out := Outcome{
			ID: c.ID, Query: c.Query, Kind: c.Kind, NoMatch: c.NoMatch(), Confident: answers[i].Confident,
			Ranked: answers[i].Ranked, Steps: answers[i].Steps,
			nearMiss: c.NearMiss, top: topScore(answers[i].Ranked),
		}
		if !c.NoMatch() {
			out.Wanted = c.Relevant
		}
		if len(out.Ranked) > 0 {
			out.First, out.FirstScore = out.Ranked[0].Name, out.Ranked[0].Score
		}
		out.Scores, out.Places, out.Needs = scoreCase(c, &answers[i], o.Limit)
		if len(out.Places) > 0 {
			out.Rank = out.Places[0]
		}
		if out.relevant = len(c.Relevant); c.Any {
			out.relevant = min(1, out.relevant)
		}
		r.Unreviewed += int(boolScore(c.Unreviewed))
		// A tool that the set does not know is wrong for every request. A count of them shows that set and catalogue
		// differ.
		for _, list := range append([][]Ranked{out.Ranked}, out.Steps...) {
			for _, ranked := range list {
				r.Strangers += int(boolScore(!d.known[ranked.Name]))
			}
		}
		r.Cases[i] = out
	}
	r.summarizeKinds()
	return r
}

// summarizeKinds computes the means. It goes through the requests by ID, so that sums do not depend on the order of the
// set.
func (r *Report) summarizeKinds() {
	byID := slices.SortedFunc(slices.Values(r.Cases), func(a, b Outcome) int { return cmp.Compare(a.ID, b.ID) })
	r.NoMatch, r.Calibration = measureAbstention(byID), measureCalibration(byID)
	byKind := map[string][]*Outcome{}
	var all []*Outcome
	for i := range byID {
		if o := &byID[i]; !o.NoMatch {
			all = append(all, o)
			byKind[o.Kind] = append(byKind[o.Kind], o)
		}
	}
	r.All = r.summaryOf("", all)
	for kind, outcomes := range byKind {
		// requests without a kind are in the total only
		if kind != "" {
			r.Kinds = append(r.Kinds, r.summaryOf(kind, outcomes))
		}
	}
	slices.SortFunc(r.Kinds, func(a, b Summary) int { return cmp.Compare(a.Kind, b.Kind) })
}

// summaryOf returns the means of outcomes, all of which a tool serves. All have one depth, and so the same metrics, but
// for those of steps, which are means over the tasks with requests for their steps.
func (r *Report) summaryOf(kind string, outcomes []*Outcome) Summary {
	s := Summary{Kind: kind, Queries: len(outcomes), Confident: confidentRate(outcomes)}
	if len(outcomes) == 0 {
		return s
	}
	s.Scores = make(Scores, len(defined))
	for _, d := range defined {
		sum, n := 0.0, 0
		for _, o := range outcomes {
			if v, ok := o.Scores[d.metric]; ok {
				sum, n = sum+v, n+1
			}
		}
		if n == 0 {
			continue
		}
		s.Scores[d.metric] = sum / float64(n)
		if d.ofSteps {
			s.Tasks = n
		}
	}
	s.curve = recallCurve(outcomes, r.Depth)
	return s
}

// recallCurve returns the mean recall at each depth; element k is that of the first k+1 places.
func recallCurve(outcomes []*Outcome, depth int) []float64 {
	curve := make([]float64, depth)
	for _, o := range outcomes {
		found := 0
		for k := range curve {
			// places are ascending, so each is visited once
			for found < len(o.Places) && o.Places[found] <= k+1 {
				found++
			}
			curve[k] += float64(min(found, o.relevant)) / float64(o.relevant)
		}
	}
	for k := range curve {
		curve[k] /= float64(len(outcomes))
	}
	return curve
}

// addCosts fills in time and tokens. costs is not empty. With a negative o.Answer no tokens were counted, and the times
// are those of the ranking itself.
func (r *Report) addCosts(costs []cost, o Options) {
	times, tokens := make([]time.Duration, len(costs)), make([]int, len(costs))
	total := 0
	for i, c := range costs {
		times[i], tokens[i] = c.time, c.tokens
		total += c.tokens
		r.Degraded += int(boolScore(c.degraded))
	}
	slices.Sort(times)
	slices.Sort(tokens)
	r.times = times
	r.Latency = &Latency{percentile(times, 50), percentile(times, 95), percentile(times, 99), o.Workers, o.Answer}
	if o.Answer < 0 {
		r.Latency.Answer = o.Limit
		return
	}
	r.tokens = tokens
	n := len(tokens)
	r.Tokens = &Tokens{
		// the mean of the two middle values if n is even
		Median: float64(tokens[(n-1)/2]+tokens[n/2]) / 2, Mean: float64(total) / float64(n),
		Answer: o.Answer, Detail: o.Detail,
	}
}

// percentile returns the lowest value that at least p percent of sorted do not exceed.
func percentile(sorted []time.Duration, p int) time.Duration {
	return sorted[(len(sorted)*p+99)/100-1]
}
