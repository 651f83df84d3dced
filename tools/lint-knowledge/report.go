package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// finding is one thing that is wrong at one place. The rule decides whether it is an error.
type finding struct {
	at   place
	rule string
	id   string // server/name, or server/name#n for the n-th utterance; empty for lines that have none
	msg  string
}

func (f finding) String() string {
	if f.id == "" {
		return fmt.Sprintf("%s: %s: %s", f.at, f.rule, f.msg)
	}
	return fmt.Sprintf("%s: %s: %s: %s", f.at, f.rule, f.id, f.msg)
}

// report is the outcome of all rules over a corpus, findings ordered by place and rule.
type report struct {
	findings   []finding
	warnings   map[string]int // count by rule, every warning rule present, also with 0
	archetypes int
	servers    int
	utterances int
	groups     int
	entries    int
}

// check runs every rule.
func check(c *corpus) *report {
	r := &report{
		warnings: make(map[string]int), archetypes: len(c.archetypes), groups: len(c.groups),
		entries: len(c.entries),
	}
	_, names := c.servers()
	r.servers = len(names)
	for _, a := range c.archetypes {
		r.utterances += len(a.Utterances)
	}
	r.findings = slices.Clone(c.broken)
	for _, one := range rules() {
		if one.warning {
			r.warnings[one.name] = 0
		}
		one.find(c, func(at place, id, format string, args ...any) {
			r.findings = append(r.findings, finding{at: at, rule: one.name, id: id, msg: fmt.Sprintf(format, args...)})
			if one.warning {
				r.warnings[one.name]++
			}
		})
	}
	slices.SortStableFunc(r.findings, func(a, b finding) int {
		if n := strings.Compare(a.at.file, b.at.file); n != 0 {
			return n
		}
		if a.at.line != b.at.line {
			return a.at.line - b.at.line
		}
		return strings.Compare(a.rule+a.id+a.msg, b.rule+b.id+b.msg)
	})
	return r
}

// isWarning reports whether a finding counts against the budget instead of failing.
func (r *report) isWarning(f finding) bool {
	_, ok := r.warnings[f.rule]
	return ok
}

// errors counts the findings that no file may hold.
func (r *report) errors() int {
	n := 0
	for _, f := range r.findings {
		if !r.isWarning(f) {
			n++
		}
	}
	return n
}

// write prints findings and totals; quiet leaves the warnings to the totals.
func (r *report) write(w io.Writer, quiet bool) {
	for _, f := range r.findings {
		if r.isWarning(f) {
			if !quiet {
				fmt.Fprintf(w, "warning: %s\n", f)
			}
			continue
		}
		fmt.Fprintf(w, "error: %s\n", f)
	}
	fmt.Fprintf(w, "%d archetypes of %d kinds of servers, %d utterances, %d thesaurus groups, %d lexicon concepts\n",
		r.archetypes, r.servers, r.utterances, r.groups, r.entries)
	fmt.Fprintf(w, "%d errors", r.errors())
	for _, name := range slices.Sorted(maps.Keys(r.warnings)) {
		fmt.Fprintf(w, ", %s %d", name, r.warnings[name])
	}
	fmt.Fprintln(w)
}
