package search

import (
	"encoding/json"
	"unicode/utf8"

	"tooldex/index"
	"tooldex/tool"
	"tooldex/upstream"
)

// maxAlso bounds the duplicates that a hit names.
const maxAlso = 8

// describeHits describes the tools of places at the asked detail. It is never nil.
func describeHits(snap *index.Snapshot, places []place, detail tool.Detail) []tool.Hit {
	out := make([]tool.Hit, len(places))
	for k, p := range places {
		out[k] = describeHit(snap, int(p.doc), detail)
		out[k].Score, out[k].Explain = p.score, p.explain
		for _, i := range p.also[:min(len(p.also), maxAlso)] {
			id := snap.Set().All()[i].ID()
			out[k].Duplicates, out[k].Also = append(out[k].Duplicates, id), append(out[k].Also, snap.Set().Exposed(id))
		}
	}
	return out
}

// describeHit describes the tool of document i, as much of it as detail asks for.
func describeHit(snap *index.Snapshot, i int, detail tool.Detail) tool.Hit {
	t := snap.Set().All()[i]
	id := t.ID()
	h := tool.Hit{
		ID: id, Name: t.Name, Server: t.Server, Exposed: snap.Set().Exposed(id), Category: t.Category,
		Deprecated: t.Deprecated, Tool: t,
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

// countTokens estimates what hits cost an agent to read, in tokens: characters / 4.
func countTokens(hits []tool.Hit) int {
	n := 0
	for i := range hits {
		h := &hits[i]
		n += perHit
		for _, s := range []string{h.Name, h.Server, h.Exposed, h.Summary, h.Warning, h.Category, h.Signature, h.Deprecated} {
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
