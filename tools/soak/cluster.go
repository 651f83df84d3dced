package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"tooldex/internal/pgtest"
)

// cluster is several replicas on a database with a standby, behind HAProxy, and what is done to them.
type cluster struct {
	config
	dir      string
	net      *network
	primary  *pgtest.Server // which one takes changes
	standby  *pgtest.Server
	replicas []*replica
	people   []*holder
	base     string // of HAProxy
	tally    *tally
	events   *events
	figures  *figures // without faults

	taking sync.Mutex
	keys   []*key // guarded by taking while there is load; those that were changed last are last

	// What came of it.
	rounds        int    // faults that were done
	balancerAgain string // requests that HAProxy sent again, since the faults began
	failovers     []failover
	agreed        time.Duration // how long after the load all replicas gave the same answers
	compared      int           // answers of each replica
	differ        []string      // answers that are not the same
	losses        []string      // acknowledged changes that are not there
}

// How much is asked of the cluster, in requests a second.
const (
	searchRate = 200
	changeRate = 20
	replicaNum = 3
)

// measureCluster measures the cluster without faults, runs it under load with faults, and writes the page. The error
// lists what was not as it should be.
func measureCluster(ctx context.Context, c config, dir string) (err error) {
	if c.tools > 0 && c.data == "" {
		return errors.New("-tools wants -data, whose catalogue it grows")
	}
	if err := enterNamespace(); err != nil {
		return err
	}
	t := &testOf{}
	defer t.end()
	defer func() {
		switch failed := recover().(type) {
		case nil:
		case failure:
			err = failed.error
		default:
			panic(failed)
		}
	}()
	one := &cluster{
		config: c, dir: dir, tally: &tally{all: map[string]*count{}}, events: &events{begin: time.Now()},
		figures: &figures{},
	}
	if err := one.start(ctx, t); err != nil {
		return err
	}
	if err := one.measureCalm(ctx); err != nil {
		return fmt.Errorf("without faults: %w", err)
	}
	before := one.sentAgain()
	one.run(ctx)
	one.balancerAgain = fmt.Sprint(one.sentAgain() - before)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	one.agree(ctx)
	if err := c.write(one.page(ctx)); err != nil {
		return err
	}
	return missed(one.verdicts())
}

// start starts all parts, and imports the tools that the tenants begin with.
func (c *cluster) start(ctx context.Context, t *testOf) error {
	var err error
	if c.net, err = newNetwork(t); err != nil {
		return err
	}
	c.primary = pgtest.StartWith(t, pgtest.Options{Listen: c.net.databases[0], From: c.net.everyone, Sync: true})
	c.standby = c.primary.StandbyWith(pgtest.Options{Listen: c.net.databases[1], Sync: true})
	if err := c.configure(); err != nil {
		return err
	}
	for _, h := range c.people {
		for n := range bulkServers {
			if out, err := c.command(ctx, h, "import", c.dump(h, n, 0)); err != nil {
				return fmt.Errorf("import: %w: %s", err, out)
			}
		}
	}
	for i := range replicaNum {
		r := &replica{c: c, number: i}
		t.Cleanup(r.kill)
		if err := r.start(ctx); err != nil {
			return err
		}
		if err := errors.Join(r.ready(ctx), r.warm(ctx)); err != nil {
			return err
		}
		c.replicas = append(c.replicas, r)
	}
	return c.startBalancer(ctx, t)
}

// run applies load and faults for the time that was asked for.
func (c *cluster) run(ctx context.Context) {
	ctx, stop := context.WithTimeout(ctx, c.time)
	defer stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.doFaults(ctx)
	}()
	c.load(ctx)
	<-done
}

// says logs what happens.
func says(format string, args ...any) {
	fmt.Fprintf(os.Stderr, time.Now().UTC().Format("15:04:05.000 ")+format+"\n", args...)
}
