package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"go/format"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"tooldex/catalog"
	"tooldex/embed"
	"tooldex/knowledge"
	"tooldex/search"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fit-confidence:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("fit-confidence", flag.ContinueOnError)
	dir := flags.String("knowledge", "knowledge/data", "folder with archetypes/, thesaurus.jsonl and lexicon.jsonl")
	into := flags.String("out", "search", "folder to write talk.bin and weights.go to")
	worlds := flags.Int("worlds", 9, "worlds of each of the three folds")
	each := flags.Int("requests", 150, "requests of each kind put to each world")
	if err := flags.Parse(args); err != nil {
		return err
	}
	static, err := embed.Builtin()
	if err != nil {
		return err
	}
	c := &collector{static: static, encoder: catalog.Encoder(static), worlds: *worlds, each: *each}
	if c.source, err = knowledge.ReadSource(os.DirFS(*dir)); err != nil {
		return err
	}
	if c.domains, err = domainsOf(*dir); err != nil {
		return err
	}
	if c.talk, err = readTalk(); err != nil {
		return err
	}
	c.words = newTranslator(c.source)
	var all []sample
	for fold := range folds {
		some, err := c.collect(ctx, fold)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "fold %d: %d requests\n", fold, len(some))
		all = append(all, some...)
	}
	threshold := validate(out, all)
	m := fitDecision(all, true)
	if err := os.WriteFile(filepath.Join(*into, "talk.bin"), trainTalk(c.source, c.talk, c.words, -1), 0o644); err != nil {
		return err
	}
	code, err := weightsCode(threshold, m, fitDecision(all, false))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(*into, "weights.go"), code, 0o644)
}

// decision holds the regressions: whether a request asks for a tool, whether some tool does what it asks for, and
// whether the best one does.
type decision struct{ asks, fits, first logistic }

// The evidence of each regression. Without comparable cosines, that of the archetypes and of words has to do.
var (
	asksBy    = []string{"talk", "known", "understood", "words", "translated"}
	fitsBy    = []string{"presence", "known", "gap", "kind", "covered", "own", "opposite", "size"}
	byCosines = []string{"cosine", "mean", "agree", "fifth"}
)

// fitDecision fits the regressions to samples, those of each kind together having a weight of their own.
func fitDecision(all []sample, cosines bool) decision {
	asks, fits := asksBy, fitsBy
	if cosines {
		asks, fits = slices.Concat(asks, []string{"cosine"}), slices.Concat(fits, byCosines)
	}
	return decision{
		asks: fitLogistic(rowsOf(all, map[string]float64{
			answerable: .4, nearMiss: .1, foreign: .1, "noise": .12, "smalltalk": .12, "no_tool_request": .16,
		}, func(s *sample) bool { return s.kind == answerable || s.kind == nearMiss || s.kind == foreign }), asks),
		fits: fitLogistic(rowsOf(all, map[string]float64{answerable: .5, nearMiss: .2, foreign: .3},
			func(s *sample) bool { return s.kind == answerable }), fits),
		first: fitLogistic(rowsOf(all, map[string]float64{answerable: .5, nearMiss: .2, foreign: .3},
			func(s *sample) bool { return s.first }), fits),
	}
}

// rowsOf makes rows of samples, all that are no exact names and whose kind has a weight.
func rowsOf(all []sample, weights map[string]float64, yes func(*sample) bool) []row {
	count := map[string]float64{}
	for i := range all {
		count[all[i].kind]++
	}
	var out []row
	for i := range all {
		if s := &all[i]; weights[s.kind] > 0 && !s.exact {
			out = append(out, row{&s.evidence, yes(s), 1000 * weights[s.kind] / count[s.kind]})
		}
	}
	return out
}

// kept is the share of the answerable requests that are to be answered with confidence.
const kept = .955

// validate prints how well each fold is told by regressions that were fitted to the others, and returns the probability
// that a share of kept lies above.
func validate(out io.Writer, all []sample) (threshold float64) {
	score := make([]float64, len(all))
	for fold := range folds {
		others := slices.DeleteFunc(slices.Clone(all), func(s sample) bool { return s.fold == fold })
		d := fitDecision(others, true)
		for i := range all {
			if s := &all[i]; s.fold == fold {
				score[i] = d.asks.probability(&s.evidence) * d.fits.probability(&s.evidence)
			}
		}
	}
	var served []float64
	for i := range all {
		if all[i].kind == answerable {
			served = append(served, score[i])
		}
	}
	slices.Sort(served)
	threshold = served[int((1-kept)*float64(len(served)))]
	sure, count := map[string]float64{}, map[string]float64{}
	for i := range all {
		count[all[i].kind]++
		if score[i] >= threshold {
			sure[all[i].kind]++
		}
	}
	for _, k := range []string{answerable, nearMiss, foreign, "noise", "smalltalk", "no_tool_request"} {
		fmt.Fprintf(out, "%-16s %5.0f requests, confident about %.3f\n", k, count[k], sure[k]/max(1, count[k]))
	}
	fmt.Fprintf(out, "confident from a probability of %.3f\n", threshold)
	return threshold
}

// weightsCode writes the regressions as Go.
func weightsCode(threshold float64, with, without decision) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("// Code generated by tools/fit-confidence (make confidence); DO NOT EDIT.\n\npackage search\n\n")
	fmt.Fprintf(&b, "// leastProbability is the probability below which no tool is said to fit: %.1f %% of the requests that a "+
		"tool serves\n// lie above it, in the worlds that the regressions were fitted to.\n"+
		"const leastProbability = %.3f\n\n", 100*kept, threshold)
	b.WriteString("// weighAll returns the regressions: whether a request asks for a tool, whether some tool does what it " +
		"asks for, and\n// whether the best one does.\n")
	writeDecision(&b, "weighAll", with)
	b.WriteString("\n// weighWithoutCosines returns the same for models whose cosines have another scale, and for none.\n")
	writeDecision(&b, "weighWithoutCosines", without)
	return format.Source(b.Bytes())
}

// writeDecision writes the function that returns the regressions of d.
func writeDecision(b *bytes.Buffer, name string, d decision) {
	fmt.Fprintf(b, "func %s() (asks, fits, first logistic) {\n", name)
	for _, l := range []struct {
		name string
		of   logistic
	}{{"asks", d.asks}, {"fits", d.fits}, {"first", d.first}} {
		fmt.Fprintf(b, "%s = logistic{bias: %.3f, weights: Evidence{\n", l.name, l.of.bias)
		for k, n := range search.EvidenceNames() {
			if w := l.of.weights[k]; w != 0 {
				fmt.Fprintf(b, "ev%s: %.3f,\n", strings.ToUpper(n[:1])+n[1:], w)
			} else if n == "learned" && l.name != "asks" {
				b.WriteString("evLearned: learnedWeight,\n")
			}
		}
		b.WriteString("}}\n")
	}
	b.WriteString("return asks, fits, first\n}\n")
}
