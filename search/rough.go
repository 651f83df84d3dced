package search

import "tooldex/index"

// A search over a large catalogue compares all vectors roughly, and exactly those of the tools that are best by words
// and rough cosines together. Every other number is that of the whole catalogue: the word scores, the mean and the
// spread of the cosines. A search that leaves out tools compares all exactly: what a caller may not see must not decide
// which tools are looked at.
const (
	refinedFirst = 256  // nearest by the rough cosine, for the highest cosine
	refined      = 1000 // best by the fused score
)

// compareVectors fills s.cosines.
func (s *scratch) compareVectors(snap *index.Snapshot, r *scored) {
	if r.rough = s.wide && snap.HasCoarse(); r.rough {
		snap.RoughCosines(r.vector, s.cosines)
		return
	}
	snap.Cosines(r.vector, s.cosines)
}

// fuseRough fills s.fused from rough cosines, after it has made those of the best tools exact.
func (r *scored) fuseRough(snap *index.Snapshot, s *scratch) {
	r.among = 0
	for i, ok := range s.allowed {
		if ok {
			r.maxWords, r.maxOwn, r.among = max(r.maxWords, s.words[i]), max(r.maxOwn, s.own[i]), r.among+1
		}
	}
	// The mean and the deviation come from all tools, so that they do not depend on which cosines are made exact.
	mean, deviation := snap.CosineStatistics(r.vector)
	r.mean, r.least = mean, float32(mean-belowMean*deviation)
	// The highest cosine scales all others, so it must be exact before scores are fused.
	r.refine(snap, s.cosines, refinedFirst, s)
	r.fuseAll(snap, s)
	before := r.maxCosine
	r.refine(snap, s.fused, refined, s)
	// A higher cosine turned up among the refined: every fused score changes with it.
	if r.maxCosine != before {
		r.fuseAll(snap, s)
		return
	}
	for _, i := range s.refined {
		s.fused[i] = r.fuseOne(snap, int(i), s)
	}
}

// refine makes exact the cosines of the n allowed tools with the highest scores, and raises r.maxCosine to the highest.
func (r *scored) refine(snap *index.Snapshot, scores []float32, n int, s *scratch) {
	s.refined = s.highest(scores, n, s.refined[:0])
	for _, i := range s.refined {
		s.cosines[i] = snap.Cosine(r.vector, int(i))
		r.maxCosine = max(r.maxCosine, s.cosines[i])
	}
}

// steps is the number of classes into which highest sorts scores.
const steps = 1 << 11

// highest appends to dst the allowed tools with the n highest positive scores, in no order by score. It takes those
// that lie within one step of the last of them, too, up to as many again.
func (s *scratch) highest(scores []float32, n int, dst []int32) []int32 {
	var most float32
	for i, ok := range s.allowed {
		if ok {
			most = max(most, scores[i])
		}
	}
	if most <= 0 {
		return dst
	}
	// A histogram finds the n-th highest score without sorting.
	var count [steps]int32
	by := (steps - 1) / most
	for i, ok := range s.allowed {
		if ok && scores[i] > 0 {
			count[int(scores[i]*by)]++
		}
	}
	least := steps - 1
	for sum := int(count[least]); least > 0 && sum < n; sum += int(count[least]) {
		least--
	}
	for i, ok := range s.allowed {
		if ok && scores[i] > 0 && int(scores[i]*by) >= least {
			if dst = append(dst, int32(i)); len(dst) >= 2*n {
				break
			}
		}
	}
	return dst
}
