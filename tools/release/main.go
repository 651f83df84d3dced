package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// order is one command line.
type order struct {
	source
	out       string
	platforms []platform // all, unless one is given
	args      []string
}

// run does what the first argument says.
func run(ctx context.Context, stdout io.Writer, args []string) error {
	verbs := map[string]func(order, context.Context, io.Writer) error{
		"binary": order.doBinary, "archives": order.doArchives, "verify": order.doVerify,
		"sbom": order.doSBOM, "notices": order.doNotices, "licences": order.doLicences,
	}
	if len(args) == 0 || verbs[args[0]] == nil {
		return errors.New("usage: release binary|archives|verify|sbom|notices|licences [flags]; see go -C tools doc ./release")
	}
	o := order{source: source{dir: "."}}
	var one string
	f := flag.NewFlagSet("release "+args[0], flag.ContinueOnError)
	f.StringVar(&o.version, "version", "dev", "the version that is built")
	f.StringVar(&o.commit, "commit", "", "the commit that it is built from")
	f.StringVar(&o.out, "o", "", "what to write: a file, or for archives an empty folder")
	f.StringVar(&o.downloads, "downloads", "", "the address below which archives are downloaded; \"\" writes no formula")
	f.StringVar(&one, "platform", "", "OS/ARCH in place of all platforms, or of this machine's")
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	o.args, o.platforms = f.Args(), platforms()
	if one != "" {
		p, err := parsePlatform(one)
		if err != nil {
			return err
		}
		o.platforms = []platform{p}
	}
	if strings.ContainsAny(o.version+o.commit, " '\"\t\n/\\") {
		return fmt.Errorf("version %q, commit %q: want one word each", o.version, o.commit)
	}
	return verbs[args[0]](o, ctx, stdout)
}

func (o order) doBinary(ctx context.Context, _ io.Writer) error {
	p := host()
	if len(o.platforms) == 1 {
		p = o.platforms[0]
	}
	if o.out == "" {
		o.out = p.program()
	}
	return o.binary(ctx, p, o.out)
}

func (o order) doArchives(ctx context.Context, stdout io.Writer) error {
	if o.out == "" {
		o.out = "dist"
	}
	at, err := o.moment(ctx)
	if err != nil {
		return err
	}
	if err := o.publish(ctx, o.out, at, o.platforms...); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(o.out, sums))
	if err != nil {
		return err
	}
	_, err = stdout.Write(text)
	return err
}

func (o order) doVerify(ctx context.Context, stdout io.Writer) error {
	at, err := o.moment(ctx)
	if err != nil {
		return err
	}
	text, err := o.verify(ctx, at, o.platforms...)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%sbuilt twice, from two folders and with two caches: the same bits\n", text)
	return err
}

func (o order) doSBOM(ctx context.Context, stdout io.Writer) error {
	if len(o.args) != 1 {
		return errors.New("name the program that the bill of materials is for")
	}
	at, err := o.moment(ctx)
	if err != nil {
		return err
	}
	text, err := o.sbom(ctx, o.args[0], at)
	if err != nil {
		return err
	}
	return o.write(stdout, text)
}

func (o order) doNotices(ctx context.Context, stdout io.Writer) error {
	text, err := o.notices(ctx, o.platforms...)
	if err != nil {
		return err
	}
	return o.write(stdout, text)
}

func (o order) doLicences(ctx context.Context, stdout io.Writer) error {
	lines, err := o.licences(ctx, o.platforms...)
	if err != nil {
		return err
	}
	return o.write(stdout, []byte(strings.Join(lines, "\n")+"\n"))
}

// write writes text to where it was asked for, standard output if it was not.
func (o order) write(stdout io.Writer, text []byte) error {
	if o.out != "" {
		return os.WriteFile(o.out, text, 0o644)
	}
	_, err := stdout.Write(text)
	return err
}
