package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// maxImage is how many bytes the files of an image may have.
const maxImage = 60_000_000

func main() {
	if len(os.Args) > 2 && os.Args[1] == insideVerb {
		fail(insideMain(os.Args[2]))
		return
	}
	keep := flag.String("keep", "", "leave the files of the image in this folder, which must not exist")
	tools := flag.String("tools", "internal/container/testdata/notes.json", "a list of tools to import in the trial")
	version := flag.String("version", "dev", "the version that is built")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	fail(run(ctx, os.Stdout, work{keep: *keep, tools: *tools, args: map[string]string{"VERSION": *version}}))
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "container:", err)
		os.Exit(1)
	}
}

// work is what there is to do, at the top of the repository.
type work struct {
	keep  string
	tools string
	args  map[string]string
}

// run builds the last stage of the Dockerfile, and puts it to trial.
func run(ctx context.Context, stdout io.Writer, w work) error {
	may := available(ctx)
	fmt.Fprintf(stdout, "with %s\n", may)
	if may == none {
		return fmt.Errorf("neither root nor user namespaces are to be had here (try as root, or sysctl kernel.unprivileged_userns_clone=1): nothing was built")
	}
	dir := w.keep
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "tooldex-container"); err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
	}
	im, err := w.build(ctx, may, dir, func(format string, args ...any) { fmt.Fprintf(stdout, format+"\n", args...) })
	if err != nil {
		return err
	}
	return w.try(ctx, stdout, may, im)
}

// build reads the Dockerfile and does what it says.
func (w work) build(ctx context.Context, may space, dir string, log func(string, ...any)) (*image, error) {
	w.args["BUILDPLATFORM"], w.args["TARGETPLATFORM"] = "linux/"+runtime.GOARCH, "linux/"+runtime.GOARCH
	text, err := os.ReadFile("Dockerfile")
	if err != nil {
		return nil, err
	}
	p, err := parse(string(text), w.args)
	if err != nil {
		return nil, fmt.Errorf("dockerfile: %w", err)
	}
	list, err := os.ReadFile(".dockerignore")
	if err != nil {
		return nil, err
	}
	b := &builder{context: ".", work: dir, args: w.args, alone: may == alone, log: log}
	if b.ignored, err = ignoring(string(list)); err != nil {
		return nil, err
	}
	if b.step, err = w.step(ctx, may); err != nil {
		return nil, err
	}
	return b.build(ctx, p, "")
}

// step runs a RUN on the files of this machine, which stands for the image with Go.
func (w work) step(ctx context.Context, may space) (func(context.Context, step) error, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT", "GOMODCACHE", "GOPROXY", "GOSUMDB").Output()
	if err != nil {
		return nil, err
	}
	env := strings.Split(strings.TrimSpace(string(out)), "\n")
	return func(ctx context.Context, s step) error {
		s.GoRoot, s.Modules = env[0], env[1]
		s.Env = append(s.Env, "PATH="+filepath.Join(env[0],
			"bin")+":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root",
			"GOMODCACHE="+env[1], "GOPROXY="+env[2], "GOSUMDB="+env[3], "GOTOOLCHAIN=local")
		return may.inside(ctx, "step", true, s)
	}, nil
}

// try tells what the image holds, and runs it.
func (w work) try(ctx context.Context, stdout io.Writer, may space, im *image) error {
	list, total, err := im.files()
	if err != nil {
		return err
	}
	for _, f := range list {
		fmt.Fprintf(stdout, "%10d %s\n", f.size, f.name)
	}
	fmt.Fprintf(stdout, "%10d in all, at most %d\n", total, maxImage)
	if total >= maxImage {
		return fmt.Errorf("the image has %d bytes, want less than %d", total, maxImage)
	}
	if im.user == nil || im.user.uid == 0 || len(im.health) == 0 || len(im.entrypoint) == 0 || len(im.cmd) == 0 ||
		len(im.volumes) == 0 {
		return fmt.Errorf("the last stage lacks a USER other than root, HEALTHCHECK, ENTRYPOINT, CMD or VOLUME")
	}
	tools, err := filepath.Abs(w.tools)
	if err != nil {
		return err
	}
	return may.inside(ctx, "trial", false, im.trial(may, tools))
}

// trial is the trial of an image that is expected to do well.
func (im *image) trial(may space, tools string) trial {
	return trial{
		Root: im.root, Space: may, UID: im.user.uid, GID: im.user.gid, Env: environ(im.env), Workdir: im.workdir,
		Volumes:    im.volumes,
		Entrypoint: im.entrypoint, Cmd: im.cmd, Health: im.health, Tools: tools,
		Ask: "/search?q=write+something+down", Hit: "add_note",
	}
}
