package knowledge

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"tooldex/embed"
	"tooldex/index"
	"tooldex/internal/sanitize"
	"tooldex/internal/vector"
)

// Loan is what archetypes lend to one tool.
type Loan struct {
	From  []Lent       // nearest first; those after the lenders have weight 0 and only show what the tool resembles
	Terms []index.Term // words of their requests and synonyms, weighted
	// mean of their requests' vectors, shorter than one for a tool of no known kind; nil if nothing was lent
	Vector []float32
}

// Lent is an archetype that a tool resembles.
type Lent struct {
	Archetype int
	Like      float32 // 0 to 1, comparable between tools
	Weight    float32 // weight of its words, 1 for the greatest
}

// Lending is soft: many archetypes, weighted by (likeness / best)^sharpness. The figures were measured on tools of
// kinds that the archetypes cover and of kinds that they do not.
const (
	// Counts are of archetypes or of terms; all other figures are shares or exponents.
	lenders    = 16
	resembled  = 48 // archetypes that a tool is said to resemble
	sharpness  = 4
	wordsShare = .2  // of likeness; the rest is cosine
	contrary   = .75 // by which likeness is multiplied where the effects of two operations differ
	candidates = 400
	maxTerms   = 220 // of one loan, the heaviest
	rivalry    = 2.0 // by this power of (likeness / likeness of the server's likest tool) an archetype lends fewer words
	surely     = .65 // likeness from which a tool is of a known kind; below it all that is lent shrinks
	doubt      = 2.0 // by this power of the likeness
)

// Lender matches tools to archetypes. It keeps what it has read of them, so use one Lender for one import and then drop
// it. It is safe for concurrent use.
type Lender struct {
	// Without reports the requests that must not be lent; nil means none. Set it before the first Lend. It is called
	// concurrently.
	Without func(utterance string) bool

	base *Base
	enc  Encoder
	// archetypes are set by the first worker, under once.
	archetypes *archetypes
	once       sync.Once
	// blocks has an entry for each block of texts, for Without alone.
	blocks  []onceBlock
	workers sync.Pool // of *lendWorker
}

// onceBlock is one block of the archetypes' texts, decompressed when it is first needed.
type onceBlock struct {
	once sync.Once
	text []string
	err  error
}

// Lender returns a Lender that embeds with enc, which must be the model that the base was compiled with.
func (b *Base) Lender(enc Encoder) *Lender {
	return &Lender{base: b, enc: enc, blocks: make([]onceBlock, b.texts.n)}
}

// Lend returns a loan for each tool, in the order of texts, which are made by [ToolText]. Tools of one server compete
// for the words of an archetype: servers has the server of each tool, "" for a tool that competes with none, and may be
// nil. So a loan depends on the tools of the same server in the same call, and on nothing else. Lend uses all
// processors, and ends early with ctx's error when ctx ends. The first error of reading the base ends it too.
func (l *Lender) Lend(ctx context.Context, texts []embed.Document, servers []string) ([]Loan, error) {
	// The first pass finds the archetypes near each tool. Only then is it known which tool of a server is most similar
	// to an archetype, which the second pass needs to distribute the words.
	near, loans := make([][]Lent, len(texts)), make([]Loan, len(texts))
	err := l.eachTool(ctx, len(texts), func(w *lendWorker, i int) error {
		near[i] = w.nearestArchetypes(&texts[i])
		return nil
	})
	if err != nil {
		return nil, err
	}
	best := map[string]map[int]float32{} // by server and archetype, the likeness of the server's likest tool
	for i, server := range servers {
		if server == "" {
			continue
		}
		of := best[server]
		if of == nil {
			of = map[int]float32{}
			best[server] = of
		}
		for _, a := range near[i] {
			of[a.Archetype] = max(of[a.Archetype], a.Like)
		}
	}
	err = l.eachTool(ctx, len(texts), func(w *lendWorker, i int) (err error) {
		var rivals map[int]float32
		if i < len(servers) {
			rivals = best[servers[i]]
		}
		loans[i], err = w.lendTo(&texts[i], near[i], rivals)
		return err
	})
	if err != nil {
		return nil, err
	}
	return loans, nil
}

// eachTool calls do for 0 to n-1 on all processors, until the first error or the end of ctx, and returns that error.
func (l *Lender) eachTool(ctx context.Context, n int, do func(w *lendWorker, i int) error) error {
	var (
		next  atomic.Int64
		group sync.WaitGroup
		first atomic.Pointer[error]
	)
	for range min(runtime.GOMAXPROCS(0), max(n, 1)) {
		group.Go(func() {
			// Each goroutine takes the next index from a common counter, so that a slow tool delays no others. The
			// callers' functions write to the place of their index in a slice, which therefore needs no lock.
			w := l.takeWorker()
			defer l.workers.Put(w)
			for {
				i := int(next.Add(1)) - 1
				if i >= n || ctx.Err() != nil || first.Load() != nil {
					return
				}
				if err := do(w, i); err != nil {
					first.CompareAndSwap(nil, &err)
					return
				}
			}
		})
	}
	group.Wait()
	if err := first.Load(); err != nil {
		return *err
	}
	return ctx.Err()
}

