package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"tooldex/eval"
	"tooldex/learn"
	"tooldex/search"
	"tooldex/tool"
)

// The replay: requests arrive one after the other, each with a click.
const (
	replaySeed    = 4
	wrongClicks   = .1   // of all: on another tool of the answer
	replayClients = 12   // who take turns
	replaySession = 5    // requests in each session
	replayEvery   = 150  // seconds between two
	replayFlush   = 1000 // clicks between two writes
	poisonClicks  = 4000
)

// click is a request with the tool that was called for it.
type click struct {
	request string
	tool    tool.ID
	client  string
}

// noEvidence holds a fifth of the tools out by name.
func noEvidence(name string) bool {
	h := fnv.New32a()
	h.Write([]byte("no evidence/" + name))
	return h.Sum32()%5 == 0
}

// ledger is a disk that lasts as long as the run.
type ledger struct {
	entries map[string][]byte
	version uint64
}

// Learned returns all entries, or none where they are known.
func (d *ledger) Learned(_ context.Context, known uint64) (map[string][]byte, uint64, error) {
	if d.version == known {
		return nil, known, nil
	}
	return maps.Clone(d.entries), d.version, nil
}

// ChangeLearned makes the changes.
func (d *ledger) ChangeLearned(_ context.Context, keys []string,
	change func(map[string][]byte) map[string][]byte,
) (before, after uint64, err error) {
	now := map[string][]byte{}
	for _, k := range keys {
		if v, ok := d.entries[k]; ok {
			now[k] = v
		}
	}
	for k, v := range change(now) {
		if v == nil {
			delete(d.entries, k)
			continue
		}
		d.entries[k] = v
	}
	before = d.version
	d.version++
	return before, d.version, nil
}

// replay is a set whose requests are put in part as a stream of clicks and in part as a test.
type replay struct {
	set     *labelled
	test    *eval.Dataset
	clicks  []click
	learner *learn.Learner
	plain   *search.Engine // without what is learned
	taught  *search.Engine
	clock   time.Time
	put     int // clicks so far
}

