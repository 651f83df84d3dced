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
	elsewhere                         // a search did not show the tool, and it was called after it
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

// weightOf returns the weight of one piece of evidence of a kind. What a client says outright counts more than a call,
// and a call that the search did not lead to counts less. The weights are relative to a call after a search, which has
// 1.
func (k EvidenceKind) weightOf() float64 {
	switch k {
	case elsewhere:
		return .5
	case chosen:
		return 1.5
	}
	return 1
}

// maxSessions bounds the sessions that are stored for one piece of evidence. A few are enough to see that there are
// several.
const maxSessions = 4

// use is a piece of evidence: that a client's request was, or was not, served by a tool. Its key is made of profile,
// tool, request, client and kind. It is shared between stores and never changed in place, except by merge on a copy.
// Counts and dates are merged between processes, so each field has a merge that does not depend on the order.
type use struct {
	profile     string
	tool        tool.ID
	client      string
	kind        EvidenceKind
	request     uint64   // requestHash of the text
	count       uint32   // how often it was seen; at least 1
	first, last int64    // milliseconds since 1970
	sessions    []uint32 // hashes, sorted and unique: the lowest maxSessions of all
	text        string   // "" where texts are not kept
	reading     *reading
}

// reading is what is kept of how a request was read. It is immutable once made.
type reading struct {
	words  []uint32 // hashes of its terms, sorted
	model  uint32   // hash of the fingerprint of what made the vector
	scale  float32
	vector []int8  // component i is scale times vector[i]; nil if there was none
	found  []found // the best tools without what was learned, best first
}

// found is a tool that the search found for a request, by the hash of its ID, with its score before the lift.
type found struct {
	tool  uint32 // hash of the ID
	score float32
}

// The first letter of a key says what kind of entry it names.
const (
	keyUse       = 'u'
	keyMissed    = 'm'
	keyApproval  = 'a'
	keyForgotten = "f" // the one entry of this name
)

// entryKey returns the key of an entry: its letter and a hash of what identifies it. Lengths are hashed along, so that
// parts cannot run into each other.
func entryKey(letter byte, parts ...string) string {
	h := sha256.New()
	var n [8]byte
	for _, p := range parts {
		binary.LittleEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write([]byte(p))
	}
	// 128 bits are enough for no two keys to be equal by chance
	return string(letter) + string(h.Sum(nil)[:16])
}

// key identifies evidence of one kind, by one client, that a tool served a request in a profile. Uses of equal keys are
// merged.
func (u *use) key() string {
	return entryKey(keyUse, u.profile, string(u.tool), requestName(u.request), u.client, string(rune(u.kind)))
}

// requestHash identifies a request, ignoring case and the number of spaces.
func requestHash(text string) uint64 {
	sum := sha256.Sum256([]byte(strings.ToLower(strings.Join(strings.Fields(text), " "))))
	return binary.BigEndian.Uint64(sum[:8])
}

// hashFNV is FNV-1a, without an allocation.
func hashFNV(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}

// newReading returns what evidence keeps of r; it shares nothing with it. Terms and IDs are kept as hashes, which
// can be compared and not read.
func newReading(r *tool.Reading) *reading {
	out := &reading{}
	for _, t := range r.Terms {
		out.words = append(out.words, hashFNV(t))
	}
	slices.Sort(out.words)
	out.words = slices.Compact(out.words)
	if len(r.Vector) > 0 {
		out.model = hashFNV(r.Model)
		out.scale, out.vector = quantizeVector(r.Vector)
	}
	for _, f := range r.Found {
		out.found = append(out.found, found{hashFNV(string(f.ID)), float32(f.Score)})
	}
	return out
}

// quantizeVector rounds v to a byte a component, relative to the largest. A vector without a finite one becomes zero.
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

// mergeUse adds v, which has the same key, to u. The result does not depend on the order of merges, so that processes
// that write at the same time agree.
func (u *use) mergeUse(v *use) {
	u.count = uint32(min(uint64(u.count)+uint64(v.count), math.MaxUint32))
	if newer := cmp.Or(cmp.Compare(v.last, u.last), v.reading.compareReadings(u.reading)); newer > 0 {
		u.reading = v.reading // the catalogue, and so what was found, may have changed between them
	}
	u.first, u.last = min(u.first, v.first), max(u.last, v.last)
	u.sessions = slices.Concat(u.sessions, v.sessions)
	slices.Sort(u.sessions)
	u.sessions = slices.Compact(u.sessions)
	u.sessions = u.sessions[:min(len(u.sessions), maxSessions)]
	// any choice that both processes make alike
	u.text = max(u.text, v.text)
}

// compareReadings orders readings. The order has no meaning; it only decides the same way in every process.
func (r *reading) compareReadings(s *reading) int {
	return cmp.Or(
		cmp.Compare(r.model, s.model), slices.Compare(r.vector, s.vector), slices.Compare(r.words, s.words),
		slices.CompareFunc(r.found, s.found, func(a, b found) int {
			return cmp.Or(cmp.Compare(a.tool, b.tool), cmp.Compare(a.score, b.score))
		}),
	)
}

// missedRequest is a request that found no tool, or whose tools were not called.
type missedRequest struct {
	profile string
	request uint64
	nothing uint32 // answers in which no tool fitted with confidence
	ignored uint32 // answers after which none of the tools shown was called
	last    int64
	text    string
	unknown []string // words that no tool has; only where texts are kept
	shown   []tool.ID
	called  []tool.ID // called although not shown; sorted
}

// The bounds of what is kept of a missed request.
const (
	maxShown   = 3
	maxCalled  = 4
	maxUnknown = 8
)

// key identifies a request of a profile that nothing served.
func (m *missedRequest) key() string { return entryKey(keyMissed, m.profile, requestName(m.request)) }

// mergeMissed adds n, which is of the same request, to m. The result does not depend on the order of merges.
func (m *missedRequest) mergeMissed(n *missedRequest) {
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

// approval is an operator's decision that evidence counts: that of one request for a tool, or all that the tool has.
type approval struct {
	profile string
	tool    tool.ID
	request uint64 // zero for all
	at      int64
}

func (a *approval) key() string {
	return entryKey(keyApproval, a.profile, string(a.tool), requestName(a.request))
}
