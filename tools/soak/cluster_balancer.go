package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// balancerSocket is where HAProxy takes orders and says what it did.
func (c *cluster) balancerSocket() string { return filepath.Join(c.dir, "haproxy.sock") }

// tell gives HAProxy an order and returns its answer.
func (c *cluster) tell(order string) (string, error) {
	conn, err := new(net.Dialer).DialContext(context.Background(), "unix", c.balancerSocket())
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, order+"\n"); err != nil {
		return "", err
	}
	said, err := io.ReadAll(conn)
	return string(said), err
}

// balancerState returns a field of each line that HAProxy keeps of its backend: of each replica, and of BACKEND.
func (c *cluster) balancerState(field string) (map[string]string, error) {
	said, err := c.tell("show stat")
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
		said, err := c.tell(fmt.Sprintf("set server tooldex/r%d state %s", i, state))
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

// sentAgain returns how many requests HAProxy has sent again, to the same replica or to another, and -1 if it does not
// say.
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
