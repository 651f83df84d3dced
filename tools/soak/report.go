package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"tooldex/tools/internal/provenance"
)

// result is what came of a run.
type result struct {
	config
	*tally
	before, after state // at rest
	samples       []state
	ended         time.Duration
	left, exit    int
}

// What may grow between the third and the last quarter of the load, and what may be left after it: a machine that does
// other work, too, makes a garbage collector late, but no leak stays within these for long.
const (
	memoryGrowth    = .10
	memorySlack     = 12 // MiB
	goroutineGrowth = .10
	goroutineSlack  = 30
	goroutinesLeft  = 10
	filesLeft       = 5
	heapLeft        = 1.5 // times what was in use at rest before, and
	heapSlack       = 16  // MiB
	endWithin       = 5 * time.Second
	slower          = 3 // times the p99 at rest
)

func heapMost(before *state) float64 { return heapLeft*before.Heap + heapSlack }

// thorough reports whether the run is long enough to wait for the collection of garbage that Go makes every two minutes
// at rest.
func (r *result) thorough() bool { return r.time >= 10*time.Minute }

// rest is how long the command is given to come to rest.
func (r *result) rest() time.Duration {
	if r.thorough() {
		return 150 * time.Second
	}
	return 15 * time.Second
}

// quarter is the median of something in a quarter of the samples, from 0.
func (r *result) quarter(which int, of func(state) float64) float64 {
	n := len(r.samples)
	part := r.samples[n*which/4 : n*(which+1)/4]
	if len(part) == 0 {
		return 0
	}
	values := make([]float64, len(part))
	for i, s := range part {
		values[i] = of(s)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

func (r *result) grown(what, unit string, of func(state) float64, growth, slack float64) verdict {
	third, last := r.quarter(2, of), r.quarter(3, of)
	most := third*(1+growth) + slack
	return verdict{what + ", median of the third and of the last quarter", fmt.Sprintf("%.0f%s and %.0f%s", third, unit,
		last, unit), fmt.Sprintf("at most %.0f%s", most, unit), last <= most, true}
}

func (r *result) verdicts() []verdict {
	failed := 0
	for _, c := range r.all {
		failed += c.failed
	}
	out := []verdict{
		{"errors that no fault explains", fmt.Sprint(failed), "none", failed == 0, true},
		r.grown("resident memory", " MiB", func(s state) float64 { return s.Resident }, memoryGrowth, memorySlack),
		r.grown("resident memory of the one on standard streams", " MiB", func(s state) float64 { return s.PipeMemory },
			memoryGrowth, memorySlack),
		r.grown("goroutines", "", func(s state) float64 { return s.Goroutines }, goroutineGrowth, goroutineSlack),
		r.grown("open files", "", func(s state) float64 { return s.Files }, goroutineGrowth, goroutineSlack),
		{
			"goroutines at rest, before and after", fmt.Sprintf("%.0f and %.0f", r.before.Goroutines, r.after.Goroutines),
			fmt.Sprintf("at most %d more", goroutinesLeft), r.after.Goroutines <= r.before.Goroutines+goroutinesLeft,
			true,
		},
		{
			"open files at rest, before and after", fmt.Sprintf("%.0f and %.0f", r.before.Files, r.after.Files),
			fmt.Sprintf("at most %d more", filesLeft), r.after.Files <= r.before.Files+filesLeft, true,
		},
		{
			"heap in use at rest, before and after", fmt.Sprintf("%.0f and %.0f MiB", r.before.Heap, r.after.Heap),
			fmt.Sprintf("at most %.0f MiB", heapMost(&r.before)), r.after.Heap <= heapMost(&r.before), r.thorough(),
		},
		{
			"time to end after a signal", r.ended.Round(time.Millisecond).String(), "at most " + endWithin.String(),
			r.ended <= endWithin, false,
		},
		{
			"exit code, and upstreams left behind", fmt.Sprintf("%d, %d", r.exit, r.left), "0, none",
			r.exit == 0 && r.left == 0, true,
		},
	}
	for _, what := range []string{"search", "call"} {
		rest, load := r.all[what+" at rest"].percentile(99), r.all[what+" under load"].percentile(99)
		out = append(out, verdict{
			"p99 of a " + what + " at rest and under load", ms(rest) + " and " + ms(load),
			fmt.Sprintf("at most %d times", slower), load <= slower*rest, false,
		})
	}
	return out
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond)) }

// page is the report.
func (r *result) page(ctx context.Context) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Under load for %v\n\n", r.time)
	fmt.Fprintf(&b, "%s Times depend on other work of the machine.\n\n", provenance.Line(ctx, "make soak"))
	writeVerdicts(&b, r.verdicts())
	b.WriteString("\nA run never fails because of times, nor because of the heap at rest after a short run; any other missed target fails it.\n\n## What was done\n\n| what | went well | p50 | p99 | faults that explain errors | other errors |\n|---|---|---|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(r.all)) {
		c := r.all[name]
		var why []string
		for _, by := range slices.Sorted(maps.Keys(c.explained)) {
			why = append(why, fmt.Sprintf("%d: %s", c.explained[by], by))
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s | %d |\n", name, len(c.times), ms(c.percentile(50)),
			ms(c.percentile(99)), strings.Join(why, ", "), c.failed)
	}
	b.WriteString("\n## What it took\n\n| when | resident | heap | goroutines | files | threads | sessions | resident, standard streams |\n|---|---|---|---|---|---|---|---|\n")
	row := func(when string, s state) {
		fmt.Fprintf(&b, "| %s | %.0f MiB | %.0f MiB | %.0f | %.0f | %.0f | %.0f | %.0f MiB |\n", when, s.Resident,
			s.Heap, s.Goroutines, s.Files, s.Threads, s.Sessions, s.PipeMemory)
	}
	row("at rest, before", r.before)
	for i := 1; i <= 10 && len(r.samples) > 0; i++ {
		s := r.samples[(len(r.samples)-1)*i/10]
		row(s.At.Round(time.Second).String(), s)
	}
	row("at rest, after", r.after)
	for _, name := range slices.Sorted(maps.Keys(r.all)) {
		for i, bad := range r.all[name].bad {
			if i == 0 {
				fmt.Fprintf(&b, "\n## Errors of %s\n\n", name)
			}
			fmt.Fprintf(&b, "    %s\n", strings.ReplaceAll(bad, "\n", " "))
		}
	}
	return b.String()
}
