package mcpsrv

import "tooldex/tool"

// maxOutput bounds, in bytes, the structured results that are checked: the client waits meanwhile.
const maxOutput = 1 << 20

// checkOutput tells the log, once for each output schema, of a structured result that does not fit. The client gets the
// result as it is: it asked for what the tool says, not for what the tool promised.
func (s *Server) checkOutput(t *tool.Tool, res *tool.CallResult) {
	if len(t.OutputSchema) == 0 || res.IsError || len(res.Raw) > maxOutput {
		return
	}
	schema := s.outputs.Of(string(t.ID()), t.OutputSchema)
	if schema.Reported() {
		return
	}
	field, reason := "", "structuredContent is missing"
	if o, parseErr := parseObject(res.Raw); parseErr == nil {
		if failed, ok := o.get("isError"); ok && string(failed) == "true" {
			return
		}
		if value, ok := o.get("structuredContent"); ok {
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
