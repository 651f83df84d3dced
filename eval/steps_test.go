package eval

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"tooldex/tool"
)

// tasks is a set of three tools with one single request and three tasks: in order with a request for each step, in
// order without, and as a set.
func tasks(t *testing.T) *Dataset {
	t.Helper()
	d, err := LoadFS(fstest.MapFS{
		"tools.jsonl": {Data: []byte(`{"name":"book_flight","server":"travel"}
{"name":"send_message","server":"chat"}
{"name":"send_mail","server":"mail"}
`)},
		"queries.yaml": {Data: []byte(`
- {id: one, query: book a flight, relevant: [book_flight]}
- id: asked
  query: book me on a plane and send word
  steps:
  - {tools: [book_flight], query: book a flight}
  - {tools: [send_message, send_mail], query: send word}
- id: silent
  query: book a flight, send a message
  steps: [{tools: [book_flight]}, {tools: [send_message]}]
- id: group
  query: book a flight, send a message
  all_of: [[send_message], [book_flight]]
`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	d.Name = "tasks"
	return d
}

func TestLoadSteps(t *testing.T) {
	d := tasks(t)
	want := []Case{
		{ID: "one", Query: "book a flight", Relevant: []string{"book_flight"}},
		{
			ID: "asked", Query: "book me on a plane and send word",
			Relevant: []string{"book_flight", "send_message", "send_mail"},
			AllOf:    [][]string{{"book_flight"}, {"send_message", "send_mail"}},
			Steps:    []string{"book a flight", "send word"},
		},
		{
			ID: "silent", Query: "book a flight, send a message", Relevant: []string{"book_flight", "send_message"},
			AllOf: [][]string{{"book_flight"}, {"send_message"}},
		},
		{
			ID: "group", Query: "book a flight, send a message", Relevant: []string{"send_message", "book_flight"},
			AllOf: [][]string{{"send_message"}, {"book_flight"}},
		},
	}
	if diff := cmp.Diff(want, d.Cases); diff != "" {
		t.Errorf("cases (-want +got):\n%s", diff)
	}
}

func TestLoadStepsErrors(t *testing.T) {
	for _, tt := range []struct{ name, steps, want, hint string }{
		{"no steps", `"steps":[]`, "steps is empty", ""},
		{"unknown tool", `"steps":[{"tools":["z"]}]`, `no tool of the set is named "z"`, "letter for letter"},
		{"no tools", `"steps":[{"tools":["a"]},{"tools":[]}]`, "step 2 names no tools", `"tools"`},
		{"another key", `"steps":[{"tool":"a"}]`, "step 1 names no tools", `"tools"`},
		{"empty step", `"steps":[null]`, "step 1 names no tools", `"tools"`},
		{"only names", `"steps":["a","b"]`, "request cannot be read", `a step of one like {"tools"`},
		{
			"some queries", `"steps":[{"tools":["a"],"query":"r"},{"tools":["b"],"query":" "}]`,
			"1 of 2 steps have a query", "every step a query, or none",
		},
		{"with relevant", `"relevant":["a"],"steps":[{"tools":["a"]}]`, "cannot be combined", "leave the others out"},
		{"with no relevant", `"relevant":[],"steps":[{"tools":["a"]}]`, "cannot be combined", "leave the others out"},
		{"with groups", `"all_of":[["a"]],"steps":[{"tools":["a"]}]`, "cannot be combined", "leave the others out"},
		{"with grades", `"grades":{"a":1},"steps":[{"tools":["a"]}]`, "cannot be combined", "leave the others out"},
		{"with a mode", `"mode":"any","steps":[{"tools":["a"]}]`, "cannot be combined", "leave the others out"},
		{"near miss", `"near_miss":true,"steps":[{"tools":["a"]}]`, "marked as one that no tool serves", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := LoadFS(set(twoTools, `{"query":"q","relevant":["a"]}`+"\n"+`{"query":"q",`+tt.steps+`}`))
			if tool.CodeOf(err) != tool.Invalid || !strings.Contains(err.Error(), "queries.jsonl:2: ") ||
				!strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error %v, want %q", err, tt.want)
			}
			var te *tool.Error
			if !errors.As(err, &te) || !strings.Contains(te.Hint, tt.hint) {
				t.Errorf("hint %q, want %q", te.Hint, tt.hint)
			}
		})
	}
}

// taskAnswers has, for the tasks, answers in which the step "send word" finds a right tool at 6 only.
func taskAnswers() []Answer {
	return []Answer{
		{ID: "one", Ranked: ranking("book_flight")},
		{
			ID: "asked", Ranked: ranking("book_flight x2 x3 x4 x5 send_mail"),
			Steps: [][]Ranked{ranking("book_flight"), ranking("y1 y2 y3 y4 y5 send_mail send_message")},
		},
		{ID: "silent", Ranked: ranking("send_message")},
		{ID: "group", Ranked: ranking("send_message book_flight")},
	}
}

func TestScoreSteps(t *testing.T) {
	r, err := Score(tasks(t), taskAnswers(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := Scores{}
	for _, m := range []Metric{completeAt(5), completeAt(10), stepsAt(1), stepsAt(5), stepsAt(10)} {
		got[m] = r.All.Scores[m]
	}
	// one and group are complete at 5, asked at 10, silent never. Only asked has requests for its steps.
	want := Scores{"complete@5": .5, "complete@10": .75, "steps@1": 0, "steps@5": 0, "steps@10": 1}
	if diff := cmp.Diff(want, got); diff != "" || r.All.Tasks != 1 {
		t.Errorf("%d tasks, scores (-want +got):\n%s", r.All.Tasks, diff)
	}
	needs := []Need{
		{Tools: []string{"book_flight"}, Rank: 1, Query: "book a flight", StepRank: 1, First: "book_flight"},
		{Tools: []string{"send_message", "send_mail"}, Rank: 6, Query: "send word", StepRank: 6, First: "y1"},
	}
	if diff := cmp.Diff(needs, r.Cases[1].Needs); diff != "" {
		t.Errorf("needs (-want +got):\n%s", diff)
	}
	if r.Cases[0].Needs != nil || r.Cases[2].Needs[0].Rank != 0 || r.Cases[2].Needs[1].Rank != 1 {
		t.Errorf("needs %+v, %+v", r.Cases[0].Needs, r.Cases[2].Needs)
	}
	if r.Strangers != 9 { // x2 to x5, y1 to y5
		t.Errorf("%d strangers", r.Strangers)
	}
	query, wanted, first := r.Cases[1].MissedRequest()
	if query != "send word" || !slices.Equal(wanted, needs[1].Tools) || first != "y1" {
		t.Errorf("missed %q, wanted %v, found %q", query, wanted, first)
	}
	for text, want := range map[string]int{"steps@10=1": 1, "steps@5=.5": 0, "other:steps@5=0": 0} {
		g, err := ParseGate(text)
		if err != nil {
			t.Fatal(err)
		}
		if v := r.Check([]Gate{g}, nil)[0]; v.Met != (want == 1) {
			t.Errorf("gate %s: %s", text, v)
		}
	}
	var text, junit, page bytes.Buffer
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"complete@5  complete@10  complete@20  steps@1     @5    @10", "over which steps@k is the mean: 1\n",
	} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("text lacks %q:\n%s", part, &text)
		}
	}
	const missed = "the first right tool of step 2 stands at 6"
	if err := r.WriteJUnit(&junit, nil); err != nil || !strings.Contains(junit.String(), missed) {
		t.Errorf("junit, %v:\n%s", err, &junit)
	}
	if err := r.WriteHTML(&page, nil, nil); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{missed, "<th>steps@5</th>", ">1, 6</span>", ">-, 1<"} {
		if !strings.Contains(page.String(), part) {
			t.Errorf("page lacks %q", part)
		}
	}
}

// A set without tasks says nothing of steps, and a gate on them is not met.
func TestNoSteps(t *testing.T) {
	r, err := Score(tasks(t), nil, Options{Split: "", Kinds: nil, Limit: 5})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := r.All.Scores[stepsAt(10)]; ok || r.All.Scores[stepsAt(5)] != 0 || r.Missing != 4 {
		t.Errorf("scores %v, %d missing", r.All.Scores, r.Missing)
	}
	if got := r.Cases[1].missedStepText(1); got != "no right tool of step 1 was found" {
		t.Errorf("missed: %s", got)
	}
	r, _ = run(t, sixTools(t), Options{Mode: tool.Keyword})
	if _, ok := r.All.Scores[stepsAt(1)]; ok || r.All.Tasks != 0 || r.Check([]Gate{{Metric: stepsAt(1)}}, nil)[0].Met {
		t.Errorf("%d tasks, scores %v", r.All.Tasks, r.All.Scores)
	}
}

// A search of the whole request and of each step gives what a run file of it gives, and a report of it keeps.
func TestRunSteps(t *testing.T) {
	d := tasks(t)
	r, w := run(t, d, Options{Answer: -1})
	var asked []string
	for _, q := range w.asked {
		asked = append(asked, q.Text)
	}
	want := []string{
		"book a flight", "book me on a plane and send word", "book a flight", "send word",
		"book a flight, send a message", "book a flight, send a message",
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	if r.All.Tasks != 1 || r.All.Scores[stepsAt(5)] != 1 {
		t.Errorf("report %+v", r.All)
	}
	var file bytes.Buffer
	if err := WriteRun(&file, r.Answers()); err != nil {
		t.Fatal(err)
	}
	answers, err := ReadRun(&file, "run.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	again, err := Score(d, answers, Options{})
	if err != nil {
		t.Fatal(err)
	}
	live := untimed(r)
	live.Mode, live.Tokens, live.tokens = "", nil, nil
	if diff := cmp.Diff(live, again, inside); diff != "" {
		t.Errorf("live, from the file (-live +file):\n%s", diff)
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := ReadReport(bytes.NewReader(b), "report.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.Cases[1].Needs, kept.Cases[1].Needs); diff != "" || kept.All.Tasks != 1 {
		t.Errorf("needs in a report (-written +read):\n%s", diff)
	}
	w.fail = "send word"
	if _, err := Run(t.Context(), w, d, Options{}); err == nil || !strings.Contains(err.Error(), "request asked") {
		t.Errorf("error of a step: %v", err)
	}
}

func TestRunFileOfSteps(t *testing.T) {
	d, answers := tasks(t), taskAnswers()
	answers[1].Steps = nil
	r, err := Score(d, answers, Options{})
	if err != nil || r.Missing != 1 || r.All.Scores[stepsAt(10)] != 0 {
		t.Errorf("%d missing, %v, error %v", r.Missing, r.All.Scores, err)
	}
	answers[1].Steps = [][]Ranked{nil}
	if _, err = Score(d, answers, Options{}); tool.CodeOf(err) != tool.Invalid ||
		!strings.Contains(err.Error(), `answers 1 steps of request "asked", which has 2`) {
		t.Errorf("error %v", err)
	}
	answers = taskAnswers()
	answers[0].Steps = [][]Ranked{nil}
	if _, err = Score(d, answers, Options{}); tool.CodeOf(err) != tool.Invalid {
		t.Errorf("steps of a single request: error %v", err)
	}
	long := []Answer{{ID: "a", Steps: [][]Ranked{nil, make([]Ranked, DefaultDepth+1)}}}
	var b strings.Builder
	if err := WriteRun(&b, long); err != nil || !strings.HasPrefix(b.String(), `{"id":"a","ranked":[],"steps":[[],[{`) ||
		strings.Count(b.String(), "name") != DefaultDepth || len(long[0].Steps[1]) != DefaultDepth+1 {
		t.Errorf("error %v, run file:\n%s", err, b.String())
	}
}

// Steps are compared over the tasks that have them, in both reports.
func TestCompareSteps(t *testing.T) {
	d, better := tasks(t), taskAnswers()
	a, err := Score(d, taskAnswers(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	better[1].Steps[1] = ranking("send_mail")
	b, err := Score(d, better, Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Compare(a, b)
	if err != nil {
		t.Fatal(err)
	}
	got := difference(t, c.All, stepsAt(5))
	want := Difference{Metric: stepsAt(5), A: 0, B: 1, Change: 1, Low: 1, High: 1, Wins: 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("steps@5 (-want +got):\n%s", diff)
	}
	if d := difference(t, c.All, completeAt(5)); d.Ties != 4 {
		t.Errorf("complete@5: %+v", d)
	}
	// a report of a version that did not measure it
	for i := range b.Cases {
		delete(b.Cases[i].Scores, completeAt(5))
		delete(b.Cases[i].Scores, stepsAt(1))
	}
	if c, err = Compare(a, b); err != nil {
		t.Fatal(err)
	}
	for _, d := range c.All {
		if d.Metric == completeAt(5) || strings.HasPrefix(string(d.Metric), "steps@") {
			t.Errorf("compared with nothing: %+v", d)
		}
	}
}
