package train

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"time"
	"unicode/utf8"

	"tooldex/embed"
)

// Options say what to train on and for how long.
type Options struct {
	Data      string // folder with sets/, pairs/ and teacher/
	Knowledge string // folder with archetypes/, thesaurus.jsonl and lexicon.jsonl
	Rows      int    // of the table; 0 means 35,500
	Steps     int    // of each run; 0 means 2,500
	Runs      int    // that are averaged; 0 means 3
	Batch     int    // requests in a step; 0 means 384
	Seed      uint64 // same seed, data and options: same table
	// keep every twelfth server's archetypes out, to measure a recipe by [Evaluate] rather than to ship it
	HoldOut    bool
	Checkpoint string    // file to go on from if it exists, and to write now and then; "" for none
	Log        io.Writer // progress; nil for none
}

func (o Options) withDefaults() Options {
	if o.Rows == 0 {
		o.Rows = 35500
	}
	if o.Steps == 0 {
		o.Steps = 2500
	}
	if o.Runs == 0 {
		o.Runs = 3
	}
	if o.Batch == 0 {
		o.Batch = 384
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	return o
}

// rareBuckets is how many rows stand for characters that never occur in training.
const rareBuckets = 256

// Run trains a table and returns it as [embed.Open] reads it. It stops with the context's error when that ends, after
// writing the checkpoint if there is one.
func Run(ctx context.Context, o Options) ([]byte, error) {
	o = o.withDefaults()
	start := time.Now()
	c, err := load(o.Data, o.Knowledge, o.HoldOut)
	if err != nil {
		return nil, fmt.Errorf("load training data: %w", err)
	}
	t, err := readTeacher(filepath.Join(o.Data, "teacher", "potion-base-2M.bin"))
	if err != nil {
		return nil, fmt.Errorf("load teacher: %w", err)
	}
	c.switchLanguages(rand.New(rand.NewPCG(o.Seed, 3)))
	tokens := vocabulary(c, o.Rows-rareBuckets)
	reader, err := tokenizer(tokens)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(o.Log, "%d tools, %d rows\n", len(c.tools), len(tokens)+rareBuckets)
	for _, f := range c.families {
		fmt.Fprintf(o.Log, "  %-20s %6d tools %7d requests\n", f.name, len(f.tools), len(f.requests))
	}
	foreign := foreignRows(c, reader)
	r := &runner{
		o: o, start: start, tokens: tokens, sum: newModelSum(len(tokens) + rareBuckets),
		model: func() *model { return newModel(tokens, rareBuckets, t, foreign, o.Seed) },
		draws: newSampler(c, reader, o.Batch),
	}
	return r.all(ctx)
}

// runner trains several times from the same start, each time on other batches, and averages. What one run learned by
// chance the others did not, and because they start alike their rows can be averaged as they are.
type runner struct {
	o      Options
	start  time.Time
	tokens []string
	model  func() *model
	draws  *sampler
	sum    modelSum
}

func (r *runner) all(ctx context.Context) ([]byte, error) {
	s := newStep(r.model())
	pcg := rand.NewPCG(r.o.Seed, firstStream)
	if err := r.restore(s, pcg); err != nil {
		return nil, err
	}
	for {
		if err := r.one(ctx, s, pcg); err != nil {
			return nil, err
		}
		r.sum.add(s.m.table(r.tokens))
		if r.sum.runs == r.o.Runs {
			return embed.Encode(r.sum.table(r.tokens))
		}
		s, pcg = newStep(r.model()), rand.NewPCG(r.o.Seed, firstStream+uint64(r.sum.runs))
	}
}

// firstStream is the stream of random numbers that the batches of the first run come from; those below serve other
// ends.
const firstStream = 16

// one takes the steps of one run that are left.
func (r *runner) one(ctx context.Context, s *step, pcg *rand.PCG) error {
	r.draws.rng = rand.New(pcg)
	var b batch
	var recent float64
	for s.now < r.o.Steps {
		r.draws.next(&b)
		recent += s.run(&b, schedule(s.now, r.o.Steps))
		if s.now%200 == 0 {
			fmt.Fprintf(r.o.Log, "run %d, step %d: loss %.3f, %.0f s\n", r.sum.runs+1, s.now, recent/200,
				time.Since(r.start).Seconds())
			recent = 0
		}
		if over := ctx.Err() != nil; over || s.now%1000 == 0 {
			if err := r.save(s, pcg); err != nil {
				return err
			}
			if over {
				return context.Cause(ctx)
			}
		}
	}
	return nil
}

// modelSum adds up the tables of several runs.
type modelSum struct {
	runs int
	rows []float32
	rate []float32
	mix  [3]float32
}

func newModelSum(rows int) modelSum {
	return modelSum{rows: make([]float32, rows*dims), rate: make([]float32, rows)}
}

func (m *modelSum) add(t embed.Table) {
	m.runs++
	for i, v := range t.Rows {
		m.rows[i] += v
	}
	for i, v := range t.Query {
		m.rate[i] += v
	}
	for i, v := range t.Mix {
		m.mix[i] += v
	}
}

func (m *modelSum) table(tokens []string) embed.Table {
	f := 1 / float32(m.runs)
	scale(m.rows, f)
	scale(m.rate, f)
	scale(m.mix[:], f)
	return embed.Table{Tokens: tokens, Buckets: len(m.rate) - len(tokens), Rows: m.rows, Query: m.rate, Mix: m.mix}
}

// schedule is the learning rate relative to the top: up for fifty steps, then down in a straight line.
func schedule(now, steps int) float64 {
	return min(1, float64(now)/50)*(1-float64(now)/float64(steps)) + .02
}

// tokenizer is a table of empty rows, to read text with.
func tokenizer(tokens []string) (*embed.Static, error) {
	n := len(tokens) + rareBuckets
	b, err := embed.Encode(embed.Table{
		Tokens: tokens, Buckets: rareBuckets, Rows: make([]float32, n*dims),
		Query: make([]float32, n),
	})
	if err != nil {
		return nil, err
	}
	return embed.Open(b)
}

// foreignRows gives for each row that spells words of the lexicon, and is not an English word, the English of those.
func foreignRows(c *corpus, s *embed.Static) map[int][]string {
	out := map[int][]string{}
	for _, k := range c.lexicon {
		for _, lang := range sortedKeys(k.forms) {
			for _, form := range k.forms[lang] {
				for _, t := range s.AppendTokens(nil, form, 16) {
					if w := s.Token(int(t)); w != "" && w[0] != '#' && (utf8.RuneCountInString(w) > 3 ||
						w[0] >= utf8.RuneSelf) {
						out[int(t)] = append(out[int(t)], k.english)
					}
				}
			}
		}
	}
	english := count(&corpus{tools: c.tools, extra: c.extra})
	for t := range out {
		if english.words[s.Token(t)] >= minWordCount {
			delete(out, t)
		}
	}
	return out
}
