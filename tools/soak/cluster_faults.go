package main

import (
	"context"
	"fmt"
	"time"
)

// gap is the time between two faults, a share of that of the run.
func (c *cluster) gap() time.Duration { return max(c.time/15, 2*time.Second) }

// doFaults kills and cuts, each in turn and then all together, and begins again while there is time.
func (c *cluster) doFaults(ctx context.Context) {
	defer func() {
		if failed := recover(); failed != nil {
			c.events.fail(fmt.Sprint("the faults ended early: ", failed))
		}
	}()
	steps := []func(context.Context){c.failOver, c.restart(0), c.partition(1), c.together}
	for round := 0; ; round++ {
		for _, step := range steps {
			if deadline, _ := ctx.Deadline(); !pause(ctx, c.gap()) || round > 0 && time.Until(deadline) < c.time/4 {
				return
			}
			step(context.WithoutCancel(ctx)) // what was begun is mended
			c.rounds++
		}
	}
}

// failOver kills the primary, promotes the standby, and has the old one join as the new standby.
func (c *cluster) failOver(ctx context.Context) {
	killed := time.Now()
	c.primary.Kill()
	pause(ctx, time.Second) // a real failover takes a while to notice the death, too
	c.standby.Promote()
	promoted := time.Now()
	c.primary, c.standby = c.standby, c.primary
	went, ok := c.events.nextAck(ctx, promoted)
	if !ok {
		c.events.fail("no change is acknowledged after a failover")
	}
	c.failovers = append(c.failovers, failover{promoted.Sub(killed), went.Sub(promoted)})
	c.primary.Rejoin(c.standby)
	rejoined := time.Now()
	c.events.note("the primary was killed",
		"promoted after %v, a change acknowledged %v later, a new standby %v after the kill",
		promoted.Sub(killed).Round(time.Millisecond), went.Sub(promoted).Round(time.Millisecond),
		rejoined.Sub(killed).Round(time.Millisecond))
}

// failover is how long one took.
type failover struct{ promoted, wrote time.Duration }

// restart returns a step that kills a replica and starts it again.
func (c *cluster) restart(i int) func(context.Context) {
	return func(ctx context.Context) {
		r := c.replicas[i]
		c.killReplica(r)
		killed := time.Now()
		pause(ctx, time.Second)
		if err := r.start(ctx); err != nil {
			c.events.fail(err.Error())
			return
		}
		if err := r.ready(ctx); err != nil {
			c.events.fail(err.Error())
		}
		c.events.note(fmt.Sprintf("replica %d was killed", i), "started again, it was ready %v after the kill",
			time.Since(killed).Round(time.Millisecond))
	}
}

// partition returns a step that cuts a replica off from the database for a while.
func (c *cluster) partition(i int) func(context.Context) {
	return func(ctx context.Context) {
		if err := c.net.cut(i, true); err != nil {
			c.events.fail(err.Error())
			return
		}
		lasted := max(c.gap(), 5*time.Second)
		pause(ctx, lasted)
		if err := c.net.cut(i, false); err != nil {
			c.events.fail(err.Error())
			return
		}
		healed := time.Now()
		if err := c.replicas[i].ready(ctx); err != nil {
			c.events.fail(err.Error())
		}
		c.events.note(fmt.Sprintf("replica %d was cut off from the database", i),
			"for %v; %v later it reached the database",
			lasted.Round(time.Millisecond), time.Since(healed).Round(time.Millisecond))
	}
}

// together cuts one replica off, kills another and the primary at once, and mends all.
func (c *cluster) together(ctx context.Context) {
	c.events.note("all at once", "replica 1 cut off, replica 2 and the primary killed")
	if err := c.net.cut(1, true); err != nil {
		c.events.fail(err.Error())
	}
	c.killReplica(c.replicas[2])
	if err := c.replicas[2].start(ctx); err != nil { // while the database is away
		c.events.fail(err.Error())
	}
	c.failOver(ctx)
	if err := c.net.cut(1, false); err != nil {
		c.events.fail(err.Error())
	}
	for _, i := range []int{1, 2} {
		if err := c.replicas[i].ready(ctx); err != nil {
			c.events.fail(err.Error())
		}
	}
	c.events.note("all at once", "all replicas are ready again")
}

// killReplica kills a replica, and notes how many searches were in flight.
func (c *cluster) killReplica(r *replica) {
	k := kill{from: time.Now(), inFlight: c.events.inFlight.Load()}
	r.kill()
	k.to = time.Now()
	k.inFlight = max(k.inFlight, c.events.inFlight.Load())
	c.events.mu.Lock()
	defer c.events.mu.Unlock()
	c.events.kills = append(c.events.kills, k)
}
