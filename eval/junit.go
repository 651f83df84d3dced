package eval

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// The elements of a JUnit report that programs which read them agree on. No time is given: it would differ from run to
// run.
type (
	junitSuites struct {
		XMLName xml.Name `xml:"testsuites"`
		Name    string   `xml:"name,attr"`
		junitCounts
		Suites []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name string `xml:"name,attr"`
		junitCounts
		Cases []junitCase `xml:"testcase"`
	}
	junitCounts struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Skipped  int `xml:"skipped,attr"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Failure *junitMessage `xml:"failure"`
		Skipped *junitMessage `xml:"skipped"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
	}
)

// junitDepth is how many of the first tools must hold a right one for a request to pass.
const junitDepth = 5

// WriteJUnit writes r as JUnit XML, for dashboards. Gates are the tests that fail. Every request is a test as well, in
// a suite of its kind: one without a right tool among the first five, or answered with confidence though no tool serves
// it, is skipped, with a message that says where the right tool stands. So a build fails by its gates alone, and what
// was missed is seen all the same.
func (r *Report) WriteJUnit(w io.Writer, verdicts []Verdict) error {
	all := junitSuites{Name: strings.TrimSuffix(fileName(r.Set), ": ")}
	if all.Name == "" {
		all.Name = "tooldex"
	}
	if len(verdicts) > 0 {
		gates := junitSuite{Name: "gates"}
		for _, v := range verdicts {
			c := junitCase{Class: all.Name + ".gates", Name: v.Figure + " " + v.Need}
			if !v.Met {
				c.Failure = &junitMessage{v.String()}
			}
			gates.addTest(c)
		}
		all.addSuite(gates)
	}
	for _, kind := range r.kindsInOrder() {
		suite := junitSuite{Name: kind}
		for i := range r.Cases {
			if o := &r.Cases[i]; kindOf(o) == kind {
				suite.addTest(o.junitTest(all.Name))
			}
		}
		all.addSuite(suite)
	}
	b, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("write junit report: %w", err)
	}
	return writeString(w, xml.Header+string(b)+"\n")
}

// addSuite appends a suite and its counts.
func (s *junitSuites) addSuite(suite junitSuite) {
	s.Tests += suite.Tests
	s.Failures += suite.Failures
	s.Skipped += suite.Skipped
	s.Suites = append(s.Suites, suite)
}

// addTest appends a test and counts it.
func (s *junitSuite) addTest(c junitCase) {
	s.Tests++
	s.Failures += int(boolScore(c.Failure != nil))
	s.Skipped += int(boolScore(c.Skipped != nil))
	s.Cases = append(s.Cases, c)
}

// kindsInOrder lists the kinds of requests as they first occur.
func (r *Report) kindsInOrder() []string {
	var out []string
	seen := map[string]bool{}
	for i := range r.Cases {
		if kind := kindOf(&r.Cases[i]); !seen[kind] {
			seen[kind] = true
			out = append(out, kind)
		}
	}
	return out
}

// kindOf returns the kind under which an outcome is listed.
func kindOf(o *Outcome) string {
	switch {
	case o.Kind != "":
		return o.Kind
	case o.NoMatch:
		return kindNoMatch
	}
	return "requests"
}

// junitTest returns the test of a request. A missed one is skipped, not failed.
func (o *Outcome) junitTest(set string) junitCase {
	c := junitCase{Class: set + "." + kindOf(o), Name: o.ID + ": " + o.Query}
	if o.Query == "" {
		c.Name = o.ID
	}
	if why := o.Missed(); why != "" {
		c.Skipped = &junitMessage{why}
	}
	return c
}

// Missed says what is wrong with the answer to a request, and returns "" if nothing is: a right tool stands among the
// first five, also for each step with a request of its own, or no tool serves and the answer was not confident.
func (o *Outcome) Missed() string {
	switch {
	case o.NoMatch && o.Confident != nil && *o.Confident:
		return "no tool serves this, and the answer was confident"
	case o.NoMatch:
		return ""
	case o.isWithinFive():
		if step := o.missedStep(); step > 0 {
			return o.missedStepText(step)
		}
		return ""
	case o.Rank == 0:
		return "no right tool was found"
	}
	return fmt.Sprintf("the first right tool stands at %d", o.Rank)
}
