package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"tooldex/tools/internal/gauge"
)

// figures are measured on the cluster before the faults, on a tenant of their own.
type figures struct {
	h       *holder
	dumps   []string // its catalogue
	queries []string
	tools   int // of the catalogue

	imports  [2]time.Duration        // into the database, and into files
	rates    [replicaNum]*closedLoop // behind HAProxy, with so many replicas and one more
	searches [2]*closedLoop          // through a replica on the database, and a server on files
	memory   [replicaNum][2]float64  // resident and private, in MB
	seen     []*seen
}

// figuresTenant is the tenant that is measured without faults.
const figuresTenant = "figures"

// How it is measured.
const (
	figuresTime        = 5 * time.Second // of each loop
	figuresConnections = 16
)

// measureCalm takes the figures without faults. The replicas must run, and get no other requests.
func (c *cluster) measureCalm(ctx context.Context) error {
	f := c.figures
	if err := c.gather(ctx, f); err != nil {
		return err
	}
	says("without faults: imports")
	begin := time.Now()
	if out, err := c.command(ctx, f.h, append([]string{"import"}, f.dumps...)...); err != nil {
		return fmt.Errorf("import into the database: %w: %.300s", err, out)
	}
	f.imports[0] = time.Since(begin)
	if err := c.measureSearches(ctx, f); err != nil {
		return err
	}
	if err := c.measureRates(ctx, f); err != nil {
		return err
	}
	says("without faults: how soon replicas answer with a change")
	return c.watch(ctx, f)
}

// measureSearches searches through a replica, and through a server on files that it starts for that.
func (c *cluster) measureSearches(ctx context.Context, f *figures) error {
	alone, stop, err := c.serveFiles(ctx, f)
	if err != nil {
		return err
	}
	defer stop()
	bases := []string{alone}
	for _, r := range c.replicas {
		bases = append(bases, r.base)
	}
	for i, base := range bases {
		if err := f.open(ctx, base); err != nil {
			return err
		}
		n, err := f.count(ctx, base)
		if err != nil {
			return err
		}
		if i > 0 && n != f.tools {
			return fmt.Errorf("%s has %d tools, another %d", base, n, f.tools)
		}
		f.tools = n
	}
	says("without faults: searches in %d tools", f.tools)
	for i, base := range []string{c.replicas[0].base, alone} {
		if f.searches[i], err = loop(ctx, 1, f.search(base)); err != nil {
			return err
		}
	}
	return nil
}

// measureRates searches behind HAProxy with one replica and more, and reads what memory the replicas take then.
func (c *cluster) measureRates(ctx context.Context, f *figures) (err error) {
	for i := range f.rates {
		if err := c.balanceOver(ctx, i+1); err != nil {
			return err
		}
		if f.rates[i], err = loop(ctx, figuresConnections, f.search(c.base)); err != nil {
			return err
		}
	}
	for i, r := range c.replicas {
		for j, name := range []string{"VmRSS", "RssAnon"} {
			if f.memory[i][j], err = gauge.StatusMB(r.cmd.Process.Pid, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// failed is how many searches failed.
func (f *figures) failed() (n int) {
	for _, l := range append(f.rates[:], f.searches[:]...) {
		n += l.count.failed
	}
	return n
}

// gather finds the catalogue: that of the data, grown if that was asked for, or one like those of the tenants.
func (c *cluster) gather(ctx context.Context, f *figures) (err error) {
	f.queries = requests
	if c.data == "" {
		for n := range bulkServers {
			f.dumps = append(f.dumps, c.dump(f.h, n, 0))
		}
		return nil
	}
	if f.queries, err = gauge.Queries(c.data); err != nil {
		return err
	}
	if c.tools == 0 {
		f.dumps, err = gauge.Dumps(c.data)
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	grown := filepath.Join(c.dir, "grown")
	f.dumps = []string{grown}
	cmd := exec.CommandContext(ctx, filepath.Join(filepath.Dir(self), "bench"), "-data", c.data,
		"catalogue", strconv.Itoa(c.tools), grown)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("the catalogue of %d tools (make tools builds what makes it): %w: %s", c.tools, err, out)
	}
	return nil
}

// serveFiles imports the catalogue into a data directory and runs one server on it, with the settings and tokens of
// the replicas. The caller calls stop.
func (c *cluster) serveFiles(ctx context.Context, f *figures) (base string, stop func(), err error) {
	common := []string{"--config", filepath.Join(c.dir, "alone.yaml"), "--data-dir", filepath.Join(c.dir, "alone")}
	settings := fmt.Sprintf("trust: {policy: warn}\nserve: {rate: -1}\nprofiles:\n  %s: {}\n", f.h.profiles[0].name)
	if err := os.WriteFile(common[1], []byte(settings), 0o600); err != nil {
		return "", nil, err
	}
	begin := time.Now()
	reads := exec.CommandContext(ctx, c.bin, append(append([]string{"import"}, f.dumps...), common...)...)
	if out, err := reads.CombinedOutput(); err != nil {
		return "", nil, fmt.Errorf("import into files: %w: %.300s", err, out)
	}
	f.imports[1] = time.Since(begin)
	ctx, cancel := context.WithCancel(ctx) // kills it
	read := make(chan struct{})
	cmd, base, err := listening(ctx, filepath.Join(c.dir, "alone.log"), read, c.bin, append([]string{
		"serve", "--listen", "127.0.0.1:0", "--tokens", filepath.Join(c.dir, "alone-tokens.yaml"),
	}, common...)...)
	if err != nil {
		cancel()
		return "", nil, err
	}
	return base, func() {
		cancel()
		<-read
		_ = cmd.Wait() // it was killed
	}, nil
}
