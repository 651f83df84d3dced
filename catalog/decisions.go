package catalog

import (
	"encoding/json"
	"log/slog"
	"maps"
	"time"

	"tooldex/scan"
	"tooldex/store"
	"tooldex/tool"
)

// How a form of a tool was accepted.
const (
	bySight    = "sight"    // the policy let it pass
	byApproval = "approval" // a person did
)

// decision is what is kept of a tool whose server is not trusted. There is none of a tool that was accepted on sight
// and has nothing suspicious.
type decision struct {
	By       string         `json:"by,omitempty"`       // how the accepted form was; "" if none was
	Hash     tool.Hash      `json:"hash"`               // of the accepted form
	Accepted *tool.Tool     `json:"accepted,omitempty"` // the accepted form, unless it is the stored one
	Found    []scan.Finding `json:"found,omitempty"`    // in the stored form
	Worse    []scan.Finding `json:"worse,omitempty"`    // what of it speaks against the change
	At       time.Time      `json:"at"`
}

// accepted reports whether a record is in the form that was accepted.
func (d *decision) accepted(r store.Record) bool { return d.By != "" && d.Hash == r.Hash }

// readDecisions decodes what is stored. A tool whose decision is lost is held, since it may have been.
func readDecisions(snap *store.Snapshot, log *slog.Logger) map[tool.ID]*decision {
	out := make(map[tool.ID]*decision, len(snap.Trust))
	lost := func(id tool.ID) {
		log.Warn("what was decided about a tool is lost; it is held until it is approved", "tool", id)
		out[id] = &decision{By: bySight, Worse: []scan.Finding{{
			Rule: "lost", Severity: scan.High, Why: "what was decided about it is lost",
			Remedy: "look at it, and approve it",
		}}}
	}
	for id, b := range snap.Trust {
		d := &decision{}
		if json.Unmarshal(b, d) != nil {
			lost(id)
			continue
		}
		out[id] = d
	}
	for _, d := range snap.Damaged {
		if d.Kind == "trust" {
			lost(tool.ID(d.Key))
		}
	}
	return out
}

// decided returns the decisions with changes made.
func (st *state) decided(changes map[tool.ID][]byte) map[tool.ID]*decision {
	if len(changes) == 0 {
		return st.decisions
	}
	out := maps.Clone(st.decisions)
	if out == nil {
		out = map[tool.ID]*decision{}
	}
	for id, b := range changes {
		delete(out, id)
		d := &decision{}
		if b != nil && json.Unmarshal(b, d) == nil { // which was just encoded
			out[id] = d
		}
	}
	return out
}

// rules is the version of the rules that tools of a source are looked at by, zero if they are not.
func (st *state) rules(source string) int {
	if st.trusts(source) {
		return 0
	}
	return scan.Version
}

// forget returns the changes that take away all that was decided about tools of a server.
func (st *state) forget(server string) map[tool.ID][]byte {
	var out map[tool.ID][]byte
	for id := range st.decisions {
		if id.Server() == server {
			if out == nil {
				out = map[tool.ID][]byte{}
			}
			out[id] = nil
		}
	}
	return out
}
