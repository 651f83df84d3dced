package trust

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"tooldex/internal/orderedjson"
	"tooldex/internal/sanitize"
	"tooldex/scan"
	"tooldex/tool"
	"tooldex/upstream"
)

// Kind is a kind of what servers offer beside their tools. These features are judged as tools are.
type Kind string

// The kinds of features.
const (
	Prompt   Kind = "prompt"
	Resource Kind = "resource"
	Template Kind = "template" // of the URIs of resources
)

// Kinds lists the kinds of features.
func Kinds() []Kind { return []Kind{Prompt, Resource, Template} }

// maxFeature and maxFeatureName bound the bytes of a feature, and of its name or URI. Larger ones are left out.
const (
	maxFeature     = 256 << 10
	maxFeatureName = sanitize.MaxText
)

// featureSet is what was decided about the features of one kind. It never changes. Features have decisions of their
// own, apart from those of tools, since a prompt and a tool may have the same name.
type featureSet struct {
	decisions map[tool.ID]*decision
	offered   map[tool.ID]offeredFeature // as the servers offered them when they were last inspected
}

// offeredFeature is a feature with the version of the rules that scanned it.
type offeredFeature struct {
	Form
	rules int
}

// featureRecord is what is stored about a feature. At is where recovery looks for the age of a record.
type featureRecord struct {
	Decision *decision  `json:"decision,omitempty"` // nil if the policy accepted it and nothing was found
	Offered  *tool.Tool `json:"offered,omitempty"`  // nil if the server does not offer it any more
	Hash     tool.Hash  `json:"hash"`               // of Offered, as the server wrote it
	Rules    int        `json:"rules,omitempty"`
	At       time.Time  `json:"at"`
}

// featureKey returns the key under which a feature is stored. No tool's ID begins with a slash.
func featureKey(k Kind, id tool.ID) tool.ID { return tool.ID("/"+string(k)+"/") + id }

// cutFeatureKey takes the key of a feature apart. It returns false for the ID of a tool.
func cutFeatureKey(key tool.ID) (Kind, tool.ID, bool) {
	rest, ok := strings.CutPrefix(string(key), "/")
	kind, id, _ := strings.Cut(rest, "/")
	return Kind(kind), tool.ID(id), ok
}

// itemsOf returns the items of a kind.
func itemsOf(f upstream.Features, k Kind) []json.RawMessage {
	switch k {
	case Prompt:
		return f.Prompts
	case Resource:
		return f.Resources
	}
	return f.Templates
}

// FeatureForm returns what a server says of a feature in the form in which it is judged: its name or URI as the name of
// a tool, a prompt's arguments as its parameters, and everything else as _meta. It returns false for an item that is
// not served: one without a name, with hidden characters in it, with a member twice, or too large. The judge knows
// tools only. In this form every text of a feature is scanned, and a change of any of them changes the hash.
func FeatureForm(k Kind, server string, raw json.RawMessage) (Form, bool) {
	o, err := orderedjson.ParseObject(raw)
	if err != nil || len(raw) > maxFeature {
		return Form{}, false
	}
	seen := map[string]bool{}
	t := &tool.Tool{Server: server}
	into := map[string]*string{"title": &t.Title, "description": &t.Description, nameKey(k): &t.Name}
	rest := orderedjson.Raw{}
	for _, m := range o {
		// Parsers differ in which of two equal members they take, so the scanned one may not be the one in use.
		if seen[m.Key] {
			return Form{}, false
		}
		seen[m.Key] = true
		if text := into[m.Key]; text != nil && json.Unmarshal(m.Value, text) == nil {
			continue
		}
		if k == Prompt && m.Key == "arguments" {
			if t.InputSchema = argumentSchema(m.Value); t.InputSchema != nil {
				continue
			}
		}
		rest = append(rest, m)
	}
	if len(rest) > 0 {
		t.Meta = rest.Bytes()
	}
	if t.Name == "" || len(t.Name) > maxFeatureName || sanitize.HasHidden(t.Name) {
		return Form{}, false
	}
	return Form{t, t.Hash()}, true
}

// nameKey returns the member that identifies a feature.
func nameKey(k Kind) string {
	switch k {
	case Prompt:
		return "name"
	case Resource:
		return "uri"
	}
	return "uriTemplate"
}

