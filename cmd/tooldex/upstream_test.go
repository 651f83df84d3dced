package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// upstreamMain is a small real MCP server, run by transcripts as the program "upstream". Its argument chooses how it
// behaves: "noisy" prints logs on stdout, "hang" never answers, "gone" ends at once, "growing" learns another tool,
// "dozing" has one that takes its time, and "deaf" the same, and does not end when it is asked to.
func upstreamMain() {
	behaviour := ""
	if len(os.Args) > 1 {
		behaviour = os.Args[1]
	}
	switch behaviour {
	case "noisy":
		fmt.Println("starting up…")
		fmt.Println("{not json")
	case "hang":
		select {}
	case "gone":
		fmt.Fprintln(os.Stderr, "upstream: no licence found")
		os.Exit(1)
	}
	s := newUpstream()
	switch behaviour {
	case "risky":
		risk(s)
	case "growing":
		grow(s)
	case "turning":
		turn(s, false)
	case "turned":
		turn(s, true)
	case "deaf":
		signal.Ignore(syscall.SIGTERM)
		defer time.Sleep(time.Hour)
		fallthrough
	case "dozing":
		mcp.AddTool(s, &mcp.Tool{Name: "doze", Description: "Wait for some seconds"}, doze)
	}
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, "upstream:", err)
	}
}

// newUpstream makes the server itself.
func newUpstream() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "upstream", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "shout", Description: "Turn a text into capital letters"}, shout)
	mcp.AddTool(s, &mcp.Tool{Name: "add_numbers", Description: "Compute the sum of two numbers"}, addNumbers)
	mcp.AddTool(s, &mcp.Tool{Name: "refuse", Description: "Always fail with an explanation"}, refuse)
	mcp.AddTool(s, &mcp.Tool{Name: "crash", Description: "End the server in the middle of the call"}, crash)
	mcp.AddTool(s, &mcp.Tool{Name: "count_up", Description: "Count to a number and report progress"}, countUp)
	return s
}

// grow adds a tool that adds a further one when it is called.
func grow(s *mcp.Server) {
	mcp.AddTool(s, &mcp.Tool{Name: "learn", Description: "Learn one thing more"},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			mcp.AddTool(s, &mcp.Tool{
				Name:        "reverse_text",
				Description: "Write a text backwards, from its last letter to its first",
			}, shout)
			return text("learned"), nil, nil
		})
}

type dozeArgs struct {
	Seconds float64 `json:"seconds" jsonschema:"how long"`
}

// doze reports progress once it has begun.
func doze(ctx context.Context, req *mcp.CallToolRequest, a dozeArgs) (*mcp.CallToolResult, any, error) {
	if token := req.Params.GetProgressToken(); token != nil {
		if err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token,
			Message:       "dozing",
		}); err != nil {
			return nil, nil, err
		}
	}
	select {
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	case <-time.After(time.Duration(a.Seconds * float64(time.Second))):
		return text("rested"), nil, nil
	}
}

type textArgs struct {
	Text string `json:"text" jsonschema:"the text to change"`
}

func shout(_ context.Context, _ *mcp.CallToolRequest, a textArgs) (*mcp.CallToolResult, any, error) {
	out := []rune(a.Text)
	for i, r := range out {
		if r >= 'a' && r <= 'z' {
			out[i] = r - 'a' + 'A'
		}
	}
	return text(string(out)), nil, nil
}

type sumArgs struct {
	A float64 `json:"a" jsonschema:"the first number"`
	B float64 `json:"b" jsonschema:"the second number"`
}

func addNumbers(_ context.Context, _ *mcp.CallToolRequest, a sumArgs) (*mcp.CallToolResult, any, error) {
	return text(fmt.Sprint(a.A + a.B)), nil, nil
}

func refuse(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
	return nil, nil, errors.New("the moon is in the wrong phase")
}

func crash(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
	os.Exit(3)
	return nil, nil, nil
}

type countArgs struct {
	To int `json:"to" jsonschema:"where to stop"`
}

func countUp(ctx context.Context, req *mcp.CallToolRequest, a countArgs) (*mcp.CallToolResult, any, error) {
	token := req.Params.GetProgressToken()
	for i := 1; i <= a.To && token != nil; i++ {
		err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token,
			Progress:      float64(i), Total: float64(a.To), Message: "counting",
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return text("counted"), nil, nil
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

// wait is how long a scenario may take before something must be stuck.
const wait = 2 * time.Minute
