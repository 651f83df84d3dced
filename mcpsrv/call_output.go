package mcpsrv

import (
	"tooldex/internal/orderedjson"
	"tooldex/tool"
)

// maxOutput bounds the structured results that are checked, in bytes: the client waits for the check.
const maxOutput = 1 << 20

// checkOutput logs, once for each output schema, that a structured result does not fit it. The client gets the result
// unchanged: it asked for what the tool returns, not for what the tool promised.
func (s *Server) checkOutput(t *tool.Tool, res *tool.CallResult) {
	if len(t.OutputSchema) == 0 || res.IsError || len(res.Raw) > maxOutput {
		return
	}
	schema := s.outputs.Of(string(t.ID()), t.OutputSchema)
	if schema.Reported() {
		return
	}
	field, reason := "", "structuredContent is missing"
	if o, parseErr := orderedjson.ParseObject(res.Raw); parseErr == nil {
		if failed, ok := o.Lookup("isError"); ok && string(failed) == "true" {
			return
		}
		if value, ok := o.Lookup("structuredContent"); ok {
			mismatch := schema.CheckQuick(value)
			if mismatch == nil {
				return
			}
			field, reason = mismatch.Field, mismatch.Reason
		}
	}
	if schema.MarkReported() {
		s.o.Logger.Warn("a result does not fit the output schema of its tool, and is passed on as it is", "tool",
			t.ID(), "field", field, "reason", reason)
	}
}
