package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// image is what a stage has become: its files, and how it is to be run.
type image struct {
	root       string // the folder with its files
	host       bool   // its files lie over those of this machine
	env        map[string]string
	user       *owner
	workdir    string
	volumes    []string
	entrypoint []string
	cmd        []string
	health     []string
}

// builder builds the stages of a plan, each in a folder of its own below work.
type builder struct {
	context string // the folder that COPY copies from
	ignored func(string) bool
	work    string
	args    map[string]string // given, as by --build-arg
	alone   bool              // this process has no other user to give files to
	log     func(format string, args ...any)
	step    func(ctx context.Context, s step) error // runs one RUN

	images map[int]*image
}

// step is one RUN: a command line of the shell, with what it runs in.
type step struct {
	Root    string
	Host    bool
	Dir     string
	Env     []string
	Command string
	GoRoot  string // where Go and the modules lie that the step is lent, on this machine and there
	Modules string
}

// build builds the last stage of a plan, or the one of that name, and what it needs.
func (b *builder) build(ctx context.Context, p *plan, target string) (*image, error) {
	order, err := p.needed(target)
	if err != nil {
		return nil, err
	}
	b.images = map[int]*image{}
	for _, i := range order {
		s := p.stages[i]
		b.log("FROM %s AS %s", s.base, s.name)
		im, err := b.begin(p, i)
		if err != nil {
			return nil, err
		}
		b.images[i] = im
		values := map[string]string{} // of ARG
		for _, in := range s.does {
			b.log("%s %s", in.name, strings.Join(strings.Fields(in.text), " "))
			if err := b.apply(ctx, p, i, im, in, values); err != nil {
				return nil, fmt.Errorf("line %d: %s: %w", in.line, in.name, err)
			}
		}
	}
	return b.images[order[len(order)-1]], nil
}

// begin makes the folder of a stage.
func (b *builder) begin(p *plan, i int) (*image, error) {
	im := &image{root: filepath.Join(b.work, fmt.Sprintf("stage%d", i)), env: map[string]string{}, workdir: "/"}
	if err := os.MkdirAll(im.root, 0o755); err != nil {
		return nil, err
	}
	base := p.stages[i].base
	switch {
	case base == "scratch":
		return im, nil
	case p.stageBefore(i, base) >= 0:
		return nil, fmt.Errorf("stage %q begins with another, which is not known here", p.stages[i].name)
	case strings.HasPrefix(base, "golang:"):
		im.host = true
		return im, nil
	}
	return nil, fmt.Errorf("stage %q begins with %s, which this machine cannot stand for", p.stages[i].name, base)
}

// apply does what one instruction says.
func (b *builder) apply(ctx context.Context, p *plan, i int, im *image, in instruction,
	values map[string]string,
) error {
	known := map[string]string{}
	for _, from := range []map[string]string{values, im.env} {
		for k, v := range from {
			known[k] = v
		}
	}
	text := expand(in.text, known)
	switch in.name {
	case "ARG":
		name, value := argument(in.text, b.args)
		values[name] = expand(value, known)
	case "ENV":
		for k, v := range pairs(text) {
			im.env[k] = v
		}
	case "WORKDIR":
		if !path.IsAbs(text) {
			text = path.Join(im.workdir, text)
		}
		im.workdir = text
		return os.MkdirAll(filepath.Join(im.root, filepath.FromSlash(text)), 0o755)
	case "COPY":
		return b.copy(p, i, im, in, strings.Fields(text))
	case "RUN":
		return b.step(ctx, step{Root: im.root, Host: im.host, Dir: im.workdir, Env: environ(known), Command: in.text})
	case "VOLUME":
		im.volumes = append(im.volumes, strings.Fields(text)...)
	case "USER":
		var err error
		im.user, err = readOwner(text)
		return err
	case "HEALTHCHECK":
		im.health = in.exec
	case "ENTRYPOINT":
		im.entrypoint, im.cmd = in.exec, nil
	case "CMD":
		im.cmd = in.exec
	case "EXPOSE", "LABEL": // say something to people and engines, and do nothing
	default:
		return fmt.Errorf("is not done here")
	}
	return nil
}

func (b *builder) copy(p *plan, i int, im *image, in instruction, words []string) error {
	if len(words) < 2 {
		return fmt.Errorf("want what to copy, and where to")
	}
	c := copying{from: b.context, ignored: b.ignored}
	if name := in.flag("from"); name != "" {
		c.from, c.ignored = b.images[p.stageBefore(i, name)].root, nil
	}
	var err error
	if c.owner, err = readOwner(in.flag("chown")); err != nil {
		return err
	}
	if b.alone {
		c.owner = nil
	}
	last := len(words) - 1
	return c.do(im.root, im.workdir, words[:last], words[last])
}

// file is one file of an image.
type file struct {
	name string
	size int64
}

// files lists what an image holds, and how many bytes it has.
func (im *image) files() (list []file, total int64, err error) {
	err = filepath.WalkDir(im.root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(im.root, name)
		if err != nil {
			return err
		}
		list = append(list, file{"/" + filepath.ToSlash(rel), info.Size()})
		total += info.Size()
		return nil
	})
	return list, total, err
}
