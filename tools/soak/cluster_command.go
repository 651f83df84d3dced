package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// command runs the command for a tenant, on the database.
func (c *cluster) command(ctx context.Context, h *holder, args ...string) ([]byte, error) {
	args = append(args, "--config", filepath.Join(c.dir, "tooldex.yaml"), "--tenant", h.tenant)
	cmd := exec.CommandContext(ctx, c.bin, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Env = append(os.Environ(), "TOOLDEX_STORE="+c.net.store(-1, tenantNames[0]),
		"TOOLDEX_DATA_DIR="+filepath.Join(c.dir, "commands"))
	return cmd.CombinedOutput()
}

// changeBy makes a change by a command. The error is refused if the database was away, so that the change was not made.
func (c *cluster) changeBy(ctx context.Context, h *holder, args ...string) error {
	out, err := c.command(ctx, h, args...)
	if err != nil && strings.Contains(string(out), "database") {
		return refused{fmt.Errorf("%.300s", out)}
	}
	if err != nil {
		return fmt.Errorf("%s: %w: %.300s", strings.Join(args, " "), err, out)
	}
	return nil
}
