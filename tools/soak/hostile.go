package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"tooldex/tools/internal/provenance"
)

// goodServers is how many well-behaved servers stand beside the hostile one.
const goodServers = 9

// The bars of a run. Memory is compared with that of the run in which the tenth server behaves well, too.
const (
	hostileMemory = 64 // MiB more
	hostileSlower = 2  // times the p99
)

// hostileResult is what came of one attack.
type hostileResult struct {
	attack
	*tally
	calm, peak float64 // MiB in memory: before the load, and the most of it
	ended      time.Duration
	left, exit int
}

// What is counted.
const (
	ofTheNine    = "call of the nine"
	ofTheHostile = "call of the hostile server"
)

// goodName names one of the servers that behave well.
func goodName(i int) string { return fmt.Sprint("good", i) }

// measureHostile runs each attack against a command of its own, writes the page, and returns an error for what should
// not be. Times fail no run.
func measureHostile(ctx context.Context, c config, dir string) error {
	var results []*hostileResult
	for i, a := range attacks() {
		if c.only != "" && a.name != quiet && a.name != c.only {
			continue
		}
		r, err := attackOnce(ctx, c, a, filepath.Join(dir, fmt.Sprint(i)))
		if err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		results = append(results, r)
		fmt.Fprintln(os.Stderr, r.row(results[0]))
		for name, n := range r.count(ofTheHostile).explained {
			fmt.Fprintf(os.Stderr, "  %d times %s\n", n, name)
		}
	}
	if err := c.write(hostilePage(ctx, c, results)); err != nil {
		return err
	}
	var faults []error
	for _, r := range results {
		faults = append(faults, r.faults(results[0])...)
	}
	return errors.Join(faults...)
}

// count returns how one kind of operation went; nothing of it is an empty count.
func (r *hostileResult) count(name string) *count {
	if c := r.all[name]; c != nil {
		return c
	}
	return &count{}
}

// faults lists what fails the run, compared with a run without an attack.
func (r *hostileResult) faults(calm *hostileResult) []error {
	var out []error
	bad := func(format string, args ...any) {
		out = append(out, fmt.Errorf("%s: %s", r.name, fmt.Sprintf(format, args...)))
	}
	nine := r.count(ofTheNine)
	if nine.failed > 0 || len(nine.times) == 0 {
		bad("%d calls of the nine went well, %d failed: %v", len(nine.times), nine.failed, nine.bad)
	}
	if more := r.peak - calm.peak; more > hostileMemory {
		bad("%.0f MiB more than without an attack, want at most %d", more, hostileMemory)
	}
	if r.exit != 0 || r.left > 0 {
		bad("exit code %d, and %d servers are left", r.exit, r.left)
	}
	return out
}

// row is the line of the page.
func (r *hostileResult) row(calm *hostileResult) string {
	nine, hostile := r.count(ofTheNine), r.count(ofTheHostile)
	refused := 0
	for _, n := range hostile.explained {
		refused += n
	}
	memory := fmt.Sprintf("%+.0f MiB", r.peak-calm.peak)
	if r.peak-calm.peak > hostileMemory {
		memory = "**" + memory + "**"
	}
	slower := float64(nine.percentile(99)) / float64(max(calm.count(ofTheNine).percentile(99), 1))
	factor := fmt.Sprintf("%.1f", slower)
	if slower > hostileSlower {
		factor = "**" + factor + "**"
	}
	return fmt.Sprintf("| %s: it %s | %d, %d | %s | %s | %s | %.0f MiB | %s | %d, %d |", r.name, r.does, len(nine.times),
		nine.failed, ms(nine.percentile(50)), ms(nine.percentile(99)), factor, r.peak, memory, len(hostile.times), refused)
}

