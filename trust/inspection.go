package trust

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"tooldex/internal/sanitize"
	"tooldex/scan"
	"tooldex/tool"
)

// maxRemembered bounds the tools of one server whose accepted form is remembered after the server stopped offering
// them, so that none comes back as something else.
const maxRemembered = 500

// Inspection decides about the tools that servers offer in one sync. It is for one goroutine.
type Inspection struct {
	ledger  *Ledger
	scanner func() *scan.Scanner
	stored  func(tool.ID) bool
	now     time.Time
	found   map[*tool.Tool][]scan.Finding
	decided map[tool.ID]*decision // by this inspection; nil for a decision that is taken away
	removed map[string]int        // remembered tools that are not offered any more, by server; nil until counted
	unnamed bool                  // names are not compared with those of tools: these are no tools
}

// Inspect starts an inspection. Scanner returns a scanner that knows every tool that is stored or offered, since names
// are compared with all; it is called when one is first needed, and must return the same each time. Stored reports
// whether a tool is stored before the sync.
func (l *Ledger) Inspect(now time.Time, scanner func() *scan.Scanner, stored func(tool.ID) bool) *Inspection {
	return &Inspection{
		ledger: l, scanner: scanner, stored: stored, now: now,
		found: map[*tool.Tool][]scan.Finding{}, decided: map[tool.ID]*decision{},
	}
}

// Scan scans tools on all processors, so that the decisions about them need not. Raw returns a tool as its server sent
// it, which cleaning makes look more harmless than it is.
func (n *Inspection) Scan(tools []*tool.Tool, raw func(*tool.Tool) *tool.Tool) {
	tools = slices.DeleteFunc(tools, func(t *tool.Tool) bool { return n.ledger.Trusts(t.Server) })
	if len(tools) == 0 {
		return
	}
	sent := make([]*tool.Tool, len(tools))
	for i, t := range tools {
		sent[i] = raw(t)
	}
	for i, found := range n.scanner().Tools(sent) {
		n.found[tools[i]] = found
	}
}

// foundIn returns what Scan found in a tool.
func (n *Inspection) foundIn(t *tool.Tool) []scan.Finding {
	found, ok := n.found[t]
	if !ok {
		found = n.scan(t)
	}
	return found
}

// scan returns what the scanner finds in one tool, or in a feature.
func (n *Inspection) scan(t *tool.Tool) []scan.Finding {
	if n.unnamed {
		return n.scanner().Texts(t)
	}
	return n.scanner().Tool(t)
}

// storeDecision stores a decision. One that says nothing, or nil, takes a stored decision away.
func (n *Inspection) storeDecision(id tool.ID, d *decision) {
	if d != nil && len(d.Found) == 0 && d.By == bySight && d.Accepted == nil {
		d = nil
	}
	if d == nil && n.ledger.decisions[id] == nil {
		return
	}
	if d != nil {
		d.At = n.now
	}
	n.decided[id] = d
}

// decisionOf returns what holds about a tool after the decisions made so far.
func (n *Inspection) decisionOf(id tool.ID) *decision {
	if d, ok := n.decided[id]; ok {
		return d
	}
	return n.ledger.decisions[id]
}

// Added decides about a tool that is new, or comes back after it was removed. FirstSync says that its source was never
// read before.
func (n *Inspection) Added(f Form, firstSync bool) {
	id := f.Tool.ID()
	if n.ledger.Trusts(f.Tool.Server) {
		n.storeDecision(id, nil)
		return
	}
	d := &decision{Found: n.foundIn(f.Tool)}
	before := n.ledger.decisions[id]
	if before != nil && before.By != "" && before.Accepted != nil {
		n.storeDecision(id, n.compareForm(before, before.Accepted, nil, f, d.Found, false))
		return
	}
	policy := n.ledger.options.Policy
	if policy == Warn || policy == Quarantine && firstSync && !scan.Grave(d.Found) {
		d.By, d.Hash = bySight, f.Hash
	}
	n.storeDecision(id, d)
}

// rewrittenLeast is the fewest tools of a server that are changed at once and count as a change of its whole text.
const rewrittenLeast = 3

// Rewritten reports whether a server changed the texts of enough of its tools at once to count as another server.
// Changed is how many it changed, of those that were stored.
func Rewritten(changed, stored int) bool { return changed >= rewrittenLeast && 3*changed > stored }

// Changed decides about a tool whose form is not the stored one any more. Rewritten says that its server changed most
// of its texts at once.
func (n *Inspection) Changed(stored, f Form, rewritten bool) {
	id := f.Tool.ID()
	if n.ledger.Trusts(f.Tool.Server) {
		n.storeDecision(id, nil)
		return
	}
	found := n.foundIn(f.Tool)
	before := n.ledger.decisions[id]
	served := n.ledger.HoldReason(stored) == ""
	switch {
	case before == nil && !served, before != nil && before.By == "" && !served: // no form was ever accepted
		n.storeDecision(id, &decision{Found: found})
	case before == nil:
		n.storeDecision(id, n.compareForm(&decision{By: bySight, Hash: stored.Hash}, stored.Tool, nil, f, found,
			rewritten))
	case before.By == "":
		n.storeDecision(id, n.compareForm(&decision{By: bySight, Hash: stored.Hash}, stored.Tool, before.Found, f,
			found, rewritten))
	case before.acceptsForm(stored):
		n.storeDecision(id, n.compareForm(before, stored.Tool, before.Found, f, found, rewritten))
	default:
		n.storeDecision(id, n.compareForm(before, before.Accepted, nil, f, found, rewritten))
	}
}

