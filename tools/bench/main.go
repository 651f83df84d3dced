package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
)

// config is what the command line says.
type config struct {
	bin, data, knowledge, out string
	tools                     int  // of the largest catalogue
	only                      bool // measure no smaller ones
	changes                   int  // that changes makes
}

func main() {
	var c config
	flag.StringVar(&c.bin, "bin", "bin/tooldex", "the built command")
	flag.StringVar(&c.data, "data", "../shared/data", "the folder with catalogue, sets, intents and little_known")
	flag.StringVar(&c.knowledge, "knowledge", "knowledge/data", "the folder with the texts of the knowledge")
	flag.StringVar(&c.out, "out", "", "the page to write; standard output if empty")
	flag.IntVar(&c.tools, "tools", usualTools, "the most tools of a catalogue that large measures, up to 1000000")
	flag.BoolVar(&c.only, "only", false, "large measures the catalogue of so many tools alone")
	flag.IntVar(&c.changes, "changes", 10_000, "how many changes the command changes makes")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, c, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, c config, args []string) error {
	if len(args) == 0 || len(args) > 1 && args[0] != "quality" && args[0] != "upstream" && args[0] != "first" &&
		args[0] != "catalogue" && args[0] != "upstreams-http" && args[0] != "exact" {
		return errors.New("want one of: speed, calls, engines, peers, quality [SECTION...], first [tests], " +
			"upstream [DUMP], fixed, large, changes, catalogue TOOLS FOLDER, exact FOLDER")
	}
	if args[0] == "first" {
		root, err := os.Getwd()
		if err != nil {
			return err
		}
		page, err := firstPage(ctx, root, len(args) > 1)
		if err != nil {
			return err
		}
		return c.write(page)
	}
	if args[0] == "catalogue" && len(args) == 3 {
		return writeLarge(ctx, c, args[1], args[2])
	}
	if args[0] == "exact" && len(args) == 2 {
		page, err := exactPage(ctx, c, args[1])
		if err != nil {
			return err
		}
		return c.write(page)
	}
	if args[0] == "fixed" {
		return serveFixed(ctx, func(base string) { fmt.Fprintln(os.Stderr, base) })
	}
	if args[0] == "relay" || args[0] == "sdk-relay" {
		return relayAs(ctx, args[0])
	}
	if strings.HasPrefix(args[0], "upstream") {
		return serveAs(ctx, args)
	}
	bin, err := filepath.Abs(c.bin)
	if err != nil {
		return err
	}
	c.bin = bin
	if _, err := os.Stat(c.bin); err != nil {
		return fmt.Errorf("build the command first: %w", err)
	}
	if args[0] == "peers" {
		page, err := peersPage(ctx, c)
		if err != nil {
			return err
		}
		return c.write(page)
	}
	if _, err := os.Stat(filepath.Join(c.data, "catalogue")); err != nil {
		return fmt.Errorf("the data is not there: %w", err)
	}
	var page string
	switch args[0] {
	case "speed":
		page, err = speedPage(ctx, c)
	case "engines":
		page, err = enginesPage(ctx, c)
	case "calls":
		page, err = callsPage(ctx, c)
	case "large":
		page, err = largePage(ctx, c)
	case "changes":
		page, err = changesPage(ctx, c)
	case "quality":
		page, err = qualityPage(ctx, c, args[1:])
	default:
		return fmt.Errorf("unknown command %q", args[0])
	}
	if err != nil {
		return err
	}
	return c.write(page)
}

// relayAs passes on the messages of a server of this program, byte by byte for "relay" and by the SDK otherwise.
func relayAs(ctx context.Context, how string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if how == "relay" {
		return relayBytes(ctx, self)
	}
	return relaySDK(ctx, self)
}

// serveAs is the server of the measurements that args name: with one tool that gives a text back, or with the tools of
// one dump or of several.
func serveAs(ctx context.Context, args []string) error {
	switch {
	case args[0] == "upstream-http":
		return serveUpstreamHTTP(ctx)
	case args[0] == "upstreams-http" && len(args) == 2:
		return serveDumpsHTTP(ctx, args[1])
	case args[0] == "upstream" && len(args) == 2:
		return serveDump(ctx, args[1])
	case args[0] == "upstream":
		return serveUpstream(ctx)
	}
	return fmt.Errorf("unknown command %q", args[0])
}

// write puts a page where it belongs.
func (c config) write(page string) error {
	if c.out == "" {
		_, err := fmt.Print(page)
		return err
	}
	return os.WriteFile(c.out, []byte(page), 0o644)
}
