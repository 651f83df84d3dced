package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
	"unicode/utf8"

	"tooldex/embed"
)

// Options say what to train on and for how long.
type Options struct {
	Data       string    // folder with sets/, pairs/ and teacher/
	Knowledge  string    // folder with archetypes/, thesaurus.jsonl and lexicon.jsonl
	Rows       int       // of the table; 0 means 35,500
	Steps      int       // 0 means 4,000
	Batch      int       // requests in a step; 0 means 384
	Seed       uint64    // same seed, data and options: same table
	HoldOut    bool      // keep every twelfth server's archetypes out, to measure a recipe by [Evaluate] rather than to ship it
	Checkpoint string    // file to go on from if it exists, and to write now and then; "" for none
	Log        io.Writer // progress; nil for none
}

func (o Options) withDefaults() Options {
	if o.Rows == 0 {
		o.Rows = 35500
	}
	if o.Steps == 0 {
		o.Steps = 4000
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

// Run trains a table and returns it as [embed.Open] reads it. It stops with the context's error when that ends, after writing
// the checkpoint if there is one.
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
	m := newModel(tokens, rareBuckets, t, foreignRows(c, reader), o.Seed)
	fmt.Fprintf(o.Log, "%d tools, %d rows\n", len(c.tools), m.rows)
	for _, f := range c.families {
		fmt.Fprintf(o.Log, "  %-20s %6d tools %7d requests\n", f.name, len(f.tools), len(f.requests))
	}

	pcg := rand.NewPCG(o.Seed, 2)
	p := newSampler(c, reader, rand.New(pcg), o.Batch)
	s := newStep(m)
	if err := s.restore(o.Checkpoint, pcg); err != nil {
		return nil, err
	}
	fmt.Fprintf(o.Log, "ready after %.0f s\n", time.Since(start).Seconds())
	var b batch
	var recent float64
	for s.now < o.Steps {
		p.next(&b)
		recent += s.run(&b, schedule(s.now, o.Steps))
		if s.now%200 == 0 {
			fmt.Fprintf(o.Log, "step %d: loss %.3f, %.0f s\n", s.now, recent/200, time.Since(start).Seconds())
			recent = 0
		}
		if over := ctx.Err() != nil; over || s.now%1000 == 0 {
			if err := s.save(o.Checkpoint, pcg); err != nil {
				return nil, err
			}
			if over {
				return nil, context.Cause(ctx)
			}
		}
	}
	return embed.Encode(m.table(tokens))
}

// schedule is the learning rate relative to the top: up for fifty steps, then down in a straight line.
func schedule(now, steps int) float64 {
	return min(1, float64(now)/50)*(1-float64(now)/float64(steps)) + .02
}

// tokenizer is a table of empty rows, to read text with.
func tokenizer(tokens []string) (*embed.Static, error) {
	n := len(tokens) + rareBuckets
	b, err := embed.Encode(embed.Table{Tokens: tokens, Buckets: rareBuckets, Rows: make([]float32, n*dims), Query: make([]float32, n)})
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
					if w := s.Token(int(t)); w != "" && w[0] != '#' && (utf8.RuneCountInString(w) > 3 || w[0] >= utf8.RuneSelf) {
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

var errCheckpoint = errors.New("checkpoint is of another run")

// create writes a file in one go, so that a run that is killed leaves the old one.
func create(path string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".train-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone already if all went well
	err = write(f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
