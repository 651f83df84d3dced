package learn

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"tooldex/tool"
)

// EvidenceKind says how evidence came about.
type EvidenceKind byte

// The kinds of evidence.
const (
	Called    EvidenceKind = iota + 1 // a search showed the tool, and it was called
	elsewhere                         // the tool was called after a search that did not show it
	chosen                            // a client says that the tool served the request
	Wrong                             // a client says that it did not
	Replayed                          // put in from a record of use
)

// String returns the kind in lower case.
func (k EvidenceKind) String() string {
	switch k {
	case Called:
		return "called"
	case elsewhere:
		return "elsewhere"
	case chosen:
		return "chosen"
	case Wrong:
		return "wrong"
	case Replayed:
		return "replayed"
	}
	return "unknown"
}

// strength is what one piece of evidence of a kind weighs.
func (k EvidenceKind) strength() float64 {
	switch k {
	case elsewhere:
		return .5
	case chosen:
		return 1.5
	}
	return 1
}

// maxSessions bounds the sessions that are counted for one piece of evidence.
const maxSessions = 4

// use is a piece of evidence: that a client's request was, or was not, served by a tool.
type use struct {
	profile     string
	tool        tool.ID
	client      string
	kind        EvidenceKind
	request     uint64
	count       uint32
	first, last int64    // milliseconds since 1970
	sessions    []uint32 // hashes, sorted: the lowest of all
	text        string   // "" where texts are not kept
	reading     *reading
}

// reading is what is kept of a request.
type reading struct {
	words  []uint32 // hashes of its terms, sorted
	model  uint32   // hash of the fingerprint of what made the vector
	scale  float32
	vector []int8  // component i is scale times vector[i]; nil if there was none
	found  []found // the best tools by themselves, best first
}

// found is a tool that the search found for a request, by the hash of its ID, with its score before the lift.
type found struct {
	tool  uint32 // hash of the ID
	score float32
}

// The letters that keys begin with, by what lies under them.
const (
	keyUse       = 'u'
	keyMissed    = 'm'
	keyApproval  = 'a'
	keyForgotten = "f" // the one entry of this name
)

// entryKey makes a key of what identifies an entry.
func entryKey(letter byte, parts ...string) string {
	h := sha256.New()
	var n [8]byte
	for _, p := range parts {
		binary.LittleEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write([]byte(p))
	}
	return string(letter) + string(h.Sum(nil)[:16])
}

func (u *use) key() string {
	return entryKey(keyUse, u.profile, string(u.tool), requestName(u.request), u.client, string(rune(u.kind)))
}

// requestHash identifies a request, whatever its case and spaces.
func requestHash(text string) uint64 {
	sum := sha256.Sum256([]byte(strings.ToLower(strings.Join(strings.Fields(text), " "))))
	return binary.BigEndian.Uint64(sum[:8])
}

// hash32 is FNV-1a, without an allocation.
func hash32(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}

// newReading keeps of r what evidence needs.
func newReading(r *tool.Reading) *reading {
	out := &reading{}
	for _, t := range r.Terms {
		out.words = append(out.words, hash32(t))
	}
	slices.Sort(out.words)
	out.words = slices.Compact(out.words)
	if len(r.Vector) > 0 {
		out.model = hash32(r.Model)
		out.scale, out.vector = quantizeVector(r.Vector)
	}
	for _, f := range r.Found {
		out.found = append(out.found, found{hash32(string(f.ID)), float32(f.Score)})
	}
	return out
}

// quantizeVector rounds v to a byte a component.
func quantizeVector(v []float32) (scale float32, out []int8) {
	var most float32
	for _, x := range v {
		most = max(most, float32(math.Abs(float64(x))))
	}
	out = make([]int8, len(v))
	if most == 0 || math.IsInf(float64(most), 0) || math.IsNaN(float64(most)) {
		return 0, out
	}
	scale = most / 127
	for i, x := range v {
		out[i] = int8(math.Round(float64(x / scale)))
	}
	return scale, out
}

// merge adds to u what v says of the same. Both orders give the same.
func (u *use) merge(v *use) {
	u.count = uint32(min(uint64(u.count)+uint64(v.count), math.MaxUint32))
	if newer := cmp.Or(cmp.Compare(v.last, u.last), v.reading.compare(u.reading)); newer > 0 {
		u.reading = v.reading // the catalogue, and so what was found, may have changed between them
	}
	u.first, u.last = min(u.first, v.first), max(u.last, v.last)
	u.sessions = slices.Concat(u.sessions, v.sessions)
	slices.Sort(u.sessions)
	u.sessions = slices.Compact(u.sessions)
	u.sessions = u.sessions[:min(len(u.sessions), maxSessions)]
	u.text = max(u.text, v.text)
}

// compare orders readings, somehow.
func (r *reading) compare(s *reading) int {
	return cmp.Or(
		cmp.Compare(r.model, s.model), slices.Compare(r.vector, s.vector), slices.Compare(r.words, s.words),
		slices.CompareFunc(r.found, s.found, func(a, b found) int {
			return cmp.Or(cmp.Compare(a.tool, b.tool),
				cmp.Compare(a.score, b.score))
		}),
	)
}

// missedRequest is a request whose answer was of no use.
type missedRequest struct {
	profile string
	request uint64
	nothing uint32 // how often no tool was said to fit
	ignored uint32 // how often no tool was called
	last    int64
	text    string
	unknown []string // words that no tool knew; only where texts are kept
	shown   []tool.ID
	called  []tool.ID // that were called though they were not shown; sorted
}

// The bounds of what is kept of a missed request.
const (
	maxShown   = 3
	maxCalled  = 4
	maxUnknown = 8
)

func (m *missedRequest) key() string { return entryKey(keyMissed, m.profile, requestName(m.request)) }

// merge adds to m what n says of the same request. Both orders give the same.
func (m *missedRequest) merge(n *missedRequest) {
	m.nothing += n.nothing
	m.ignored += n.ignored
	if cmp.Or(slices.Compare(n.shown, m.shown), slices.Compare(n.unknown, m.unknown)) > 0 {
		m.shown, m.unknown = n.shown, n.unknown
	}
	m.last = max(m.last, n.last)
	m.text = max(m.text, n.text)
	m.called = slices.Concat(m.called, n.called)
	slices.Sort(m.called)
	m.called = slices.Compact(m.called)
	m.called = m.called[:min(len(m.called), maxCalled)]
}

// approval is an operator's word that evidence counts: that of one request for a tool, or all that the tool has.
type approval struct {
	profile string
	tool    tool.ID
	request uint64 // zero for all
	at      int64
}

func (a *approval) key() string {
	return entryKey(keyApproval, a.profile, string(a.tool), requestName(a.request))
}
