package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// config is what the command line says.
type config struct {
	bin, out string
	time     time.Duration
	seed     uint64
	keep     bool   // the folder that it worked in
	hostile  bool   // measure hostile servers in place of load and faults
	only     string // one attack
	cluster  bool   // several replicas on a database, in place of one process
	data     string // with cluster: the folder with the catalogue that is searched without faults
	tools    int    // with data: how many tools that catalogue is grown to
}

func main() {
	var c config
	flag.StringVar(&c.bin, "bin", "bin/tooldex", "the built command")
	flag.DurationVar(&c.time, "time", 30*time.Minute, "how long the load lasts")
	flag.StringVar(&c.out, "out", "", "the page to write; standard output if empty")
	flag.Uint64Var(&c.seed, "seed", 1, "of what is done by chance")
	flag.BoolVar(&c.keep, "keep", false, "keep the folder with the data and the logs")
	flag.BoolVar(&c.hostile, "hostile", false, "measure what a hostile server does to nine others, each attack for -time")
	flag.StringVar(&c.only, "only", "", "with -hostile: one attack, by its name")
	flag.BoolVar(&c.cluster, "cluster", false, "load and faults for three replicas with PostgreSQL and HAProxy")
	flag.StringVar(&c.data, "data", "",
		"with -cluster: the folder whose catalogue is searched without faults; 300 tools if empty")
	flag.IntVar(&c.tools, "tools", 0,
		"with -data: grow its catalogue to so many tools, with the program bench beside this one")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, c, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, c config, args []string) error {
	if len(args) > 0 {
		return serveUpstream(ctx, args[0])
	}
	bin, err := filepath.Abs(c.bin)
	if err != nil {
		return err
	}
	c.bin = bin
	if _, err := os.Stat(c.bin); err != nil {
		return fmt.Errorf("build the command first: %w", err)
	}
	dir, err := os.MkdirTemp("", "tooldex-soak")
	if err != nil {
		return err
	}
	if c.keep {
		fmt.Fprintln(os.Stderr, "in", dir)
	} else {
		defer func() { _ = os.RemoveAll(dir) }()
	}
	if c.cluster {
		return measureCluster(ctx, c, dir)
	}
	if c.hostile {
		return measureHostile(ctx, c, dir)
	}
	r, err := soak(ctx, c, dir)
	if err != nil {
		return err
	}
	if err := c.write(r.page(ctx)); err != nil {
		return err
	}
	return missed(r.verdicts())
}

// write puts a page where the command line says.
func (c config) write(page string) error {
	if c.out == "" {
		_, err := fmt.Print(page)
		return err
	}
	return os.WriteFile(c.out, []byte(page), 0o644)
}

// soak warms the command up, measures it at rest, puts it under load, lets it come to rest, and ends it.
func soak(ctx context.Context, c config, dir string) (*result, error) {
	s, err := start(ctx, c, dir)
	if err != nil {
		return nil, err
	}
	defer s.kill()
	l := newLoad(s, c.seed)
	r := &result{config: c, tally: l.tally}
	if err := l.warmUp(ctx); err != nil {
		return nil, fmt.Errorf("warm up: %w", err)
	}
	fmt.Fprintln(os.Stderr, "at rest")
	resting, stopResting := context.WithTimeout(ctx, max(c.time/10, 10*time.Second))
	l.probe(resting, "at rest")
	stopResting()
	if r.before, err = s.settled(ctx, nil, time.Minute); err != nil {
		return nil, err
	}
	fmt.Fprintf(os.Stderr, "%+v\nunder load for %v\n", r.before, c.time)
	loaded, stopLoad := context.WithTimeout(ctx, c.time)
	r.samples = l.run(loaded)
	stopLoad()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	fmt.Fprintln(os.Stderr, "coming to rest")
	l.leave(ctx)
	if err := l.wakeAll(ctx); err != nil {
		return nil, fmt.Errorf("after the load: %w", err)
	}
	if r.after, err = s.settled(ctx, &r.before, r.rest()); err != nil {
		return nil, err
	}
	r.ended, r.left, r.exit = s.end()
	return r, nil
}