// lendWorker holds the buffers that one goroutine reuses from tool to tool.
type lendWorker struct {
	*Lender
	an      Analyzer
	words   []uint16
	query   []float32
	mean    []float32
	likes   []float32
	order   []int32
	highest []uint16
	sums    termSums
	// share of each domain in what is lent
	shares map[int]float32
}

// takeWorker returns the buffers that one goroutine needs to lend, those of an earlier call if there are some.
func (l *Lender) takeWorker() *lendWorker {
	if w, ok := l.workers.Get().(*lendWorker); ok {
		return w
	}
	n := l.base.Len()
	l.once.Do(func() { l.archetypes = l.base.unpackArchetypes(l.enc.Dims) })
	return &lendWorker{
		Lender: l, words: make([]uint16, n), query: make([]float32, l.enc.Dims), mean: make([]float32, l.enc.Dims),
		order: make([]int32, n), highest: make([]uint16, blocksOf(n)), shares: map[int]float32{},
	}
}

// lendTo returns what the nearest archetypes lend to one tool, given its texts. Rivals has the highest likeness of any
// tool of its server to an archetype; nil if there is no other. An archetype lends its words above all to the likest of
// them, so that tools of one server, which are like the same archetypes, are told apart. The mean vector does not
// compete: it is too coarse to gain by it. The result shares nothing with the buffers.
func (w *lendWorker) lendTo(t *embed.Document, near []Lent, rivals map[int]float32) (Loan, error) {
	if len(near) == 0 {
		return Loan{}, nil
	}
	loan := Loan{From: near, Vector: make([]float32, w.enc.Dims)}
	w.sums.reset(len(w.archetypes.said.stems))
	clear(w.shares)
	lending := loan.From[:min(lenders, len(near))]
	var most float32
	// The weight falls steeply with likeness: at half the best likeness an archetype lends a sixteenth of its words.
	for k := range lending {
		f := &lending[k]
		f.Weight = power(f.Like/near[0].Like, sharpness)
		if like := rivals[f.Archetype]; like > 0 {
			f.Weight *= power(f.Like/like, rivalry)
		}
		most = max(most, f.Weight)
	}
	// The heaviest gets weight 1, whatever its rivals took, so that a tool with many similar ones on its server still
	// borrows with full weight from some archetype.
	var total float32
	for k := range lending {
		f := &lending[k]
		f.Weight /= most
		err := w.addSayings(f.Archetype, f.Weight, loan.Vector, power(f.Like/near[0].Like, sharpness))
		if err != nil {
			return Loan{}, err
		}
		w.shares[w.base.domain(f.Archetype)] += f.Weight
		total += f.Weight
	}
	normalize(loan.Vector)
	for d := range w.shares {
		w.shares[d] /= total
	}
	// The glossary adds what people call the objects and operations in the tool's name, in the domains that lent most.
	words := w.base.glossary()
	words.addTerms(w.an.Terms(nil, t.Name), w.shares, &w.sums)
	// A tool that resembles no archetype well may be of a kind that the knowledge does not cover. What it borrows
	// shrinks with the doubt instead of ending at a threshold, so that a small change of its text changes little.
	sure := power(min(1, near[0].Like/surely), doubt)
	for i := range loan.Vector {
		loan.Vector[i] *= sure
	}
	loan.Terms = w.sums.heaviest(maxTerms, sure, w.archetypes.said.stems)
	return loan, nil
}

// power returns x to the power of y.
func power(x float32, y float64) float32 { return float32(math.Pow(float64(x), y)) }

// nearestArchetypes scores candidates by words and cosine and returns the most similar, at most resembled. Only the
// beginning of a description counts for words.
func (w *lendWorker) nearestArchetypes(t *embed.Document) []Lent {
	clear(w.words)
	terms := w.an.Terms(nil, t.Name+" "+sanitize.Cut(t.Description, 200))
	slices.Sort(terms)
	terms = slices.Compact(terms)
	for _, s := range terms[:min(len(terms), maxWords)] {
		w.archetypes.said.addWords(s, w.words)
	}
	w.enc.Document(t.Name, t.Description, t.Parameters, w.query)
	// Words select the candidates, so that cosines are computed for a few hundred archetypes and not for all.
	picked := w.pickCandidates()
	var most uint16 = 1
	for _, i := range picked { // which has the highest
		most = max(most, w.words[i])
	}
	does := w.an.NameEffect(t.Name)
	out := make([]Lent, 0, len(picked))
	for _, i := range picked {
		cos := vector.Dot(w.query, w.archetypes.vectors[int(i)*w.enc.Dims:int(i+1)*w.enc.Dims])
		like := wordsShare*float32(w.words[i])/float32(most) + (1-wordsShare)*cos
		if does.Contradicts(Effect(w.base.effects[i])) {
			like *= contrary
		}
		if like > 0 {
			out = append(out, Lent{Archetype: int(i), Like: like})
		}
	}
	w.likes = w.likes[:0]
	for _, l := range out {
		w.likes = append(w.likes, l.Like)
	}
	least := nthHighest(w.likes, resembled)
	out = slices.DeleteFunc(out, func(l Lent) bool { return l.Like < least })
	slices.SortFunc(out, func(a, b Lent) int {
		return cmp.Or(cmp.Compare(b.Like, a.Like), cmp.Compare(a.Archetype, b.Archetype))
	})
	return out[:min(resembled, len(out))]
}