// compareForm decides about a new form of a tool of which another form was accepted. FoundBefore is what was found in
// that form, or nil if it has to be scanned; rewritten is that of Changed.
func (n *Inspection) compareForm(before *decision, accepted *tool.Tool, foundBefore []scan.Finding, f Form,
	found []scan.Finding, rewritten bool,
) *decision {
	if before.Hash == f.Hash || accepted == nil {
		return &decision{By: before.By, Hash: f.Hash, Found: found}
	}
	if foundBefore == nil {
		foundBefore = n.scan(accepted)
	}
	worse := scan.Worse(accepted, f.Tool, foundBefore, found)
	// What was held for this stays so when the tool changes once more, until it is approved or as it was.
	if rewritten || slices.ContainsFunc(before.Worse, func(f scan.Finding) bool { return f.Rule == scan.Rewritten }) {
		worse = append(worse, scan.RewrittenFinding())
	}
	if len(worse) == 0 && n.ledger.options.Policy == Warn {
		return &decision{By: bySight, Hash: f.Hash, Found: found}
	}
	return &decision{By: before.By, Hash: before.Hash, Accepted: accepted, Found: found, Worse: worse}
}

// Rescanned decides about a tool that did not change, but was last scanned by other rules.
func (n *Inspection) Rescanned(stored Form, t *tool.Tool) {
	id := t.ID()
	if n.ledger.Trusts(t.Server) {
		return
	}
	d := decision{}
	if before := n.ledger.decisions[id]; before != nil {
		d = *before
	} else if n.ledger.options.Policy != Strict {
		d.By, d.Hash = bySight, stored.Hash
	} else {
		return
	}
	d.Found = n.foundIn(t)
	n.storeDecision(id, &d)
}

// Removed remembers the accepted form of a tool that its server does not offer any more.
func (n *Inspection) Removed(stored Form) {
	id := stored.Tool.ID()
	if n.ledger.Trusts(stored.Tool.Server) {
		n.storeDecision(id, nil)
		return
	}
	d := decision{By: bySight, Hash: stored.Hash}
	if before := n.ledger.decisions[id]; before != nil {
		d = *before
	} else if n.ledger.HoldReason(stored) != "" {
		d.By = ""
	}
	if d.By == "" || n.countRemembered(id.Server()) >= maxRemembered {
		n.storeDecision(id, nil)
		return
	}
	if d.Accepted == nil {
		d.Accepted = stored.Tool
	}
	d.Found, d.Worse = nil, nil
	n.storeDecision(id, &d)
}

// countRemembered counts the tools of a server that were removed in earlier syncs and are remembered.
func (n *Inspection) countRemembered(server string) int {
	if n.removed == nil {
		n.removed = map[string]int{}
		for id := range n.ledger.decisions {
			if !n.stored(id) {
				n.removed[id.Server()]++
			}
		}
	}
	return n.removed[server]
}

// Findings returns the report about tools after the decisions of this inspection: which of them are held, sorted, and
// what was found in tools that are held or served with a warning.
func (n *Inspection) Findings(forms []Form) (held []tool.ID, out []sanitize.Finding) {
	for _, f := range forms {
		id := f.Tool.ID()
		d := n.decisionOf(id)
		reason, repair := n.ledger.holdReason(d, f), "kept, with a warning"
		if reason != "" {
			repair = "held until it is approved (tooldex servers review " + f.Tool.Server + ")"
			held = append(held, id)
		}
		var found []scan.Finding
		if n.ledger.warning(d, f) != "" {
			found = d.Found
		}
		for _, s := range found {
			out = append(out, sanitize.Finding{
				Tool: id, Field: s.Field,
				Problem: fmt.Sprintf("%s (%s): %s", s.Why, s.Rule, s.Excerpt), Repair: repair,
			})
		}
		if reason != "" && len(found) == 0 {
			out = append(out, sanitize.Finding{Tool: id, Problem: reason, Repair: repair})
		}
	}
	slices.Sort(held)
	return held, out
}

// Changes returns the decisions of this inspection as they are stored: nil takes one away.
func (n *Inspection) Changes() map[tool.ID][]byte {
	out := make(map[tool.ID][]byte, len(n.decided))
	for id, d := range n.decided {
		out[id] = nil
		if d == nil {
			continue
		}
		if b, err := json.Marshal(d); err == nil { // texts, numbers and hashes always encode
			out[id] = b
		}
	}
	return out
}