// argumentSchema returns the arguments of a prompt as a schema of parameters; nil if they are not a list of objects.
func argumentSchema(raw json.RawMessage) json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	properties := orderedjson.Raw{}
	for _, one := range list {
		o, err := orderedjson.ParseObject(one)
		name, _ := o.Lookup("name")
		var key string
		if err != nil || json.Unmarshal(name, &key) != nil {
			return nil
		}
		properties = append(properties, orderedjson.Member[json.RawMessage]{Key: key, Value: o.Without("name").Bytes()})
	}
	return orderedjson.Raw{
		{Key: "type", Value: json.RawMessage(`"object"`)}, {Key: "properties", Value: properties.Bytes()},
	}.Bytes()
}

// ledgerOf returns what was decided about the features of a kind as a ledger, as if they were tools.
func (l *Ledger) ledgerOf(k Kind) *Ledger {
	return &Ledger{options: l.options, trusted: l.trusted, decisions: l.features[k].decisions}
}

// Feature returns why a feature is held, or "", and the warning with which it is served, or "". A form that was not
// inspected is held.
func (l *Ledger) Feature(k Kind, f Form) (held, warning string) {
	if l.Trusts(f.Tool.Server) {
		return "", ""
	}
	if l.features[k].offered[f.Tool.ID()].Hash != f.Hash {
		return "it was not looked at yet", ""
	}
	own := l.ledgerOf(k)
	return own.HoldReason(f), own.Warning(f)
}

// InspectedFeatures reports whether all features of a server were inspected in their present form, so that
// InspectFeatures would change nothing.
func (l *Ledger) InspectedFeatures(f upstream.Features) bool {
	if l.Trusts(f.Server) {
		return true
	}
	for _, k := range Kinds() {
		for _, raw := range itemsOf(f, k) {
			form, ok := FeatureForm(k, f.Server, raw)
			if have := l.features[k].offered[form.id()]; ok && (have.Hash != form.Hash || have.rules != scan.Version) {
				return false
			}
		}
	}
	return true
}

// id returns the ID of the tool of a form, and "" for the zero Form.
func (f Form) id() tool.ID {
	if f.Tool == nil {
		return ""
	}
	return f.Tool.ID()
}

// InspectFeatures decides about what a server offers beside tools, as an Inspection decides about tools, and returns
// the changes to store. The scanner is called when it is first needed.
func (l *Ledger) InspectFeatures(now time.Time, scanner func() *scan.Scanner, f upstream.Features) map[tool.ID][]byte {
	if l.Trusts(f.Server) {
		return nil
	}
	// The first contact with a server is judged as an addition of all, not as a change of many.
	first := true
	for _, k := range Kinds() {
		for id := range l.features[k].offered {
			first = first && id.Server() != f.Server
		}
	}
	changes := map[tool.ID][]byte{}
	for _, k := range Kinds() {
		var forms []Form
		for _, raw := range itemsOf(f, k) {
			if form, ok := FeatureForm(k, f.Server, raw); ok {
				forms = append(forms, form)
			}
		}
		l.inspectForms(k, now, scanner, f.Server, forms, first, changes)
	}
	return changes
}

// inspectForms is InspectFeatures for the features of one kind. First says that nothing was known of the server's
// features.
func (l *Ledger) inspectForms(k Kind, now time.Time, scanner func() *scan.Scanner, server string, offered []Form,
	first bool, changes map[tool.ID][]byte,
) {
	set := l.features[k]
	// The rules for tools apply to features unchanged; only where decisions are stored differs.
	n := l.ledgerOf(k).Inspect(now, scanner, func(id tool.ID) bool { _, ok := set.offered[id]; return ok })
	n.unnamed = true
	forms := map[tool.ID]Form{}
	changed, stored := 0, 0
	for _, form := range offered {
		if _, twice := forms[form.id()]; twice {
			continue
		}
		forms[form.id()] = form
		if have, ok := set.offered[form.id()]; ok && have.Hash != form.Hash && !scan.SameTexts(have.Tool, form.Tool) {
			changed++
		}
	}
	for id, have := range set.offered {
		if id.Server() != server {
			continue
		}
		stored++
		if _, ok := forms[id]; !ok {
			// The decision outlives the feature, so that a server cannot shed it by withdrawing the feature.
			n.Removed(have.Form)
			changes[featureKey(k, id)] = encodeFeature(n.decisionOf(id), nil, now)
		}
	}
	for id, form := range forms {
		have, known := set.offered[id]
		switch {
		case !known:
			n.Added(form, first)
		case have.Hash != form.Hash:
			n.Changed(have.Form, form, Rewritten(changed, stored))
		case have.rules != scan.Version:
			n.Rescanned(form, form.Tool)
		default:
			continue
		}
		changes[featureKey(k, id)] = encodeFeature(n.decisionOf(id), &form, now)
	}
}

