package eval

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"tooldex/tool"
)

// Answer is what a search gave for one request: a line of a run file.
type Answer struct {
	ID     string   `json:"id"` // of the request
	Ranked []Ranked `json:"ranked"`
	// Confident is nil where the software does not say whether any tool fits.
	Confident *bool `json:"confident,omitempty"`
	// Steps has the ranking for the request of each step, for a task with such requests.
	Steps [][]Ranked `json:"steps,omitempty"`
}

// WriteRun writes answers as JSON lines, one a request, each with at most DefaultDepth tools. Scores that JSON cannot
// hold are Invalid.
func WriteRun(w io.Writer, answers []Answer) error {
	b := bufio.NewWriter(w)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	for _, a := range answers {
		var err error
		if a.Ranked, err = writableRanking(a.ID, a.Ranked); err != nil {
			return err
		}
		a.Steps = slices.Clone(a.Steps)
		for k := range a.Steps {
			if a.Steps[k], err = writableRanking(a.ID, a.Steps[k]); err != nil {
				return err
			}
		}
		if err := enc.Encode(a); err != nil {
			return fmt.Errorf("write run: %w", err)
		}
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write run: %w", err)
	}
	return nil
}

// writableRanking returns the first DefaultDepth tools of a ranking for request id, as an empty list if there are none.
// The error is Invalid for a score that JSON cannot hold.
func writableRanking(id string, ranked []Ranked) ([]Ranked, error) {
	ranked = ranked[:min(len(ranked), DefaultDepth)]
	for _, r := range ranked {
		if math.IsNaN(r.Score) || math.IsInf(r.Score, 0) {
			return nil, &tool.Error{
				Code: tool.Invalid, Op: "write run",
				Msg: fmt.Sprintf("score of %q for request %q is %v", r.Name, id, r.Score),
			}
		}
	}
	if ranked == nil {
		ranked = []Ranked{}
	}
	return ranked, nil
}

// ReadRun reads answers as WriteRun writes them, or any other software: scores and confident may be left out, and the
// order of the tools is their ranking whatever the scores say. File is what errors call it. Errors are Invalid with
// file and line: JSON that cannot be read, a request without an ID or with two answers.
func ReadRun(r io.Reader, file string) ([]Answer, error) {
	var answers []Answer
	lines := map[string]int{}
	err := eachLine(r, file, func(line int, b []byte) error {
		var raw struct {
			ID        caseID     `json:"id"`
			Ranked    []Ranked   `json:"ranked"`
			Confident *bool      `json:"confident"`
			Steps     [][]Ranked `json:"steps"`
		}
		if err := json.Unmarshal(b, &raw); err != nil {
			return badLine(file, line, "answer cannot be read", "", err)
		}
		id := string(raw.ID)
		if id == "" {
			return badLine(file, line, "answer has no id", "give that of its request", nil)
		}
		if first, ok := lines[id]; ok {
			return badLine(file, line, fmt.Sprintf("request %q was answered on line %d", id, first), "", nil)
		}
		lines[id] = line
		answers = append(answers, Answer{id, raw.Ranked, raw.Confident, raw.Steps})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return answers, nil
}

// Score measures answers that were given elsewhere, by the same metrics as Run. Of Options it uses Split, Kinds, Sample
// and Limit. A request without an answer counts as one for which nothing was found, and in Report.Missing; so does a
// task without answers to the requests of its steps. An answer to a request that is not in the set, or to another
// number of steps than it has, is Invalid.
func Score(d *Dataset, answers []Answer, o Options) (*Report, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	cases, err := o.pickCases(d)
	if err != nil {
		return nil, err
	}
	inSet := make(map[string]bool, len(d.Cases))
	for i := range d.Cases {
		inSet[d.Cases[i].ID] = true
	}
	byID := make(map[string]Answer, len(answers))
	for _, a := range answers {
		if !inSet[a.ID] {
			return nil, invalidOptions(fmt.Sprintf("run answers request %q, which is not in the set", a.ID),
				"is it a run over another set?")
		}
		byID[a.ID] = a
	}
	missing := 0
	ordered := make([]Answer, len(cases))
	for i, c := range cases {
		a, ok := byID[c.ID]
		switch {
		case !ok:
			a.ID = c.ID
			missing++
		case len(a.Steps) == 0 && len(c.Steps) > 0:
			missing++
		case len(a.Steps) != len(c.Steps):
			return nil, invalidOptions(
				fmt.Sprintf("run answers %d steps of request %q, which has %d with a query", len(a.Steps), c.ID, len(c.Steps)),
				"give one ranking for each, in their order")
		}
		ordered[i] = a
	}
	r := newReport(d, o, cases, ordered)
	r.Missing = missing
	return r, nil
}
