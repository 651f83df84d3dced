package search

import (
	"tooldex/tool"
	"tooldex/upstream"
)

// markFailed says of each hit whether its server could not be started last: a call may fail, and another tool may
// serve.
func (e *Engine) markFailed(res *tool.Result) {
	if e.o.Servers == nil {
		return
	}
	failed := map[string]bool{}
	for _, st := range e.o.Servers.Status() {
		failed[st.Server] = st.State == upstream.Failed
	}
	mark := func(hits []tool.Hit) {
		for i := range hits {
			hits[i].Failed = failed[hits[i].Server]
		}
	}
	mark(res.Tools)
	for i := range res.Groups {
		mark(res.Groups[i].Tools)
	}
}
