package search

import (
	"tooldex/index"
	"tooldex/knowledge"
)

// A search over a large catalogue compares all vectors roughly, and exactly those of the tools that are best by words
// and rough cosines together. Every other number is that of the whole catalogue: the word scores, the mean and the
// spread of the cosines. Where a caller's permissions leave out tools, all others are compared exactly: what a caller
// may not see must not decide which tools are looked at.
const (
	refinedFirst = 256  // nearest by the rough cosine, for the highest cosine
	refined      = 1000 // best by the fused score, at least
	refinedShare = 32   // one part in this many of the tools, if that is more
)

// compareVectors fills s.cosines for the allowed tools.
func (s *scratch) compareVectors(snap *index.Snapshot, r *scored) {
	if r.rough = s.wide && snap.HasCoarse(); r.rough {
		snap.RoughCosines(r.vector, s.cosines)
		return
	}
	if s.wide {
		snap.Cosines(r.vector, s.cosines)
		return
	}
	s.compareExactly(snap, r, s.allowed)
}

// compareExactly fills s.cosines for some tools.
func (s *scratch) compareExactly(snap *index.Snapshot, r *scored, some []bool) {
	for i, is := range some {
		if is {
			s.cosines[i] = snap.Cosine(r.vector, i)
		}
	}
}

// fuseRough fills s.fused from rough cosines, after it has made those of the best tools exact.
func (r *scored) fuseRough(snap *index.Snapshot, s *scratch) {
	r.among, r.maxWords, r.maxOwn = float64(s.count), s.highestAllowed(s.words), s.highestAllowed(s.own)
	// The mean and the deviation come from all tools, so that they do not depend on which cosines are made exact.
	mean, deviation := snap.CosineStatistics(r.vector)
	r.mean, r.least = mean, float32(mean-belowMean*deviation)
	// The highest cosine scales all others, so it must be exact before scores are fused.
	r.refine(snap, s.cosines, refinedFirst, s)
	r.fuseRoughly(snap, s)
	before := r.maxCosine
	r.refine(snap, s.fused, max(refined, len(s.fused)/refinedShare), s)
	// A higher cosine turned up among the refined: every fused score changes with it.
	if r.maxCosine != before {
		r.fuseRoughly(snap, s)
	}
	for _, i := range s.refined {
		s.fused[i] = r.fuseOne(snap, int(i), s)
	}
}

// highestAllowed returns the highest positive score of an allowed tool; 0 if there is none.
func (s *scratch) highestAllowed(scores []float32) (most float32) {
	for i, x := range scores {
		if x > most && s.allowed[i] {
			most = x
		}
	}
	return most
}

// fuseRoughly is fuseAll up to rounding, in a fraction of the time.
func (r *scored) fuseRoughly(snap *index.Snapshot, s *scratch) {
	words, own, cosine, base := r.factors()
	n := len(s.fused)
	w, o, c := s.words[:n], s.own[:n], s.cosines[:n]
	for i := range s.fused {
		s.fused[i] = words*w[i] + own*o[i] + cosine*c[i] + base
	}
	if r.asked == 0 { // nothing that a tool could contradict
		return
	}
	for i := range s.fused {
		if r.asked.Contradicts(knowledge.Effect(snap.Class(i))) {
			s.fused[i] *= oppositeAction
		}
	}
}

// factors returns what fuseScore multiplies words, own and cosine with, and what it adds.
func (r *scored) factors() (words, own, cosine, base float32) {
	if r.maxWords > 0 {
		words = 1 / r.maxWords
	}
	if r.maxOwn > 0 {
		long := r.length()
		words, own = words*(1-long), long/r.maxOwn
	}
	if r.vector != nil && r.maxCosine > r.least {
		cosine = semanticWeight / (r.maxCosine - r.least)
	}
	return words, own, cosine, -cosine * r.least
}

// refine makes exact the cosines of the n allowed tools with the highest scores, and raises r.maxCosine to the highest.
func (r *scored) refine(snap *index.Snapshot, scores []float32, n int, s *scratch) {
	s.refined = s.highest(scores, n, s.refined[:0])
	for _, i := range s.refined {
		s.cosines[i] = snap.Cosine(r.vector, int(i))
		r.maxCosine = max(r.maxCosine, s.cosines[i])
	}
}

// scoredTool is a tool that may be among the best.
type scoredTool struct {
	score float32
	doc   int32
}

// before reports whether a is better than b; ties go by document.
func (a scoredTool) before(b scoredTool) bool {
	return a.score > b.score || a.score == b.score && a.doc < b.doc
}

// highest appends to dst the n allowed tools with the highest positive scores, in any order; ties go by document.
func (s *scratch) highest(scores []float32, n int, dst []int32) []int32 {
	// Tools that are above the n-th of those before them are collected, and all but the n best dropped when they are
	// too many. Most tools cost one comparison.
	best, least := s.best2n[:0], float32(0)
	for i, x := range scores {
		if x <= least || !s.allowed[i] {
			continue
		}
		if best = append(best, scoredTool{x, int32(i)}); len(best) == 2*n {
			selectBest(best, n)
			best = best[:n]
			least = best[n-1].score
		}
	}
	if len(best) > n {
		selectBest(best, n)
		best = best[:n]
	}
	for _, b := range best {
		dst = append(dst, b.doc)
	}
	s.best2n = best
	return dst
}

// selectBest moves the n best of list to its front, the last of them to the end of these. list is longer than n > 0.
func selectBest(list []scoredTool, n int) {
	low, high := 0, len(list)-1
	for low < high {
		// the middle one of three, so that sorted lists take no longer
		middle := (low + high) / 2
		if list[middle].before(list[low]) {
			list[middle], list[low] = list[low], list[middle]
		}
		if list[high].before(list[low]) {
			list[high], list[low] = list[low], list[high]
		}
		if list[high].before(list[middle]) {
			list[high], list[middle] = list[middle], list[high]
		}
		pivot := list[middle]
		i, j := low, high
		for i <= j {
			for list[i].before(pivot) {
				i++
			}
			for pivot.before(list[j]) {
				j--
			}
			if i <= j {
				list[i], list[j] = list[j], list[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case n-1 <= j:
			high = j
		case n-1 >= i:
			low = i
		default:
			return
		}
	}
}
