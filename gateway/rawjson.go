package gateway

import (
	"bytes"
	"encoding/json"

	"tooldex/internal/orderedjson"
)

// stripServerInfo returns a result without _meta["io.modelcontextprotocol/serverInfo"], in which each server of the
// 2026-07-28 protocol names itself. Passed on, it would name the upstream as the server that the client is connected
// to. All other bytes stay as they are; a _meta that held nothing else goes too. The result may share memory with the
// argument, which is not changed.
func stripServerInfo(result json.RawMessage) json.RawMessage {
	if !bytes.Contains(result, []byte("serverInfo")) { // saves the scan of large results
		return result
	}
	for _, m := range orderedjson.Members(result) {
		if m.Key != "_meta" {
			continue
		}
		meta := result[m.Value:m.End]
		cut := orderedjson.Remove(meta, "io.modelcontextprotocol/serverInfo")
		switch {
		case len(cut) == len(meta):
			return result
		case len(orderedjson.Members(cut)) == 0:
			return orderedjson.Remove(result, "_meta")
		}
		out := append(bytes.Clone(result[:m.Value]), cut...)
		return append(out, result[m.End:]...)
	}
	return result
}
