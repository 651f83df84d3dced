package gateway

import (
	"bytes"
	"encoding/json"
)

// member is one member of a JSON object: where it lies, and where its value does.
type member struct {
	key        string
	from, to   int // from the end of what precedes it, comma included, to the end of its value
	valueStart int
}

// members lists the members of a JSON object. It returns nil if obj is none.
func members(obj []byte) []member {
	dec := json.NewDecoder(bytes.NewReader(obj))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var out []member
	for dec.More() {
		from := 1 + bytes.IndexByte(obj, '{')
		if len(out) > 0 {
			from = out[len(out)-1].to
		}
		t, err := dec.Token()
		key, ok := t.(string)
		var raw json.RawMessage
		if err != nil || !ok || dec.Decode(&raw) != nil {
			return nil
		}
		to := int(dec.InputOffset())
		out = append(out, member{key: key, from: from, to: to, valueStart: to - len(raw)})
	}
	return out
}

// cutMember returns obj without the members of this name. The other bytes stay as they are.
func cutMember(obj []byte, key string) []byte {
	for {
		list := members(obj)
		at := -1
		for i, m := range list {
			if m.key == key {
				at = i
			}
		}
		if at < 0 {
			return obj
		}
		to := list[at].to
		if at == 0 && len(list) > 1 { // the comma that separates it follows
			to += 1 + bytes.IndexByte(obj[to:], ',')
		}
		obj = append(bytes.Clone(obj[:list[at].from]), obj[to:]...)
	}
}

// stripServerInfo returns a result without _meta["io.modelcontextprotocol/serverInfo"], in which each server of the
// 2026-07-28 protocol names itself: passed on, it would say that the upstream is the server that the client talks to.
// All other bytes stay as they are; a _meta that held nothing else goes too.
func stripServerInfo(result json.RawMessage) json.RawMessage {
	if !bytes.Contains(result, []byte("serverInfo")) { // saves the scan of large results
		return result
	}
	for _, m := range members(result) {
		if m.key != "_meta" {
			continue
		}
		meta := result[m.valueStart:m.to]
		cut := cutMember(meta, "io.modelcontextprotocol/serverInfo")
		switch {
		case len(cut) == len(meta):
			return result
		case len(members(cut)) == 0:
			return cutMember(result, "_meta")
		}
		out := append(bytes.Clone(result[:m.valueStart]), cut...)
		return append(out, result[m.to:]...)
	}
	return result
}
