package sources

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tooldex/upstream"
)

func TestIsolationOfServers(t *testing.T) {
	tests := []struct {
		name, entry string
		want        *upstream.Isolation
		err         string
	}{
		{"none", `{"command":"x"}`, nil, ""},
		{"null", `{"command":"x","isolate":null}`, nil, ""},
		{"nothing is named", `{"command":"x","isolate":{}}`, &upstream.Isolation{}, ""},
		{
			"all", `{"command":"x","isolate":{"with":"bwrap","read":["/a"],"write":["~/b","${C}"],"network":true,"memory":"1GB"}}`,
			&upstream.Isolation{With: "bwrap", Read: []string{"/a"}, Write: []string{"~/b", "${C}"}, Network: true, Memory: "1GB"}, "",
		},
		{"a misspelt key", `{"command":"x","isolate":{"netwrok":false}}`, nil, "not written as expected"},
		{"a text", `{"command":"x","isolate":"bwrap"}`, nil, "a string"},
		{"true", `{"command":"x","isolate":true}`, nil, "true or false"},
		{"a number for memory", `{"command":"x","isolate":{"memory":512}}`, nil, "memory is a number"},
		{"no size", `{"command":"x","isolate":{"memory":"lots"}}`, nil, "lots"},
		{"a relative folder", `{"command":"x","isolate":{"read":["docs"]}}`, nil, "does not begin with /"},
		{"another program", `{"command":"x","isolate":{"with":"docker"}}`, nil, "docker"},
		{"a server at a url", `{"url":"https://x.example/mcp","isolate":{}}`, nil, "no command"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseServers([]byte(`{"mcpServers":{"s":` + tt.entry + `}}`))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) || !strings.Contains(err.Error(), `"s"`) {
					t.Errorf("the error is %v, without %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got[0].Isolate); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
