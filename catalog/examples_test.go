package catalog

import (
	"encoding/json"
	"testing"

	"tooldex/tool"
	"tooldex/validate"
)

// Examples that do not fit their tool's schema are left out with a finding; others stay.
func TestExamplesFitTheSchema(t *testing.T) {
	one := &tool.Tool{
		Server: "s", Name: "read",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`),
		Examples: []tool.Example{
			{Description: "fits", Invocation: json.RawMessage(`{"path":"/a"}`)},
			{Description: "does not", Invocation: json.RawMessage(`{"path":7}`)},
			{Description: "has none"},
		},
	}
	found := checkExamples(&validate.Schemas{}, one)
	if len(found) != 1 || found[0].Tool != "s/read" || len(one.Examples) != 2 || one.Examples[1].Description != "has none" {
		t.Errorf("found %v, left %v", found, one.Examples)
	}
}
