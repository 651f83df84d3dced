package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// peerFiles are what the programs of npm are installed by, and what starts ratel's library.
//
//go:embed peers
var peerFiles embed.FS

// peersFolder is where the programs of other projects are installed, below the top of the repository.
const peersFolder = "bin/peers"

// installStep is a command that installs a pinned version of another project. It is printed as it is run.
type installStep struct {
	what, command string
	done          string // what exists afterwards, below peersFolder
}

func installSteps() []installStep {
	return []installStep{
		{
			"ratel", "npm ci --no-audit --no-fund --ignore-scripts --prefix " + peersFolder + "/npm",
			"npm/node_modules/@ratel-ai/mcp-server/package.json",
		},
		{
			"ToolHive", "GOBIN=$PWD/" + peersFolder + " go install github.com/stacklok/toolhive/cmd/thv@v0.47.0", "thv",
		},
	}
}

// installPeers installs what is not there yet, and returns the folder.
func installPeers(ctx context.Context) (string, error) {
	dir, err := filepath.Abs(peersFolder)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Join(dir, "npm"), 0o755); err != nil {
		return "", err
	}
	for _, name := range []string{"package.json", "package-lock.json", "ratel.mjs"} {
		b, err := peerFiles.ReadFile("peers/" + name)
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(dir, "npm", name), b, 0o644); err != nil {
			return "", err
		}
	}
	for _, step := range installSteps() {
		if _, err := os.Stat(filepath.Join(dir, step.done)); err == nil {
			continue
		}
		fmt.Fprintf(os.Stderr, "installing %s\n", step.what)
		out, err := exec.CommandContext(ctx, "sh", "-c", step.command).CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("install %s: %w: %s", step.what, err, strings.TrimSpace(string(out)))
		}
		if _, err := os.Stat(filepath.Join(dir, step.done)); err != nil {
			return "", errors.Join(fmt.Errorf("%s was not installed", step.what), err)
		}
	}
	return dir, nil
}
