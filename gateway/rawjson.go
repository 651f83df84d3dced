package gateway

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"tooldex/internal/orderedjson"
)

// member is one member of a JSON object: where it lies, and where its value does.
type member struct {
	key        string
	from, to   int // from the end of what precedes it, comma included, to the end of its value
	valueStart int
}

// members lists the members of a JSON object, without looking into their values: obj must be valid JSON. It returns nil
// if obj is no object.
func members(obj []byte) []member {
	i := skipSpace(obj, 0)
	if i >= len(obj) || obj[i] != '{' {
		return nil
	}
	out, from := []member{}, i+1
	for i = skipSpace(obj, from); i < len(obj) && obj[i] == '"'; {
		end := stringEnd(obj, i)
		if end < i+2 {
			return nil
		}
		m := member{key: string(obj[i+1 : end-1]), from: from}
		if (bytes.IndexByte(obj[i:end], '\\') >= 0 || !utf8.Valid(obj[i:end])) &&
			json.Unmarshal(obj[i:end], &m.key) != nil {
			return nil
		}
		m.valueStart = skipSpace(obj, skipSpace(obj, end)+1) // after the colon
		if m.valueStart >= len(obj) {
			return nil
		}
		m.to = valueEnd(obj, m.valueStart)
		out, from = append(out, m), m.to
		if i = skipSpace(obj, from); i < len(obj) && obj[i] == ',' {
			i = skipSpace(obj, i+1)
		}
	}
	return out
}

// find returns the value of the last member of this name, as decoders do.
func find(obj []byte, key string) (raw json.RawMessage, ok bool) {
	for _, m := range members(obj) {
		if m.key == key {
			raw, ok = obj[m.valueStart:m.to], true
		}
	}
	return raw, ok
}

// The following return where the space, the string or the value ends that begins at i.

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

func stringEnd(b []byte, i int) int { return i + orderedjson.StringLen(b[i:]) }

func valueEnd(b []byte, i int) int {
	for depth := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = stringEnd(b, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		default: // of a number or a word, or between values
			if depth > 0 || i+1 < len(b) && strings.IndexByte(" \t\r\n,]}", b[i+1]) < 0 {
				continue
			}
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(b)
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