// hostilePage is the report.
func hostilePage(ctx context.Context, c config, results []*hostileResult) string {
	var b strings.Builder
	b.WriteString("# One hostile server beside nine good ones\n\n")
	fmt.Fprintf(&b, "%s Times depend on other work of the machine, which has to run the clients and all servers, too.\n\n",
		provenance.Line(ctx, "make hostile"))
	fmt.Fprintf(&b, `Each row is a run of `+"`tooldex serve`"+` of its own, for %v, with ten child processes. Nine servers answer at once, and
each is called every 50 ms. The tenth does what the row says, and several clients call it without a pause. Wanted are:
no failed call of the nine, at most %d MiB more memory than without an attack, and at most %d times the p99. Memory is
what the process has resident, files that it maps among it, looked at every 20 ms; the most counts. A run fails because
of failed calls, of memory, or of processes that are left behind, never because of times.

`, c.time, hostileMemory, hostileSlower)
	b.WriteString("| the tenth server | calls of the nine, failed ones | p50 | p99 | times the p99 | memory | more | its own calls, failed ones |\n|---|---|---|---|---|---|---|---|\n")
	for _, r := range results {
		fmt.Fprintln(&b, r.row(results[0]))
	}
	b.WriteString("\nWhat bounds each attack stands in [limits](reference/limits.md#upstream-servers). The processor time that a " +
		"server itself takes is not bounded: use a container or a service manager for that.\n")
	return b.String()
}

// attackOnce starts the command with nine good servers and a hostile one, and calls all of them for a while.
func attackOnce(ctx context.Context, c config, a attack, dir string) (*hostileResult, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &served{bin: c.bin, dir: dir, data: filepath.Join(dir, "data"), read: make(chan struct{})}
	servers := map[string]any{"hostile": map[string]any{"command": self, "args": []string{hostilePrefix + a.name}}}
	for i := range goodServers {
		servers[goodName(i)] = map[string]any{"command": self, "args": []string{steady}}
	}
	if err := s.write("servers.json", map[string]any{"mcpServers": servers}); err != nil {
		return nil, err
	}
	// The tools are read before, so that the one that is measured has little to do at its start. The listing of a
	// hostile server may fail.
	if out, err := s.command(ctx, "servers", "import", filepath.Join(dir, "servers.json")); err != nil {
		fmt.Fprintf(os.Stderr, "%s: import: %v: %.300s\n", a.name, err, out)
	}
	s.cmd, s.base, err = listening(ctx, filepath.Join(dir, "serve.log"), s.read, s.bin, "serve", "--listen",
		"127.0.0.1:0", "-d", s.data)
	if err != nil {
		return nil, err
	}
	defer s.kill()
	l := newLoad(s, c.seed)
	r := &hostileResult{attack: a, tally: l.tally}
	if err := l.wakeGood(ctx); err != nil {
		return nil, err
	}
	if !pause(ctx, 2*time.Second) {
		return nil, ctx.Err()
	}
	r.calm, _ = taken(s.cmd.Process.Pid)
	loaded, stop := context.WithTimeout(ctx, c.time)
	defer stop()
	var all sync.WaitGroup
	for i := range goodServers {
		all.Go(func() {
			for pause(loaded, 50*time.Millisecond) {
				l.do(loaded, ofTheNine, func(ctx context.Context) error { return l.echo(ctx, goodName(i)) })
			}
		})
	}
	for range a.calls {
		all.Go(func() {
			for pause(loaded, 10*time.Millisecond) {
				l.do(loaded, ofTheHostile, func(ctx context.Context) error {
					ctx, stop := context.WithTimeout(ctx, 10*time.Second)
					defer stop()
					_, err := l.send(ctx, http.MethodPost, "/api/tools/hostile/echo_number/call",
						map[string]any{"arguments": map[string]any{"n": 1}}, http.StatusOK)
					if refused := (*refusal)(nil); errors.As(err, &refused) {
						return fault{fmt.Sprintf("status %d", refused.status), err}
					}
					if err != nil {
						return fault{"no answer within 10 s", err}
					}
					return nil
				})
			}
		})
	}
	all.Go(func() {
		for pause(loaded, 20*time.Millisecond) {
			now, _ := taken(s.cmd.Process.Pid)
			r.peak = max(r.peak, now)
		}
	})
	all.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.ended, r.left, r.exit = s.end()
	return r, nil
}

// wakeGood has each of the nine run.
func (l *load) wakeGood(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for i := range goodServers {
		for err := l.echo(ctx, goodName(i)); err != nil; err = l.echo(ctx, goodName(i)) { // its tools are still being read
			if !pause(ctx, 100*time.Millisecond) {
				return fmt.Errorf("%s: %w", goodName(i), err)
			}
		}
	}
	return nil
}
