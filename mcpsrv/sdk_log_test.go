package mcpsrv

import (
	"strings"
	"testing"
)

// TestMistakesOfClientsAreLoggedAsDebug has a client break the protocol in every way that the SDK logs, over HTTP: none
// of it may fill the log of people who did not ask for details.
func TestMistakesOfClientsAreLoggedAsDebug(t *testing.T) {
	const (
		begin       = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
		initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
		list        = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
		newPing     = `{"jsonrpc":"2.0","id":3,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}}}`
	)
	f := newFixture(t, smallServer(t), Options{})
	url := f.listen(t).URL
	_, _, session := asking(t, url, "POST", "", "", begin)
	for _, body := range []string{list, initialized, initialized, begin, newPing, `{"jsonrpc":"2.0","id":4,"method":"no/such"}`} {
		asking(t, url, "POST", "", session, body)
	}
	asking(t, url, "POST", "", "", list)
	asking(t, url, "POST", "", "", newPing, "Mcp-Protocol-Version", statelessRevision, "Mcp-Method", "ping")
	_ = f.Close()
	log := f.log.String()
	if strings.Contains(log, "level=WARN") || strings.Contains(log, "level=ERROR") {
		t.Errorf("the log holds\n%s", log)
	}
	for _, said := range []string{"duplicate initialized", "duplicate initialize request", "method invalid during"} {
		if !strings.Contains(log, said) {
			t.Errorf("the log does not say %q:\n%s", said, log)
		}
	}
}
