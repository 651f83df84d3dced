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

// verdicts are what has to hold after the run.
func (c *cluster) verdicts() []verdict {
	e := c.events
	bad, explained := e.unexplained()
	inFlight := e.inFlightAtKills()
	none := func(what string, n int) verdict { return verdict{what, fmt.Sprint(n), "none", n == 0, true} }
	return []verdict{
		none("searches that failed before the faults", c.figures.failed()),
		none("searches that failed, beside those in flight on a killed replica", len(bad)),
		{
			"searches cut off by the kill of their replica", fmt.Sprint(explained),
			fmt.Sprintf("at most the %d in flight at the kills", inFlight), int64(explained) <= inFlight, true,
		},
		{
			"attempts of searches without an answer, which the client sent again, beside those in flight at kills",
			c.hidden(), "few", true, false,
		},
		{"requests that HAProxy sent again", c.balancerAgain, "few", true, false},
		none("acknowledged changes that are lost", len(c.losses)),
		none("answers in which replicas differ after it", len(c.differ)),
		none("answers that show another tenant's mark", len(e.leaks)),
		none("changes with an unexpected error", len(c.oddChanges(false))),
		{
			"changes whose connection ended without an answer, beside those in flight at kills",
			fmt.Sprint(len(c.oddChanges(true))), "few", true, false,
		},
		none("other faults", len(e.wrong)),
		{"faults done", fmt.Sprint(c.rounds), "at least 4", c.rounds >= 4, true},
	}
}

// hidden returns how many attempts of searches got no answer and were sent again by the client, without a kill and with
// one, as text.
func (c *cluster) hidden() string {
	bad := 0
	for _, f := range c.events.repeated {
		if !c.events.byKill(f) {
			bad++
		}
	}
	return fmt.Sprintf("%d, and %d at kills", bad, len(c.events.repeated)-bad)
}

// oddChanges returns the changes that were neither acknowledged, nor refused, nor timed out, though no replica was
// killed meanwhile. The broken ones got no answer: when a connection that the balancer kept to a replica ends just as
// it sends the request, it ends the connection of its client, too.
func (c *cluster) oddChanges(broken bool) []failed {
	var out []failed
	for _, f := range c.events.cut {
		if f.broken == broken && !c.events.byKill(f) {
			out = append(out, f)
		}
	}
	return out
}

// page is the report.
func (c *cluster) page(ctx context.Context) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Three replicas under load with faults for %v\n\n", c.time)
	fmt.Fprintf(&b, "%s Times depend on other work of the machine.\n\n", provenance.Line(ctx, "make cluster-test"))
	fmt.Fprintf(&b, clusterAbout+"\n\n", len(c.people), bulkServers*100, searchRate, changeRate, c.net.how())
	b.WriteString(c.figures.page() + "## With faults\n\n")
	writeVerdicts(&b, c.verdicts())
	fmt.Fprintf(&b, "\nAfterwards %d answers of each replica were compared: every tool, its page and its overlay, "+
		"decisions, preferences and servers of each tenant. They were the same %v after the load ended. "+
		"A run never fails because of times.\n\n", c.compared, c.agreed.Round(10*time.Millisecond))
	b.WriteString("## What was done to them\n\n| after | what | and then |\n|---|---|---|\n")
	for _, f := range c.events.faults {
		fmt.Fprintf(&b, "| %v | %s | %s |\n", f.at.Round(100*time.Millisecond), f.what, f.after)
	}
	b.WriteString("\n## What clients saw\n\nA change that is refused is answered with 503; one that is cut off " +
		"lost its answer with its replica; one that timed out is answered with 504 after 30 seconds. None free: all " +
		"that can be changed in this way was being changed.\n\n" +
		"| what | how many | p50 | p99 | longest |\n|---|---|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(c.tally.all)) {
		one := c.tally.all[name]
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s |\n", name, len(one.times),
			ms(one.percentile(50)), ms(one.percentile(99)), ms(slices.Max(one.times)))
	}
	c.writeProblems(&b)
	return b.String()
}

// clusterAbout describes how the cluster is measured. It is a format for the numbers of tenants, of their tools, and of
// searches and changes a second, and for network.how.
const clusterAbout = "Three replicas of `tooldex serve`, each with a data directory of its own, PostgreSQL with " +
	"a synchronous standby, and HAProxy with the configuration of `deploy/replicas`, all on one machine. %d " +
	"tenants with %d tools each share %d searches and %d changes a second, which are sent whether those " +
	"before were answered or not. A replica is cut off from the database by %s. What HAProxy limits one " +
	"address to is lifted, since all load comes from one. HAProxy sends a search again, to another replica, " +
	"if its own cannot be reached or ends without an answer. The client of the load, that of Go, sends a " +
	"search again if the kept connection that it chose ends before an answer begins. Neither counts as a " +
	"failed search, so both have a row of their own."

// writeProblems lists what failed, if anything did.
func (c *cluster) writeProblems(b *strings.Builder) {
	e := c.events
	list := func(title string, lines []string) {
		if len(lines) == 0 {
			return
		}
		fmt.Fprintf(b, "\n## %s\n\n```text\n", title)
		for _, line := range lines[:min(len(lines), 2*maxBad)] {
			fmt.Fprintf(b, "%s\n", strings.ReplaceAll(line, "\n", " "))
		}
		b.WriteString("```\n")
	}
	at := func(all []failed) (out []string) {
		for _, f := range all {
			after, took := f.begin.Sub(e.begin), f.end.Sub(f.begin)
			out = append(out, fmt.Sprintf("%v, for %v: %s",
				after.Round(time.Millisecond), took.Round(time.Millisecond), f.why))
		}
		return out
	}
	bad, _ := e.unexplained()
	list("Searches that failed", at(bad))
	list("Changes with an error", at(append(c.oddChanges(false), c.oddChanges(true)...)))
	list("Lost changes", c.losses)
	list("Differences", c.differ)
	list("Marks of other tenants", e.leaks)
	list("Other faults", e.wrong)
}
