package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// source is what a release is made of.
type source struct {
	dir     string // the top of the repository
	version string
	commit  string
	cache   string // of the compiler; "" for the one that the go command uses by itself
	// downloads is the address below which the archives are downloaded, for Homebrew; "" if there is none.
	downloads string
}

// binary builds the program for p and writes it to out.
func (s source) binary(ctx context.Context, p platform, out string) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	link := fmt.Sprintf("-s -w -X main.version=%s -X main.commit=%s", s.version, s.commit)
	_, err = s.run(ctx, p, "go", "build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags", link, "-o", out,
		"./cmd/tooldex")
	return err
}

// run runs a command at the top of the repository, for p, and returns what it writes to standard output.
func (s source) run(ctx context.Context, p platform, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = s.dir, environment(os.Environ(), p)
	if s.cache != "" {
		cmd.Env = append(cmd.Env, "GOCACHE="+s.cache)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s for %s: %w\n%s", cmd, p, err, stderr.String())
	}
	return out, nil
}

// environment is that of the machine without what would change the bits of a program: those depend on the source alone.
func environment(machine []string, p platform) []string {
	env := slices.DeleteFunc(slices.Clone(machine), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		switch name {
		case "GOFLAGS", "GOEXPERIMENT", "GODEBUG", "GOWORK", "GOFIPS140", "GO_EXTLINK_ENABLED":
			return true
		case "GOMAXPROCS", "GOPATH", "GOMODCACHE", "GOCACHE", "GOTMPDIR", "GOPROXY", "GOPRIVATE", "GOROOT",
			"GOTOOLCHAIN":
			return false // where things are, and where they come from
		}
		return strings.HasPrefix(name, "CGO_") || strings.HasPrefix(name, "GOAMD") || strings.HasPrefix(name, "GOARM")
	})
	return append(env, "GOOS="+p.os, "GOARCH="+p.arch, "GOAMD64=v1", "GOARM64=v8.0", "CGO_ENABLED=0", "GOWORK=off")
}
