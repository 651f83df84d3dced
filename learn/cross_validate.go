package learn

import "slices"

// folds is in how many parts the evidence is put to the test: each part by a model of the others.
const folds = 4

// mostTested bounds the requests that a model is tested by.
const mostTested = 2000

// nearlyBest is the part of what the best share gains over none that a larger share may fall short of it.
const nearlyBest = .05

// liftShares are those of a lift that are tried.
func liftShares() []float32 { return []float32{0, .25, .5, .75, 1} }

// crossValidate returns the share of the lifts that would have served the requests of the evidence best, had each not
// been known: where a search finds by itself what is called, the evidence has nothing to add and its chances are only
// noise. The rank that a called tool has among those that were found and those that are lifted decides.
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
	for k := len(gains) - 1; k > best; k-- { // the whole model knows more than those that were tested
		if gains[best]-gains[k] < nearlyBest*(gains[best]-gains[0]) {
			return liftShares()[k]
		}
	}
	return liftShares()[best]
}

// crossValidation puts requests to a model whose answers are known.
type crossValidation struct {
	m      *profileModel
	docs   []int32
	hashes map[uint32]int // by tool
	room   []float32
	scores []float32
	vector []float32
}

// newCrossValidation returns one without outcomes for a model.
func newCrossValidation(m *profileModel) *crossValidation {
	e := &crossValidation{
		m: m, docs: make([]int32, len(m.tools)), hashes: make(map[uint32]int, len(m.tools)),
		room: make([]float32, len(m.tools)),
	}
	for i, id := range m.tools {
		e.docs[i] = int32(i)
		e.hashes[hash32(string(id))] = i
	}
	return e
}

// addOutcome adds to gains, by share, how well the tool of u does: 1 where it is first, and the less the further down.
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
	right, own := hash32(string(u.use.tool)), -1
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
