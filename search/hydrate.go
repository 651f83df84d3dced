package search

import (
	"encoding/json"
	"unicode/utf8"

	"tooldex/index"
	"tooldex/tool"
)

// maxAlso bounds the twins that a hit names.
const maxAlso = 8

// hits describes the tools of places at the asked detail. It is never nil.
func hits(snap *index.Snapshot, places []place, detail tool.Detail) []tool.Hit {
	out := make([]tool.Hit, len(places))
	for k, p := range places {
		out[k] = hit(snap, int(p.doc), detail)
		out[k].Score, out[k].Explain = p.score, p.explain
		for _, i := range p.also[:min(len(p.also), maxAlso)] {
			id := snap.Set().All()[i].ID()
			out[k].Twins, out[k].Also = append(out[k].Twins, id), append(out[k].Also, snap.Set().Exposed(id))
		}
	}
	return out
}

func hit(snap *index.Snapshot, i int, detail tool.Detail) tool.Hit {
	t := snap.Set().All()[i]
	id := t.ID()
	h := tool.Hit{
		ID: id, Name: t.Name, Server: t.Server, Exposed: snap.Set().Exposed(id), Category: t.Category,
		Tool: t,
	}
	if detail == tool.DetailName {
		return h
	}
	h.Summary, h.Warning = t.Summary, t.Warning
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

// cost estimates what hits cost an agent to read, in tokens: characters / 4.
func cost(hits []tool.Hit) int {
	n := 0
	for i := range hits {
		h := &hits[i]
		n += perHit
		for _, s := range []string{h.Name, h.Server, h.Exposed, h.Summary, h.Warning, h.Category, h.Signature} {
			n += utf8.RuneCountInString(s)
		}
		for _, also := range h.Also {
			n += utf8.RuneCountInString(also)
		}
		for _, v := range []any{h.Schema, h.Output} {
			if raw, ok := v.(json.RawMessage); ok {
				n += utf8.RuneCount(raw)
			}
		}
	}
	return (n + 3) / 4
}
