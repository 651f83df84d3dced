package gateway

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
	"tooldex/upstream"
)

// BenchmarkCallOverStdio measures a call through the gateway, to be compared with BenchmarkDirectCallOverStdio.
func BenchmarkCallOverStdio(b *testing.B) {
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	g := New(Options{LookupEnv: os.LookupEnv})
	defer func() { _ = g.Close() }()
	g.Set([]upstream.Server{{Name: "s", Command: exe, Env: map[string]string{serverVariable: "sdk"}}})
	args := json.RawMessage(`{"text":"hello","n":1}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := g.Call(b.Context(), tool.Call{ID: "s/echo", Arguments: args}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDirectCallOverStdio measures the same call with the SDK's client alone.
func BenchmarkDirectCallOverStdio(b *testing.B) {
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), serverVariable+"=sdk")
	cs, err := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil).Connect(b.Context(),
		&mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = cs.Close() }()
	args := json.RawMessage(`{"text":"hello","n":1}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := cs.CallTool(b.Context(), &mcp.CallToolParams{Name: "echo", Arguments: args}); err != nil {
			b.Fatal(err)
		}
	}
}
