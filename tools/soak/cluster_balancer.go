package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// balancerAddress is where the load reaches HAProxy.
const balancerAddress = "127.83.255.9:8733"

// startBalancer runs HAProxy with the configuration of deploy/replicas, but for addresses and for the limit of one
// address, from which all load comes here. It returns when requests reach a replica.
func (c *cluster) startBalancer(ctx context.Context, t *testOf) error {
	program, err := exec.LookPath("haproxy")
	if err != nil {
		return errors.New("HAProxy is not installed (apt-get install haproxy)")
	}
	file, err := c.configureBalancer()
	if err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(c.dir, "haproxy.log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the process has its own
	cmd := exec.CommandContext(context.Background(), program, "-f", file)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	c.base = "http://" + balancerAddress
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline) && ctx.Err() == nil; {
		status, _, err := fetch(ctx, http.MethodGet, c.base+"/readyz", "", nil)
		if err == nil && status == http.StatusOK {
			return nil
		}
		pause(ctx, 50*time.Millisecond)
	}
	said, _ := os.ReadFile(log.Name())
	return fmt.Errorf("the balancer does not answer: %s", said)
}

// configureBalancer writes the configuration of HAProxy, and returns the file.
func (c *cluster) configureBalancer() (string, error) {
	text, err := os.ReadFile("deploy/replicas/haproxy.cfg")
	if err != nil {
		return "", err
	}
	servers := ""
	for i, r := range c.replicas {
		servers += fmt.Sprintf("server r%d %s\n    ", i, strings.TrimPrefix(r.base, "http://"))
	}
	config := string(text)
	for old, next := range map[string]string{
		"bind :8733":   "bind " + balancerAddress,
		"gt 500":       "gt 1000000",
		"maxconn 4096": "maxconn 4096\n    stats socket " + c.balancerSocket() + " level admin",
		"server-template replica 10 tooldex:8733 resolvers names init-addr none": servers,
	} {
		if !strings.Contains(config, old) {
			return "", fmt.Errorf("deploy/replicas/haproxy.cfg has no %q", old)
		}
		config = strings.ReplaceAll(config, old, next)
	}
	file := filepath.Join(c.dir, "haproxy.cfg")
	return file, os.WriteFile(file, []byte(config), 0o600)
}

// balancerSocket is the socket at which HAProxy takes commands.
func (c *cluster) balancerSocket() string { return filepath.Join(c.dir, "haproxy.sock") }

// balancerCommand has HAProxy run a command, and returns its answer.
func (c *cluster) balancerCommand(text string) (string, error) {
	conn, err := new(net.Dialer).DialContext(context.Background(), "unix", c.balancerSocket())
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, text+"\n"); err != nil {
		return "", err
	}
	said, err := io.ReadAll(conn)
	return string(said), err
}

// balancerState returns one field of HAProxy's statistics, by the name of the replica, and as BACKEND for all of them.
func (c *cluster) balancerState(field string) (map[string]string, error) {
	said, err := c.balancerCommand("show stat")
	if err != nil {
		return nil, err
	}
	lines, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(strings.TrimSpace(said), "# "))).ReadAll()
	if err != nil || len(lines) == 0 {
		return nil, fmt.Errorf("HAProxy says %.200q: %w", said, err)
	}
	out := map[string]string{}
	for _, line := range lines[1:] {
		for i, name := range lines[0] {
			if name == field && line[0] == "tooldex" {
				out[line[1]] = line[i]
			}
		}
	}
	return out, nil
}

// balanceOver has HAProxy send requests to the first n replicas alone, and waits until it does.
func (c *cluster) balanceOver(ctx context.Context, n int) error {
	for i := range c.replicas {
		state := "maint"
		if i < n {
			state = "ready"
		}
		said, err := c.balancerCommand(fmt.Sprintf("set server tooldex/r%d state %s", i, state))
		if err != nil {
			return err
		}
		if said = strings.TrimSpace(said); said != "" {
			return fmt.Errorf("HAProxy does not set replica %d to %s: %s", i, state, said)
		}
	}
	for deadline := time.Now().Add(20 * time.Second); ; {
		states, err := c.balancerState("status")
		if err != nil {
			return err
		}
		up := 0
		for i := range c.replicas {
			if strings.HasPrefix(states[fmt.Sprint("r", i)], "UP") {
				up++
			}
		}
		if up == n {
			return nil
		}
		if time.Now().After(deadline) || !pause(ctx, 20*time.Millisecond) {
			return fmt.Errorf("HAProxy has %v, want %d replicas up", states, n)
		}
	}
}

// sentAgain returns how many requests HAProxy has sent again, to the same replica or to another, or -1 if that is not
// known.
func (c *cluster) sentAgain() int {
	all, err := c.balancerState("wretr")
	if err != nil {
		return -1
	}
	n, err := strconv.Atoi(all["BACKEND"])
	if err != nil {
		return -1
	}
	return n
}
