package learn

import (
	"maps"
	"math"
	"slices"
	"time"

	"tooldex/tool"
)

// The constants of the method, chosen by replaying recorded use in the quality run.
const (
	// requests unlike any other that are taken to have been made too, so that a few are not all there is
	unseen     = 20
	prior      = 1   // requests that a tool's word rates are smoothed by
	priorShown = 200 // requests that the rates of what it was passed over for are smoothed by
	shrink     = 8   // requests at which a tool's lift has half of its height
	passedOver = 4   // places of an answer in which a tool that was not called is passed over
	wrongMass  = 20  // how many times passed over one refusal counts for
	askedFor   = 8   // times by which an operator's approval strengthens evidence
)

// What makes evidence enough: requests, where each counts once for each of at most three sessions that made it.
const (
	leastSupport  = 6
	leastRequests = 2
	leastSessions = 2
	mostOfOne     = 3
)

// profileModel is the evidence of one profile in the form that lifts need. It is immutable after crossValidate, and
// shared by searches; only bound, a cache, changes. A lift is the logarithm of how much likelier a tool is for this
// request than for any, by the words of the request and by its vector, times gain and trust. Tools without enough
// evidence have no lift.
type profileModel struct {
	tools  []tool.ID
	gain   []float32 // by tool, 0 to 1: how far the amount of evidence supports its lift
	absent []float32 // by tool: logarithm that a word adds which its evidence does not have
	floor  []float32 // by tool: least share of the lift, set by an operator's approval
	// words has the range of posts for the hash of each word.
	words map[uint32]span
	// posts has the entries of all words, one word after the other, each sorted by tool.
	posts []post
	dims  int
	rows  []float32 // dims floats a tool: its mean request, less that of all
	bias  []float32 // by tool: the product of its row and the mean of all
	trust float32   // the share of the lifts that the evidence supports
	bound setBinding
}

// span is a range of a slice, from its first index to behind its last.
type span struct{ from, to int32 }

// post is what a word adds for a tool, beyond absent.
type post struct {
	tool int32
	gain float32
}

// weighed is evidence with its weight today.
type weighed struct {
	*use
	weight float64
	tool   int32 // index in the model's tools; -1 if the tool has too little evidence
}

// training is the weighed evidence of one profile, from which a model is built.
type training struct {
	uses     []weighed // by key
	approved map[tool.ID]bool
	dims     int
	model    uint32 // hash of the fingerprint whose vectors count
	relaxed  bool   // half the support is enough, because a part of the evidence is left out for a test
}

// newTraining selects the evidence of a profile and weighs it by kind, count, age in whole days and approval. It goes
// by key, so that sums have the same bits in every process.
func newTraining(b *evidenceStore, profile string, now time.Time, fingerprint uint32) *training {
	t := &training{approved: map[tool.ID]bool{}, model: fingerprint}
	requests := map[string]bool{} // approved, by tool and request
	for _, a := range b.approved {
		if a.profile == profile {
			t.approved[a.tool] = true
			requests[string(a.tool)+requestName(a.request)] = true
		}
	}
	// Age counts in whole days, so that the model changes once a day and not with every search.
	today := now.UnixMilli() / day
	for _, k := range slices.Sorted(maps.Keys(b.uses)) {
		u := b.uses[k]
		if u.profile != profile {
			continue
		}
		age := float64(max(0, today-u.last/day)) * day
		// The count enters as a logarithm: a request that one client repeats a hundred times is not a hundred pieces of
		// evidence.
		w := u.kind.weightOf() * (1 + math.Log2(float64(u.count))) * math.Exp2(-age/float64(halfLife.Milliseconds()))
		if requests[string(u.tool)+requestName(u.request)] {
			w *= askedFor
		}
		t.uses = append(t.uses, weighed{use: u, weight: w})
		if t.dims == 0 && u.reading.model == fingerprint {
			t.dims = len(u.reading.vector)
		}
	}
	return t
}

const day = 24 * 60 * 60 * 1000 // milliseconds

// addUsage adds the weight of each tool's evidence, except that against it, to sum.
func (t *training) addUsage(sum map[tool.ID]float64) {
	for _, u := range t.uses {
		if u.kind != Wrong {
			sum[u.use.tool] += u.weight
		}
	}
}

