package search

import (
	"encoding/json"
	"unicode/utf8"

	"tooldex/index"
	"tooldex/tool"
)

// hit describes tool i at the asked detail.
func hit(snap *index.Snapshot, i int, detail tool.Detail) tool.Hit {
	t := snap.Set().All()[i]
	id := t.ID()
	h := tool.Hit{ID: id, Name: t.Name, Server: t.Server, Exposed: snap.Set().Exposed(id), Category: t.Category, Tool: t}
	if detail == tool.DetailName {
		return h
	}
	h.Summary = t.Summary
	switch detail {
	case tool.DetailSignature:
		h.Signature = snap.Set().Signature(i)
	case tool.DetailSchema:
		h.Schema = json.RawMessage(t.InputSchema)
		if len(t.OutputSchema) > 0 {
			h.Output = json.RawMessage(t.OutputSchema)
		}
	}
	return h
}

// perHit is what the names of a hit's fields cost in characters.
const perHit = 48

// cost estimates what hits cost an agent to read, in tokens: characters / 4, as tool.CountTokens has it.
func cost(hits []tool.Hit) int {
	n := 0
	for i := range hits {
		h := &hits[i]
		n += perHit
		for _, s := range []string{h.Name, h.Server, h.Exposed, h.Summary, h.Category, h.Signature} {
			n += utf8.RuneCountInString(s)
		}
		for _, v := range []any{h.Schema, h.Output} {
			if raw, ok := v.(json.RawMessage); ok {
				n += utf8.RuneCount(raw)
			}
		}
	}
	return (n + 3) / 4
}