// newReplay draws the stream of a set's training requests, those for tools of which keep is false left out.
func (l *lab) newReplay(ctx context.Context, name string, keep func(string) bool) (*replay, error) {
	set, err := l.set(ctx, name)
	if err != nil {
		return nil, err
	}
	r := &replay{set: set, clock: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	if r.plain, _, err = l.open(ctx, l.whole(), set); err != nil {
		return nil, err
	}
	r.learner = learn.New(learn.Options{
		Disk: &ledger{entries: map[string][]byte{}}, Reader: r.plain, Model: l.static.Model().Fingerprint,
		Now: func() time.Time { return r.clock },
	})
	taught := l.whole()
	taught.engine.Learned = r.learner
	if r.taught, _, err = l.open(ctx, taught, set); err != nil {
		return nil, err
	}
	train, test := halves(set.Dataset)
	r.test = test
	return r, r.draw(ctx, train, keep)
}

// halves parts the requests that some tool serves by their split where they have one, and by hash otherwise.
func halves(d *eval.Dataset) (train []eval.Case, test *eval.Dataset) {
	kept := *d
	kept.Cases = nil
	split := slices.ContainsFunc(d.Cases, func(c eval.Case) bool { return c.Split == "train" }) &&
		slices.ContainsFunc(d.Cases, func(c eval.Case) bool { return c.Split == "test" })
	for _, c := range d.Cases {
		h := fnv.New32a()
		h.Write([]byte(c.Query))
		switch {
		case c.NoMatch():
		case split && c.Split == "train", !split && h.Sum32()%2 == 0:
			train = append(train, c)
		default:
			kept.Cases = append(kept.Cases, c)
		}
	}
	return train, &kept
}

func (r *replay) draw(ctx context.Context, train []eval.Case, keep func(string) bool) error {
	random := rand.New(rand.NewPCG(replaySeed, 0))
	random.Shuffle(len(train), func(i, j int) { train[i], train[j] = train[j], train[i] })
	for i, c := range train {
		id, err := r.clicked(ctx, c, random)
		if err != nil {
			return err
		}
		if id == "" || !keep(string(id)) || slices.ContainsFunc(c.Relevant, func(n string) bool { return !keep(n) }) {
			continue
		}
		r.clicks = append(r.clicks, click{c.Query, id, fmt.Sprintf("client %d", i%replayClients)})
	}
	return nil
}

// clicked returns a tool that serves a request or, now and then, another of those that are shown.
func (r *replay) clicked(ctx context.Context, c eval.Case, random *rand.Rand) (tool.ID, error) {
	name := c.Relevant[random.IntN(len(c.Relevant))]
	if random.Float64() >= wrongClicks {
		t, err := r.set.catalogue.Resolve(name)
		if err != nil {
			return "", fmt.Errorf("%s: %w", c.ID, err)
		}
		return t.ID(), nil
	}
	read, err := r.plain.Read(ctx, c.Query, tool.DefaultLimit)
	if err != nil {
		return "", err
	}
	others := slices.DeleteFunc(read.Found, func(f tool.Hit) bool {
		return slices.Contains(c.Relevant, f.ID.Name()) || slices.Contains(c.Relevant, string(f.ID))
	})
	if len(others) == 0 {
		return "", nil
	}
	return others[random.IntN(len(others))].ID, nil
}

// learnUntil puts clicks until n have been put, and lets them count.
func (r *replay) learnUntil(ctx context.Context, n int) error {
	for ; r.put < min(n, len(r.clicks)); r.put++ {
		if err := r.learn(ctx, r.clicks[r.put], r.put); err != nil {
			return err
		}
	}
	return r.settle(ctx)
}

func (r *replay) learn(ctx context.Context, c click, i int) error {
	r.clock = r.clock.Add(replayEvery * time.Second)
	who := tool.Asker{Client: c.client, Session: fmt.Sprint(i / (replayClients * replaySession))}
	if err := r.learner.Record(ctx, who, c.request, c.tool, learn.Replayed); err != nil || i%replayFlush != 0 {
		return err
	}
	return r.learner.Flush(ctx)
}

func (r *replay) settle(ctx context.Context) error {
	if err := r.learner.Flush(ctx); err != nil {
		return err
	}
	return r.learner.Load(ctx)
}

// poison has one client call one tool for requests of all sorts.
func (r *replay) poison(ctx context.Context, id tool.ID) error {
	random := rand.New(rand.NewPCG(replaySeed, 1))
	train, _ := halves(r.set.Dataset)
	for i := range poisonClicks {
		c := click{train[random.IntN(len(train))].Query, id, "poisoner"}
		if err := r.learn(ctx, c, i); err != nil {
			return err
		}
	}
	return r.settle(ctx)
}

// scores are the means over the test requests that pass.
func (r *replay) scores(ctx context.Context, engine *search.Engine, pass func(eval.Case) bool) (eval.Scores, int,
	error,
) {
	d := *r.test
	d.Cases = slices.DeleteFunc(slices.Clone(d.Cases), func(c eval.Case) bool { return !pass(c) })
	report, err := eval.Run(ctx, engine, &d, rankings(tool.Hybrid))
	if err != nil {
		return nil, 0, err
	}
	return report.All.Scores, report.All.Queries, nil
}

func everyCase(eval.Case) bool { return true }

func withoutEvidence(c eval.Case) bool { return slices.ContainsFunc(c.Relevant, noEvidence) }

func withEvidence(c eval.Case) bool { return !withoutEvidence(c) }

// replaySizes are how many clicks have come when the test is put.
func replaySizes() []int { return []int{0, 1000, 4000, 16000} }

func (l *lab) learningText(ctx context.Context) (string, error) {
	var b strings.Builder
	b.WriteString("## Learning from use\n\nTraining requests arrive as a stream, each with a click on a tool that serves it or, one in ten, on another of those that are shown; " +
		fmt.Sprintf("%d\nclients take turns. Test requests are none of them. The seed is fixed.\n\n", replayClients))
	for _, part := range []func(context.Context, *strings.Builder) error{
		l.learningCurve, l.learningHeldOut,
		l.learningPoison, l.learningElsewhere,
	} {
		if err := part(ctx, &b); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

const learningSet = "metatool_single"

func (l *lab) learningCurve(ctx context.Context, b *strings.Builder) error {
	r, err := l.newReplay(ctx, learningSet, func(string) bool { return true })
	if err != nil {
		return err
	}
	b.WriteString("| metatool_single, test requests after | hit@1 | recall@5 | MRR |\n|---|---|---|---|\n")
	for _, n := range replaySizes() {
		fmt.Fprintln(os.Stderr, "learning from", n)
		if err := r.learnUntil(ctx, n); err != nil {
			return err
		}
		s, _, err := r.scores(ctx, r.taught, everyCase)
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "| %d clicks | %s | %s | %s |\n", r.put, figure(s["hit@1"]), figure(s["recall@5"]),
			figure(s["mrr"]))
	}
	b.WriteString("\n")
	return nil
}

func (l *lab) learningHeldOut(ctx context.Context, b *strings.Builder) error {
	r, err := l.newReplay(ctx, learningSet, func(name string) bool { return !noEvidence(tool.ID(name).Name()) })
	if err != nil {
		return err
	}
	b.WriteString("One tool in five gets no evidence. Requests for those tools, and for the others:\n\n" +
		"| after | without evidence: hit@1 | recall@5 | with evidence: hit@1 | recall@5 |\n|---|---|---|---|---|\n")
	for _, n := range replaySizes() {
		fmt.Fprintln(os.Stderr, "learning with tools held out from", n)
		if err := r.learnUntil(ctx, n); err != nil {
			return err
		}
		without, _, err := r.scores(ctx, r.taught, withoutEvidence)
		if err != nil {
			return err
		}
		with, _, err := r.scores(ctx, r.taught, withEvidence)
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "| %d clicks | %s | %s | %s | %s |\n", r.put, figure(without["hit@1"]),
			figure(without["recall@5"]), figure(with["hit@1"]), figure(with["recall@5"]))
	}
	b.WriteString("\n")
	return nil
}

// learningPoison has a client call one tool for everything, on top of what was learned and alone.
func (l *lab) learningPoison(ctx context.Context, b *strings.Builder) error {
	b.WriteString(fmt.Sprintf("One client calls one tool for %d unrelated requests. Requests for the other tools:\n\n", poisonClicks) +
		"| after | hit@1 before | after | recall@5 before | after |\n|---|---|---|---|---|\n")
	for _, n := range []int{0, 16000} {
		fmt.Fprintln(os.Stderr, "poisoning after", n)
		r, err := l.newReplay(ctx, learningSet, func(string) bool { return true })
		if err != nil {
			return err
		}
		victim := r.set.catalogue.All()[0].ID()
		others := func(c eval.Case) bool { return !slices.Contains(c.Relevant, victim.Name()) }
		if err := r.learnUntil(ctx, n); err != nil {
			return err
		}
		before, _, err := r.scores(ctx, r.taught, others)
		if err != nil {
			return err
		}
		if err := r.poison(ctx, victim); err != nil {
			return err
		}
		after, _, err := r.scores(ctx, r.taught, others)
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "| %d clicks | %s | %s | %s | %s |\n", r.put, figure(before["hit@1"]), figure(after["hit@1"]),
			figure(before["recall@5"]), figure(after["recall@5"]))
	}
	b.WriteString("\n")
	return nil
}

// learningElsewhere shows that learning does no harm where there is little to learn.
func (l *lab) learningElsewhere(ctx context.Context, b *strings.Builder) error {
	b.WriteString("Other sets: half of the requests as clicks, the other half as test:\n\n" +
		"| set | clicks | test requests | hit@1 before | after | recall@5 before | after |\n|---|---|---|---|---|---|---|\n")
	for _, name := range []string{"azure_mcp", "seal_tools", demoSet, "intents"} {
		fmt.Fprintln(os.Stderr, "learning from", name)
		r, err := l.newReplay(ctx, name, func(string) bool { return true })
		if err != nil {
			return err
		}
		before, n, err := r.scores(ctx, r.taught, everyCase)
		if err != nil {
			return err
		}
		if err := r.learnUntil(ctx, len(r.clicks)); err != nil {
			return err
		}
		after, _, err := r.scores(ctx, r.taught, everyCase)
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "| %s | %d | %d | %s | %s | %s | %s |\n", name, r.put, n,
			figure(before["hit@1"]), figure(after["hit@1"]), figure(before["recall@5"]), figure(after["recall@5"]))
	}
	b.WriteString("\n")
	return nil
}