// toolsWithEvidence returns the tools with enough evidence or an approval, sorted by ID.
func (t *training) toolsWithEvidence() []tool.ID {
	type support struct {
		requests map[uint64]map[uint32]bool // the sessions of each
		sessions map[uint32]bool
	}
	all := map[tool.ID]*support{}
	for i := range t.uses {
		u := t.uses[i].use
		s := all[u.tool]
		if s == nil {
			s = &support{map[uint64]map[uint32]bool{}, map[uint32]bool{}}
			all[u.tool] = s
		}
		if s.requests[u.request] == nil {
			s.requests[u.request] = map[uint32]bool{}
		}
		for _, id := range u.sessions {
			s.requests[u.request][id] = true
			s.sessions[id] = true
		}
	}
	least := leastSupport
	if t.relaxed {
		least /= 2
	}
	var out []tool.ID
	for id, s := range all {
		n := 0
		for _, sessions := range s.requests {
			// a single request, however often it was made, does not make evidence enough
			n += min(len(sessions), mostOfOne)
		}
		if t.approved[id] || n >= least && len(s.requests) >= leastRequests && len(s.sessions) >= leastSessions {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// pairCounts are the weighted counts from which a model is computed.
type pairCounts struct {
	n, refused []float64 // by tool: weight of its evidence, and of that against it
	passed     []float64 // by tool: how often it was passed over
	total      float64
	// words is keyed by pairKey; total is the weight of all evidence but refusals.
	words   map[uint64]*tally
	overall map[uint32]float64 // by word
}

// tally holds the weights of a word with a tool: in requests that called the tool, and in those that passed it over.
type tally struct{ asked, passed float64 }

// pairKey packs a word and the place of a tool into one key.
func pairKey(word uint32, t int32) uint64 { return uint64(word)<<32 | uint64(uint32(t)) }

// buildModel builds a model of the evidence. It depends on nothing else, to the bit. It sets the tool of each weighed
// use.
func (t *training) buildModel() *profileModel {
	m := &profileModel{tools: t.toolsWithEvidence(), dims: t.dims, trust: 1}
	if len(m.tools) == 0 {
		return m
	}
	at := make(map[tool.ID]int32, len(m.tools))
	hashes := make(map[uint32]int32, len(m.tools))
	for i, id := range m.tools {
		at[id] = int32(i)
		hashes[hashFNV(string(id))] = int32(i)
	}
	for i := range t.uses {
		place, ok := at[t.uses[i].use.tool]
		if !ok {
			place = -1
		}
		t.uses[i].tool = place
	}
	c := t.countPairs(len(m.tools), hashes)
	m.placeWords(c)
	m.placeVectors(t, c)
	m.gain, m.floor = make([]float32, len(m.tools)), make([]float32, len(m.tools))
	for i, id := range m.tools {
		n := c.n[i] + c.refused[i]
		m.gain[i] = float32(n / (n + shrink))
		if t.approved[id] {
			m.floor[i] = leastApproved
		}
	}
	return m
}

// leastApproved is the least share of its lift that an approved tool gets, however little the evidence supports.
const leastApproved = .75

// countPairs counts, for each word and tool, the weight of requests with the word that the tool served and of those it
// was passed over in. hashes maps the hash of a tool's ID to its index.
func (t *training) countPairs(tools int, hashes map[uint32]int32) *pairCounts {
	c := &pairCounts{
		n: make([]float64, tools), refused: make([]float64, tools), passed: make([]float64, tools),
		words: map[uint64]*tally{}, overall: map[uint32]float64{},
	}
	for _, u := range t.uses {
		if u.kind == Wrong {
			if u.tool >= 0 {
				c.countWrong(u)
			}
			continue
		}
		// Evidence for tools without enough support still counts for how common a word is.
		c.total += u.weight
		for _, w := range u.reading.words {
			c.overall[w] += u.weight
		}
		if u.tool >= 0 {
			c.n[u.tool] += u.weight
			for _, w := range u.reading.words {
				c.pairTally(w, u.tool).asked += u.weight
			}
		}
	}
	for _, u := range t.uses { // once it is known which words each tool has
		if u.kind == Wrong {
			continue
		}
		// A tool that was shown near the top and not called says something about the words of the request, even if
		// another tool was called.
		for _, f := range u.reading.found[:min(len(u.reading.found), passedOver)] {
			other, ok := hashes[f.tool]
			if !ok || other == u.tool {
				continue
			}
			c.passed[other] += u.weight
			for _, w := range u.reading.words {
				if n := c.words[pairKey(w, other)]; n != nil {
					n.passed += u.weight
				}
			}
		}
	}
	return c
}

// pairTally returns the tally of a word and a tool, made if it is the first.
func (c *pairCounts) pairTally(word uint32, t int32) *tally {
	n := c.words[pairKey(word, t)]
	if n == nil {
		n = &tally{}
		c.words[pairKey(word, t)] = n
	}
	return n
}

// countWrong adds evidence against a tool: its words count as words of requests that the tool was passed over for.
func (c *pairCounts) countWrong(u weighed) {
	c.refused[u.tool] += u.weight
	c.passed[u.tool] += wrongMass * u.weight
	for _, w := range u.reading.words {
		c.pairTally(w, u.tool).passed += wrongMass * u.weight
	}
}

// placeWords fills in what words add: the logarithm of how much likelier a word is in the requests that a tool served
// than in those of all and those it was passed over for.
func (m *profileModel) placeWords(c *pairCounts) {
	m.absent = make([]float32, len(m.tools))
	for i, n := range c.n {
		m.absent[i] = float32(math.Log(prior / (n + prior)))
	}
	m.words = make(map[uint32]span, len(c.overall))
	for w := range c.overall {
		m.words[w] = span{}
	}
	m.posts = make([]post, 0, len(c.words))
	for _, key := range slices.Sorted(maps.Keys(c.words)) {
		word, t := uint32(key>>32), int32(uint32(key))
		n := c.words[key]
		// The rates are smoothed: with little evidence a word is taken to be as likely for the tool as for all.
		rate := c.overall[word] / (c.total + unseen)
		if rate == 0 { // only in refusals
			rate = .5 / (c.total + unseen)
		}
		against := (priorShown*rate + n.passed) / (priorShown + c.passed[t])
		gain := math.Log((n.asked + prior*against) / (c.n[t] + prior) / against)
		if n.asked == 0 {
			gain = math.Log(prior * rate / (c.n[t] + prior) / against)
		}
		s := m.words[word]
		if s.to == 0 {
			s.from = int32(len(m.posts))
		}
		m.posts = append(m.posts, post{t, float32(gain) - m.absent[t]})
		s.to = int32(len(m.posts))
		m.words[word] = s
	}
}

// placeVectors fills in how a tool's requests differ from all.
func (m *profileModel) placeVectors(t *training, c *pairCounts) {
	if m.dims == 0 {
		return
	}
	mean := make([]float64, m.dims)
	sums := make([]float64, m.dims*len(m.tools))
	weights := make([]float64, len(m.tools))
	total := 0.
	for _, u := range t.uses {
		r := u.reading
		if r.model != t.model || len(r.vector) != m.dims {
			continue
		}
		f := u.weight * float64(r.scale)
		if u.kind != Wrong {
			total += u.weight
			for k, x := range r.vector {
				mean[k] += f * float64(x)
			}
		} else {
			f = -f
		}
		if u.tool < 0 {
			continue
		}
		row := sums[int(u.tool)*m.dims:][:m.dims]
		for k, x := range r.vector {
			row[k] += f * float64(x)
		}
		if u.kind == Wrong {
			weights[u.tool] -= u.weight
		} else {
			weights[u.tool] += u.weight
		}
	}
	if total == 0 {
		m.dims = 0
		return
	}
	for k := range mean {
		mean[k] /= total + unseen
	}
	m.rows, m.bias = make([]float32, len(sums)), make([]float32, len(m.tools))
	for i := range m.tools {
		// evidence against a tool counts in the divisor and with a negative sign in the sum
		n := max(c.n[i]+c.refused[i], 1e-9)
		var bias float64
		for k := range mean {
			x := (sums[i*m.dims+k] - weights[i]*mean[k]) / n
			m.rows[i*m.dims+k] = float32(x)
			bias += mean[k] * x
		}
		m.bias[i] = float32(bias)
	}
}

// hasTool reports whether there is enough evidence for a tool.
func (m *profileModel) hasTool(id tool.ID) bool {
	_, ok := slices.BinarySearch(m.tools, id)
	return ok
}
