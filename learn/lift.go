package learn

import (
	"math"
	"sync/atomic"

	"tooldex/internal/vector"
	"tooldex/tool"
)

// The weights of words and vectors, on the scale of the fused scores of a search.
const (
	wordsWeight  = .3
	vectorWeight = 1.5
	unlike       = .5 // subtracted: a request less like a tool's evidence than this lowers the tool
	deepest      = .4 // how much the best of the tools with evidence is lowered, at most
	leastLeft    = 16 // a tool that is lowered keeps this fraction (1/16) of its score, so that it is still found
)

// setBinding caches the places of a model's tools in the set that was searched last.
type setBinding struct {
	at atomic.Pointer[documentPlaces]
}

// documentPlaces maps the tools of a model to their places in one set.
type documentPlaces struct {
	set  *tool.Set
	docs []int32 // by tool of the model: its place in set.All, or -1
}

// docsOf returns the places of m's tools in set. The slice is shared and must not be changed.
func (m *profileModel) docsOf(set *tool.Set) []int32 {
	if p := m.bound.at.Load(); p != nil && p.set == set {
		return p.docs
	}
	p := &documentPlaces{set: set, docs: make([]int32, len(m.tools))}
	all := set.All()
	k := 0
	for i, id := range m.tools { // both are by ID
		for k < len(all) && all[k].ID() < id {
			k++
		}
		p.docs[i] = -1
		if k < len(all) && all[k].ID() == id {
			p.docs[i] = int32(k)
		}
	}
	m.bound.at.Store(p)
	return p.docs
}

// addLift adds the lift of each allowed tool to scores. docs are the tools' places in scores, words the hashes of the
// request's terms; a nil allowed means all. room is a buffer with one entry for each tool of m.
func (m *profileModel) addLift(docs []int32, words []uint32, vec []float32, allowed []bool, scores, room []float32) {
	if m.trust == 0 && !m.isOrdered() {
		return
	}
	m.scoreTools(docs, words, vec, room)
	best := -1
	var most float32
	for i, d := range docs {
		if d < 0 || allowed != nil && !allowed[d] {
			continue
		}
		if total := scores[d] + room[i]; best < 0 || total > most {
			best, most = i, total
		}
	}
	if best < 0 {
		return
	}
	// Among tools with evidence it decides alone. Against the others it is taken back as far as it holds back the best.
	shift := max(0, -deepest-room[best])
	for i, d := range docs {
		if d < 0 || allowed != nil && !allowed[d] {
			continue
		}
		v := min(room[i]+shift, max(room[i], -deepest)) * max(m.trust, m.floor[i])
		scores[d] = max(scores[d]+v, scores[d]/leastLeft)
	}
}

// isOrdered reports whether an operator has approved of any tool.
func (m *profileModel) isOrdered() bool {
	for _, f := range m.floor {
		if f > 0 {
			return true
		}
	}
	return false
}

// scoreTools writes into out, by tool, how much its evidence supports it: the gains of the request's words and the
// nearness of its vector, less unlike, scaled by the amount of evidence. A vector of another width is ignored.
func (m *profileModel) scoreTools(docs []int32, words []uint32, vec []float32, out []float32) {
	clear(out)
	known := float32(0)
	for _, w := range words {
		s, ok := m.words[w]
		if !ok {
			continue
		}
		known++
		for _, p := range m.posts[s.from:s.to] {
			out[p.tool] += p.gain
		}
	}
	norm := float32(wordsWeight / math.Sqrt(float64(max(1, len(words)))))
	vectors := len(vec) == m.dims && m.dims > 0
	for i, d := range docs {
		if d < 0 {
			continue
		}
		v := float32(norm*(out[i]+float32(known*m.absent[i]))) - unlike
		if vectors {
			v += float32(vectorWeight * (vector.Dot(m.rows[i*m.dims:(i+1)*m.dims], vec) - m.bias[i]))
		}
		out[i] = m.gain[i] * v
	}
}
