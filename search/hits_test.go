package search

import (
	"testing"

	"tooldex/tool"
	"tooldex/upstream"
)

// A hit says that its server does not run, so that whoever reads it may choose another.
func TestHitsOfFailedServers(t *testing.T) {
	e := &Engine{o: Options{Servers: states{{Server: "down", State: upstream.Failed}, {Server: "up", State: upstream.Running}}}}
	res := &tool.Result{
		Tools:  []tool.Hit{{Server: "down"}, {Server: "up"}, {Server: "other"}},
		Groups: []tool.Group{{Tools: []tool.Hit{{Server: "up"}, {Server: "down"}}}},
	}
	e.markFailed(res)
	for i, want := range []bool{true, false, false} {
		if res.Tools[i].Failed != want {
			t.Errorf("%s: %v", res.Tools[i].Server, res.Tools[i].Failed)
		}
	}
	if res.Groups[0].Tools[0].Failed || !res.Groups[0].Tools[1].Failed {
		t.Errorf("in groups %+v", res.Groups)
	}
	(&Engine{}).markFailed(res) // nobody knows
}