// pickCandidates returns the archetypes with the highest word scores, at most candidates. The result is a buffer of w.
func (w *lendWorker) pickCandidates() []int32 {
	if candidates >= len(w.words) {
		for i := range w.order {
			w.order[i] = int32(i)
		}
		return w.order
	}
	return topIndices(w.words, candidates, w.order, w.highest)
}

// Scores are counted in buckets of two, and skipped in blocks of sixteen.
const (
	bucketBits, buckets = 3, 1 << 13
	block               = 16
)

// blocksOf returns how many blocks n scores have.
func blocksOf(n int) int { return (n + block - 1) / block }

// topIndices returns the indices of at least the n highest positive scores, as far as they are, in no particular order,
// in the space of buf; highest is space for a number for each block. Scores that share a bucket of the histogram with
// the n-th come too. The n-th highest of the blocks' highest scores is never above the n-th highest score. So only
// blocks whose highest score reaches it are looked at a second time.
func topIndices(scores []uint16, n int, buf []int32, highest []uint16) []int32 {
	var count [buckets]int32
	top := 0
	highest = highest[:blocksOf(len(scores))]
	for k := range highest {
		most := maxScore(scores[k*block:]) >> bucketBits
		highest[k] = most
		count[most]++
		top = max(top, int(most))
	}
	bound := lowestBucket(&count, top, n)
	clear(count[:top+1])
	out := buf[:0]
	for k, most := range highest {
		if int(most) < bound {
			continue
		}
		at := k * block
		for i, s := range scores[at:min(at+block, len(scores))] {
			if s > 0 && int(s>>bucketBits) >= bound {
				count[s>>bucketBits]++
				out = append(out, int32(at+i))
			}
		}
	}
	// Above bound the histogram is exact now, so that a second look at it removes what lies below the n-th score.
	least := lowestBucket(&count, top, n)
	return slices.DeleteFunc(out, func(i int32) bool { return int(scores[i]>>bucketBits) < least })
}

// maxScore returns the highest score of the block that scores begins with. It compares pairs, since a processor can do
// several of them at once, but must wait where each comparison needs the one before.
func maxScore(scores []uint16) uint16 {
	if len(scores) < block {
		return slices.Max(scores)
	}
	s := (*[block]uint16)(scores)
	a := max(max(s[0], s[1]), max(s[2], s[3]))
	b := max(max(s[4], s[5]), max(s[6], s[7]))
	c := max(max(s[8], s[9]), max(s[10], s[11]))
	d := max(max(s[12], s[13]), max(s[14], s[15]))
	return max(max(a, b), max(c, d))
}

// lowestBucket returns the bucket that the n-th highest score is in, and 0 if there are fewer. None is in a bucket
// above top.
func lowestBucket(count *[buckets]int32, top, n int) int {
	least, sum := top, 0
	for ; least > 0; least-- {
		if sum += int(count[least]); sum >= n {
			break
		}
	}
	return least
}

// addSayings adds the words of what people say for an archetype to the worker's sums, times weight, and the mean vector
// of its requests to mean, times share.
func (w *lendWorker) addSayings(i int, weight float32, mean []float32, share float32) error {
	if w.Without != nil {
		return w.addOthers(i, weight, mean, share)
	}
	for k := w.archetypes.said.begin[i]; k < w.archetypes.said.begin[i+1]; k++ {
		w.sums.add(w.archetypes.said.stem[k], weight*float32(w.archetypes.said.times[k]))
	}
	w.base.unpackMean(i, w.mean)
	vector.Axpy(mean, w.mean, share)
	return nil
}

// addOthers does what addSayings does with all requests but those of Without. It reads the texts.
func (w *lendWorker) addOthers(i int, weight float32, mean []float32, share float32) error {
	block := &w.blocks[i/perBlock]
	block.once.Do(func() { block.text, block.err = w.base.readTexts(i / perBlock) })
	if block.err != nil {
		return block.err
	}
	head, err := parseHead(block.text, i%perBlock)
	if err != nil {
		return err
	}
	a := Archetype{Utterances: slices.DeleteFunc(head.Utterances, w.Without), Synonyms: head.Synonyms}
	for _, t := range w.an.Count(a.said()) {
		if k, ok := slices.BinarySearch(w.archetypes.said.stems, t.Text); ok {
			w.sums.add(int32(k), weight*t.Weight)
		}
	}
	vector.Axpy(mean, meanVector(w.enc, a.Utterances), share)
	return nil
}

// normalize scales v to unit length, in place. The sum is in double precision, so that its order matters less.
func normalize(v []float32) {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return
	}
	scale := 1 / math.Sqrt(sum)
	for i := range v {
		v[i] = float32(float64(v[i]) * scale)
	}
}
