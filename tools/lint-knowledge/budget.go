package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// budget is how many warnings of each rule are tolerated. A rule that is not in it tolerates none.
type budget map[string]int

// readBudget parses lines of "rule count"; empty lines and those that begin with # are skipped.
func readBudget(r io.Reader) (budget, error) {
	b := make(budget)
	sc := bufio.NewScanner(r)
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimSpace(sc.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		rule, count, ok := strings.Cut(line, " ")
		limit, err := strconv.Atoi(strings.TrimSpace(count))
		if !ok || err != nil || limit < 0 {
			return nil, fmt.Errorf("budget line %d: want a rule and a count, have %q", n, line)
		}
		if _, twice := b[rule]; twice {
			return nil, fmt.Errorf("budget line %d: rule %s stands twice", n, rule)
		}
		b[rule] = limit
	}
	return b, sc.Err()
}

// exceeded names every rule with more warnings than the budget has for it, in order.
func (b budget) exceeded(warnings map[string]int) []string {
	var over []string
	for _, rule := range slices.Sorted(maps.Keys(warnings)) {
		if n := warnings[rule]; n > b[rule] {
			over = append(over, fmt.Sprintf("%s: %d warnings, %d allowed", rule, n, b[rule]))
		}
	}
	return over
}

// lowered is the budget after the data got better: never more than before, and nothing for rules that are gone.
func (b budget) lowered(warnings map[string]int) budget {
	low := make(budget, len(warnings))
	for rule, n := range warnings {
		low[rule] = min(n, b[rule])
	}
	return low
}

func (b budget) write(w io.Writer) error {
	var s strings.Builder
	s.WriteString("# Warnings tolerated per rule. Counts may only fall: go -C tools test ./lint-knowledge -run TestData -update\n")
	for _, rule := range slices.Sorted(maps.Keys(b)) {
		fmt.Fprintf(&s, "%s %d\n", rule, b[rule])
	}
	_, err := io.WriteString(w, s.String())
	return err
}
