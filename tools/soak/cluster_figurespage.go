package main

import (
	"fmt"
	"runtime"
	"strings"
	"time"
)

// page is the section of the figures without faults.
func (f *figures) page() string {
	var b strings.Builder
	fmt.Fprintf(&b, `## Without faults

Measured before the faults began, while nobody else asked, on one tenant with %d tools. The replicas, HAProxy, both
databases and the load, a client in Go, share the %d cores of this machine: more replicas add none, so these figures do
not say what three machines do. All searches are GET /search with a token. Each loop lasts %v.

| %d connections, each sends the next search when it has an answer | searches/s | p50 | p99 | failed |
|---|---|---|---|---|
`, f.tools, runtime.NumCPU(), figuresTime, figuresConnections)
	for i, l := range f.rates {
		replicas := fmt.Sprint(i+1, " replicas")
		if i == 0 {
			replicas = "1 replica"
		}
		fmt.Fprintf(&b, "| %s behind HAProxy | %.0f | %s | %s | %d |\n",
			replicas, l.rate(), ms(l.percentile(50)), ms(l.percentile(99)), l.failed)
	}
	b.WriteString("\n| one connection, without HAProxy | searches | p50 | p99 | failed |\n|---|---|---|---|---|\n")
	for i, l := range f.searches {
		what := []string{"a replica on the database", "one server on a data directory"}[i]
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %d |\n", what,
			len(l.times), ms(l.percentile(50)), ms(l.percentile(99)), l.failed)
	}
	b.WriteString("\n| import of the catalogue by the command, its start included | took | tools/s |\n|---|---|---|\n")
	for i, took := range f.imports {
		fmt.Fprintf(&b, "| %s | %v | %.0f |\n", []string{"into PostgreSQL", "into a data directory"}[i],
			took.Round(time.Millisecond), float64(f.tools)/took.Seconds())
	}
	b.WriteString("\nMemory after these searches, with every tenant open:\n\n| | resident | private |\n|---|---|---|\n")
	for i, m := range f.memory {
		fmt.Fprintf(&b, "| replica %d | %.0f MB | %.0f MB |\n", i, m[0], m[1])
	}
	fmt.Fprintf(&b, `
From the acknowledgement of a change until another replica answers with it. The changes come one by one, the next
%v after all have the one before; each replica is asked again a millisecond after its last answer. There are
%d changes of each kind, or as many as fit into %v. An import counts as acknowledged when the command ends, which is a
while after its change is committed.

| change | changes | p50 | p99 | longest |
|---|---|---|---|---|
`, seenPause, seenChanges, seenTime)
	for _, s := range f.seen {
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s |\n",
			s.what, s.changes, ms(s.percentile(50)), ms(s.percentile(99)), ms(s.percentile(100)))
	}
	b.WriteString("\n")
	return b.String()
}
