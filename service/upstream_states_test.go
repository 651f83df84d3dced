package service

import (
	"testing"

	"tooldex/gateway"
	"tooldex/upstream"
)

// TestUpstreamStates asks for the states of servers before there is a gateway to them, and after.
func TestUpstreamStates(t *testing.T) {
	var r upstreamStates
	if got := r.Status(); got != nil {
		t.Errorf("without a gateway: %v", got)
	}
	gw := gateway.New(gateway.Options{})
	t.Cleanup(func() { _ = gw.Close() })
	gw.Set([]upstream.Server{{Name: "files", Command: "none"}})
	r.gateway.Store(gw)
	if got := r.Status(); len(got) != 1 || got[0].Server != "files" || got[0].State != upstream.Configured {
		t.Errorf("with a gateway: %+v", got)
	}
}