// encodeFeature returns what is stored about a feature; nil if nothing is to be remembered.
func encodeFeature(d *decision, f *Form, now time.Time) []byte {
	if d == nil && f == nil {
		return nil
	}
	r := featureRecord{Decision: d, At: now, Rules: scan.Version}
	if f != nil {
		r.Offered, r.Hash = f.Tool, f.Hash
	}
	b, err := json.Marshal(&r)
	if err != nil { // texts, numbers and valid JSON always encode
		return nil
	}
	return b
}

// withFeatures returns the features after changes, of which it takes those that are about features out.
func withFeatures(before map[Kind]featureSet, changes map[tool.ID][]byte) map[Kind]featureSet {
	out := before
	cloned := map[Kind]bool{}
	for key, b := range changes {
		k, id, ok := cutFeatureKey(key)
		if !ok {
			continue
		}
		if !cloned[k] {
			if len(cloned) == 0 {
				out = maps.Clone(before)
				if out == nil {
					out = map[Kind]featureSet{}
				}
			}
			cloned[k] = true
			out[k] = featureSet{maps.Clone(out[k].decisions), maps.Clone(out[k].offered)}
			if out[k].decisions == nil {
				out[k] = featureSet{map[tool.ID]*decision{}, map[tool.ID]offeredFeature{}}
			}
		}
		delete(out[k].decisions, id)
		delete(out[k].offered, id)
		r := &featureRecord{}
		if b == nil {
			continue
		}
		// a record of a damaged or newer store: held until a person decides
		if json.Unmarshal(b, r) != nil {
			out[k].decisions[id] = lostDecision()
			continue
		}
		if r.Decision != nil {
			out[k].decisions[id] = r.Decision
		}
		if r.Offered != nil {
			out[k].offered[id] = offeredFeature{Form{r.Offered, r.Hash}, r.Rules}
		}
	}
	return out
}

// ReviewFeatures lists the features that a person should look at, in no order.
func (l *Ledger) ReviewFeatures() []scan.Review {
	var out []scan.Review
	for k, set := range l.features {
		own := l.ledgerOf(k)
		for id, f := range set.offered {
			var since time.Time
			if d := set.decisions[id]; d != nil {
				since = d.At
			}
			if r, ok := own.Review(f.Form, since); ok {
				r.Kind, r.Held = string(k), r.Held || k == About
				out = append(out, r)
			}
		}
	}
	return out
}

// ApproveFeature returns the change to store for a feature in the form that a person approved, under its key; false if
// the feature is not known. Form is that of an Approval. No bytes mean that it was approved before.
func (l *Ledger) ApproveFeature(a scan.Approval, at time.Time) (key tool.ID, change []byte, present string, ok bool) {
	k := Kind(a.Kind)
	f, ok := l.features[k].offered[a.ID]
	if !ok {
		return "", nil, "", false
	}
	own := l.ledgerOf(k)
	if b, err := own.Approve(f.Form, at); err != nil || b == nil {
		return featureKey(k, a.ID), nil, f.ID(), true
	}
	d := decision{By: byApproval, Hash: f.Hash, At: at.UTC()}
	if before := own.decisions[a.ID]; before != nil {
		d.Found = before.Found
	}
	return featureKey(k, a.ID), encodeFeature(&d, &f.Form, at.UTC()), f.ID(), true
}

// forgetFeatures adds the changes that remove every decision about the features of a server.
func (l *Ledger) forgetFeatures(server string, changes map[tool.ID][]byte) {
	for k, set := range l.features {
		for _, id := range slices.Concat(slices.Collect(maps.Keys(set.offered)), slices.Collect(maps.Keys(set.decisions))) {
			if id.Server() == server {
				changes[featureKey(k, id)] = nil
			}
		}
	}
}
