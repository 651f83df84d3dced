package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// config is what the command line says.
type config struct {
	bin, data, knowledge, out string
}

func main() {
	var c config
	flag.StringVar(&c.bin, "bin", "bin/tooldex", "the built command")
	flag.StringVar(&c.data, "data", "../shared/data", "the folder with catalogue, sets, intents and little_known")
	flag.StringVar(&c.knowledge, "knowledge", "knowledge/data", "the folder with the texts of the knowledge")
	flag.StringVar(&c.out, "out", "", "the page to write; standard output if empty")
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
	if len(args) == 0 || len(args) > 1 && args[0] != "quality" && args[0] != "upstream" && args[0] != "first" {
		return fmt.Errorf("want one of: speed, quality [SECTION...], first [tests], upstream [DUMP], fixed")
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
	if args[0] == "fixed" {
		return serveFixed(ctx, func(base string) { fmt.Fprintln(os.Stderr, base) })
	}
	if args[0] == "upstream-http" {
		return serveUpstreamHTTP(ctx)
	}
	if args[0] == "upstream" {
		if len(args) == 2 {
			return serveDump(ctx, args[1])
		}
		return serveUpstream(ctx)
	}
	bin, err := filepath.Abs(c.bin)
	if err != nil {
		return err
	}
	c.bin = bin
	if _, err := os.Stat(c.bin); err != nil {
		return fmt.Errorf("build the command first: %w", err)
	}
	if _, err := os.Stat(filepath.Join(c.data, "catalogue")); err != nil {
		return fmt.Errorf("the data is not there: %w", err)
	}
	var page string
	switch args[0] {
	case "speed":
		page, err = speedPage(ctx, c)
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

// write puts a page where it belongs.
func (c config) write(page string) error {
	if c.out == "" {
		_, err := fmt.Print(page)
		return err
	}
	return os.WriteFile(c.out, []byte(page), 0o644)
}

// origin tells what made a page: machine, commit, command and day, and how busy the machine was.
func origin(ctx context.Context, command string) string {
	return fmt.Sprintf("Written by `%s` on %s, at commit %s, with %s, on %s; load average at the end %s.\n",
		command, time.Now().UTC().Format("2006-01-02"), commit(ctx), runtime.Version(), machine(), load())
}

func commit(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty", "--abbrev=10").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// machine names the processor and how many of its cores there are.
func machine() string {
	name := runtime.GOARCH
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
				name = strings.TrimSpace(value)
				break
			}
		}
	}
	return fmt.Sprintf("%s, %d cores, %s", name, runtime.NumCPU(), runtime.GOOS)
}

// load is how many processes wanted to run in the last minute: figures taken beside other work are worth less.
func load() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil || len(b) == 0 {
		return "unknown"
	}
	return strings.Fields(string(b))[0]
}
