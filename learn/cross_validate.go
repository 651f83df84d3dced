package learn

import "slices"

// folds is the number of parts of the evidence: each part is tested by a model of the others.
const folds = 4

// mostTested bounds the requests that are tested. More are sampled by hash, so that the sample is always the same.
const mostTested = 2000

// nearlyBest is how much of the gain of the best share over none may be given up for a larger share.
const nearlyBest = .05

// liftShares returns the shares of a lift that are tried, ascending.
func liftShares() []float32 { return []float32{0, .25, .5, .75, 1} }

// crossValidate returns the share of the lifts that ranks best when each request is scored by a model which does not
// know it. Where the search alone finds the tools that are called, evidence adds only noise, and the share is small.
// What counts is the rank of the called tool among those that were found and those that are lifted.
func (t *training) crossValidate() float32 {
	parts := make([]*training, folds)
	for i := range parts {
		parts[i] = &training{approved: t.approved, dims: t.dims, model: t.model, relaxed: true}
	}
	fold := func(u *use) int { return int(u.request % folds) }
	for _, u := range t.uses {
		for i := range parts {
			if fold(u.use) != i {
				parts[i].uses = append(parts[i].uses, u)
			}
		}
	}
	gains := make([]float64, len(liftShares()))
	every := uint64(len(t.uses)/mostTested + 1)
	for i, p := range parts {
		m := p.buildModel()
		if len(m.tools) == 0 {
			continue
		}
		e := newCrossValidation(m)
		for _, u := range t.uses {
			if fold(u.use) == i && u.kind != Wrong && u.request/folds%every == 0 {
				e.addOutcome(u, gains)
			}
		}
	}
	best := len(gains) - 1
	for k := len(gains) - 2; k >= 0; k-- {
		if gains[k] > gains[best]+1e-9 {
			best = k
		}
	}
	for k := len(gains) - 1; k > best; k-- { // the whole model has more evidence than those tested
		if gains[best]-gains[k] < nearlyBest*(gains[best]-gains[0]) {
			return liftShares()[k]
		}
	}
	return liftShares()[best]
}

// crossValidation scores requests whose tool is known by one model. Its slices are buffers, reused for each request.
type crossValidation struct {
	m      *profileModel
	docs   []int32
	hashes map[uint32]int // by tool
	room   []float32
	scores []float32
	vector []float32
}

// newCrossValidation prepares the test of a model, for the documents of a set that has just the model's tools.
func newCrossValidation(m *profileModel) *crossValidation {
	e := &crossValidation{
		m: m, docs: make([]int32, len(m.tools)), hashes: make(map[uint32]int, len(m.tools)),
		room: make([]float32, len(m.tools)),
	}
	for i, id := range m.tools {
		e.docs[i] = int32(i)
		e.hashes[hashFNV(string(id))] = i
	}
	return e
}

// addOutcome adds to gains, by share, how well the tool of u ranks: its weight over the square of the rank. It changes
// the trust of the model.
func (e *crossValidation) addOutcome(u weighed, gains []float64) {
	r := u.reading
	if len(r.found) == 0 {
		return
	}
	if e.vector = e.vector[:0]; len(r.vector) == e.m.dims {
		for _, x := range r.vector {
			e.vector = append(e.vector, r.scale*float32(x))
		}
	}
	// Documents are the model's tools, then those that were found and have no evidence. What was not found lies below
	// the last that was, by as much as one place in those that were found on average makes.
	last := len(r.found) - 1
	least := r.found[last].score - (r.found[0].score-r.found[last].score)/float32(max(1, last))
	right, own := hashFNV(string(u.use.tool)), -1
	scores := e.scores[:0]
	for range e.m.tools {
		scores = append(scores, least)
	}
	for _, f := range r.found {
		i, ok := e.hashes[f.tool]
		if !ok {
			i = len(scores)
			scores = append(scores, 0)
		}
		scores[i] = f.score
		if f.tool == right {
			own = i
		}
	}
	e.scores = scores
	if own < 0 {
		i, ok := e.hashes[right]
		if !ok {
			return // neither found nor lifted: no share helps
		}
		own = i
	}
	plain := slices.Clone(scores)
	for k, share := range liftShares() {
		copy(scores, plain)
		e.m.trust = share
		e.m.addLift(e.docs, r.words, e.vector, nil, scores, e.room)
		rank := 1
		for i, s := range scores {
			if s > scores[own] || s == scores[own] && i < own {
				rank++
			}
		}
		gains[k] += u.weight / float64(rank*rank)
	}
}
