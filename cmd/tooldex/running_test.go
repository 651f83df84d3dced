package main

import (
	"testing"

	"tooldex/gateway"
	"tooldex/tool"
)

// TestRunning asks how the servers are before there is a gateway to them, and after.
func TestRunning(t *testing.T) {
	var r running
	if got := r.Status(); got != nil {
		t.Errorf("without a gateway: %v", got)
	}
	gw := gateway.New(gateway.Options{})
	t.Cleanup(func() { _ = gw.Close() })
	gw.Set([]tool.Server{{Name: "files", Command: "none"}})
	r.gw.Store(gw)
	if got := r.Status(); len(got) != 1 || got[0].Server != "files" || got[0].State != tool.Configured {
		t.Errorf("with a gateway: %+v", got)
	}
}
