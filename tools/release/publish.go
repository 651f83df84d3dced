package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// sums is the name of the file with the checksums of all others, as sha256sum reads it.
const sums = "SHA256SUMS"

// publish writes all that is published for ps into an empty folder.
func (s source) publish(ctx context.Context, out string, at time.Time, ps ...platform) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	if there, err := os.ReadDir(out); err != nil || len(there) > 0 {
		return fmt.Errorf("%s must be empty, so that nothing else is published: %w", out, err)
	}
	work, err := os.MkdirTemp("", "tooldex-release")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	shells, err := s.completions(ctx, filepath.Join(work, "host-"+host().program()))
	if err != nil {
		return err
	}
	for _, p := range ps {
		if err := s.publishFor(ctx, p, work, out, at, shells); err != nil {
			return fmt.Errorf("publish for %s: %w", p, err)
		}
	}
	if err := s.writeNPMLauncher(out, at, ps...); err != nil {
		return err
	}
	if s.downloads != "" {
		if err := s.writeFormula(out, ps...); err != nil {
			return err
		}
	}
	return writeSums(out)
}

// archiveName is the name of the archive for p, without its extension.
func (s source) archiveName(p platform) string {
	return fmt.Sprintf("tooldex_%s_%s_%s", strings.TrimPrefix(s.version, "v"), p.os, p.arch)
}

// publishFor writes the archive and the packages for p, and the bill of what is in them.
func (s source) publishFor(ctx context.Context, p platform, work, out string, at time.Time, shells []entry) error {
	program := filepath.Join(work, p.os+"-"+p.arch, p.program())
	if err := s.binary(ctx, p, program); err != nil {
		return err
	}
	name := s.archiveName(p)
	bill, err := s.sbom(ctx, program, at)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, name+".cdx.json"), bill, 0o644); err != nil {
		return err
	}
	files, err := s.contents(ctx, p, program)
	if err != nil {
		return err
	}
	files = append(files, shells...)
	if err := s.writeNPMProgram(p, out, files, at); err != nil {
		return err
	}
	if p.os == "linux" {
		if err := s.writePackages(p, filepath.Join(work, "packages-"+p.arch), out, name, files, at); err != nil {
			return err
		}
	}
	for i := range files {
		files[i].name = path.Join(name, files[i].name)
	}
	slices.SortFunc(files, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	var b bytes.Buffer
	write, ext := writeTar, ".tar.gz"
	if p.os == "windows" {
		write, ext = writeZip, ".zip"
	}
	if err := write(&b, files, at); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, name+ext), b.Bytes(), 0o644)
}

// contents is what an archive holds beside the completions.
func (s source) contents(ctx context.Context, p platform, program string) ([]entry, error) {
	data, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	texts, err := s.notices(ctx, p)
	if err != nil {
		return nil, err
	}
	out := []entry{{p.program(), 0o755, data}, {"THIRD_PARTY", 0o644, texts}}
	also := []string{"LICENSE", "NOTICE", "README.md", "CHANGELOG.md"}
	if p.os == "linux" {
		also = append(also, "deploy/tooldex.service")
	}
	for _, name := range also {
		text, err := os.ReadFile(filepath.Join(s.dir, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		out = append(out, entry{path.Base(name), 0o644, text})
	}
	return out, nil
}

// completions asks a program for this machine for the completions of each shell: they are the same on every platform.
func (s source) completions(ctx context.Context, program string) ([]entry, error) {
	if err := s.binary(ctx, host(), program); err != nil {
		return nil, err
	}
	var out []entry
	for _, shell := range []string{"bash", "fish", "powershell", "zsh"} {
		text, err := s.run(ctx, host(), program, "completion", shell)
		if err != nil {
			return nil, err
		}
		out = append(out, entry{"completions/tooldex." + shell, 0o644, text})
	}
	return out, nil
}

// writeSums writes the checksums of the files in a folder beside them.
func writeSums(dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "%x  %s\n", sha256.Sum256(data), f.Name())
	}
	return os.WriteFile(filepath.Join(dir, sums), out.Bytes(), 0o644)
}

// moment is the time that archives give their files: SOURCE_DATE_EPOCH where that is set, else when the commit was
// made.
func (s source) moment(ctx context.Context) (time.Time, error) {
	said := os.Getenv("SOURCE_DATE_EPOCH")
	if said == "" {
		out, err := s.run(ctx, host(), "git", "log", "-1", "--format=%ct")
		if err != nil {
			return time.Time{}, fmt.Errorf("without SOURCE_DATE_EPOCH the time of the commit is needed: %w", err)
		}
		said = strings.TrimSpace(string(out))
	}
	seconds, err := strconv.ParseInt(said, 10, 64)
	if err != nil || seconds < 0 {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH %q is not a number of seconds", said)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// copyTo copies what git knows of, as it lies in the working tree, to another folder.
func (s source) copyTo(ctx context.Context, dir string) error {
	list, err := s.run(ctx, host(), "git", "ls-files", "-z")
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
		from, to := filepath.Join(s.dir, filepath.FromSlash(name)), filepath.Join(dir, filepath.FromSlash(name))
		info, err := os.Lstat(from)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink != 0 || info.IsDir() {
			continue // none is built from
		}
		data, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if err := os.WriteFile(to, data, info.Mode().Perm()); err != nil {
			return err
		}
	}
	return nil
}
