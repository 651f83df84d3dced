package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// command runs the built command once and returns how long it took and what it printed.
func command(ctx context.Context, c config, args ...string) (time.Duration, []byte, error) {
	cmd := exec.CommandContext(ctx, c.bin, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	err := cmd.Run()
	took := time.Since(start)
	if err != nil {
		return took, stdout.Bytes(), fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err,
			strings.TrimSpace(stderr.String()))
	}
	return took, stdout.Bytes(), nil
}

// repeat gives the median time of n runs.
func repeat(n int, run func() (time.Duration, error)) (time.Duration, error) {
	times := make([]time.Duration, n)
	for i := range times {
		took, err := run()
		if err != nil {
			return 0, err
		}
		times[i] = took
	}
	slices.Sort(times)
	return times[n/2], nil
}

// percentile returns the lowest of times that at least p percent do not exceed. It sorts times.
func percentile(times []time.Duration, p int) time.Duration {
	slices.Sort(times)
	return times[(len(times)*p+99)/100-1]
}

// session is a client of a process that speaks MCP over its standard streams.
type session struct {
	*mcp.ClientSession
	process *exec.Cmd
}

func connect(ctx context.Context, name string, args ...string) (*session, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	client := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	s, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", name, err)
	}
	return &session{s, cmd}, nil
}

// connectHTTP opens a session over streamable HTTP.
func connectHTTP(ctx context.Context, url string) (*session, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	s, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: url}, nil)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", url, err)
	}
	return &session{s, nil}, nil
}
