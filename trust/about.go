package trust

import (
	"maps"
	"time"

	"tooldex/internal/orderedjson"
	"tooldex/scan"
	"tooldex/tool"
	"tooldex/upstream"
)

// About is the kind of what a server says of itself: its title, description and instructions. It is judged as a
// feature is, and held also where a feature would be served with a warning: its words are shown beside the tools of
// other servers, where no warning belongs to them.
const About Kind = "server"

// aboutName is the name under which what a server says of itself is reviewed and approved.
const aboutName = "instructions"

// aboutForm returns what a server says of itself, as the server sent it, in the form in which it is judged.
func aboutForm(server string, a upstream.About) Form {
	t := &tool.Tool{Server: server, Name: aboutName, Title: a.Title, Description: a.Description}
	if a.Instructions != "" {
		t.Meta = orderedjson.Raw{{Key: "instructions", Value: orderedjson.Encode(a.Instructions)}}.Bytes()
	}
	return Form{t, t.Hash()}
}

// InspectAbout decides about what a server says of itself, and returns the changes to store. First says that the
// server was never read before. The scanner is called when it is first needed.
func (l *Ledger) InspectAbout(now time.Time, scanner func() *scan.Scanner, server string, a upstream.About,
	first bool,
) map[tool.ID][]byte {
	if l.Trusts(server) {
		return nil
	}
	var forms []Form
	if a != (upstream.About{}) {
		forms = append(forms, aboutForm(server, a))
	}
	changes := map[tool.ID][]byte{}
	l.inspectForms(About, now, scanner, server, forms, first, changes)
	return changes
}

// AboutHeld returns why what a server says of itself is not used, or "".
func (l *Ledger) AboutHeld(server string) string {
	if l.Trusts(server) {
		return ""
	}
	f, ok := l.features[About].offered[tool.MakeID(server, aboutName)]
	if !ok {
		return "it was not looked at yet"
	}
	return l.aboutHeld(f.Form)
}

// aboutHeld is AboutHeld for a form.
func (l *Ledger) aboutHeld(f Form) string {
	own := l.ledgerOf(About)
	if why := own.HoldReason(f); why != "" || own.Warning(f) == "" {
		return why
	}
	return joinReasons(own.decisions[f.Tool.ID()].Found)
}

// AboutFindings returns what was found in the words of a server that are not used.
func (l *Ledger) AboutFindings(server string, changes map[tool.ID][]byte) (why string, found []scan.Finding) {
	after := &Ledger{options: l.options, trusted: l.trusted, features: withFeatures(maps.Clone(l.features), changes)}
	if d := after.features[About].decisions[tool.MakeID(server, aboutName)]; d != nil {
		found = d.Found
	}
	if _, offered := after.features[About].offered[tool.MakeID(server, aboutName)]; !offered {
		return "", nil
	}
	return after.AboutHeld(server), found
}
