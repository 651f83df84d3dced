package mcpsrv

import (
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// BenchmarkCall compares a call through invoke_tool with a direct one; the difference is what invoke_tool costs.
func BenchmarkCall(b *testing.B) {
	for _, c := range []struct{ name, tool, args string }{
		{"direct", "read_file", `{"path":"a","head":3}`},
		{"invoke", invokeName, `{"name":"read_file","arguments":{"path":"a","head":3}}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			f := newFixture(b, smallServer(b), Options{})
			session := f.connect(b, "2025-11-25", nil)
			params := &mcp.CallToolParams{Name: c.tool, Arguments: json.RawMessage(c.args)}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := session.CallTool(b.Context(), params); err != nil {
					b.Fatal(err)
				}
				f.mu.Lock()
				f.calls = f.calls[:0]
				f.mu.Unlock()
			}
		})
	}
}

// BenchmarkForgive is the part of a call that looks for misspelled arguments.
func BenchmarkForgive(b *testing.B) {
	f := newFixture(b, nil, Options{})
	schema := smallServer(b)[3].InputSchema
	args := json.RawMessage(`{"path":"a","edits":[{"oldText":"x","newText":"y"},{"oldText":"z","newText":""}],"dryRun":true}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, fits := forgiveSpelling(f.o.Schemas.Of("files__edit_file", schema), schema, args); !fits {
			b.Fatal("the arguments do not fit")
		}
	}
}
