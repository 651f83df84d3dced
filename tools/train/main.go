package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"tooldex/embed"
	"tooldex/tools/internal/train"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	var o train.Options
	flags := flag.NewFlagSet("train", flag.ContinueOnError)
	flags.StringVar(&o.Data, "data", "../shared/data", "folder with sets/, pairs/ and teacher/")
	flags.StringVar(&o.Knowledge, "knowledge", "knowledge/data",
		"folder with archetypes/, thesaurus.jsonl and lexicon.jsonl")
	flags.IntVar(&o.Rows, "rows", 0, "rows of the table; 0 for as many as usual")
	flags.IntVar(&o.Steps, "steps", 0, "training steps; 0 for as many as usual")
	flags.Uint64Var(&o.Seed, "seed", 1, "seed of everything random")
	flags.StringVar(&o.Checkpoint, "checkpoint", "", "file to go on from if it exists, and to write now and then")
	flags.BoolVar(&o.HoldOut, "hold-out", false, "keep every twelfth server's archetypes out, to measure a recipe")
	table := flags.String("out", "embed/table.bin", "the table")
	only := flags.Bool("eval", false, "evaluate the table and do not train")
	scanner := flags.String("scanner", "", "train the scanner's weights instead, and write them to this file")
	passages := flags.String("passages", "",
		"folder with passages of hostile and honest results; with -scanner, train the weights for results")
	examples := flags.String("examples", "scan/examples",
		"folder with sentences of hostile and honest tools, for -scanner")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *scanner != "" && *passages != "" {
		return trainResults(ctx, out, *passages, *examples, *scanner)
	}
	if *scanner != "" {
		return trainScanner(out, *examples, o.Data, o.Knowledge, *scanner)
	}
	o.Log = out
	if !*only {
		b, err := train.Run(ctx, o)
		if err != nil {
			return err
		}
		if err := os.WriteFile(*table, b, 0o644); err != nil {
			return err
		}
	}
	b, err := os.ReadFile(*table)
	if err != nil {
		return err
	}
	s, err := embed.Open(b)
	if err != nil {
		return fmt.Errorf("%s: %w", *table, err)
	}
	if err := s.Verify(); err != nil {
		return fmt.Errorf("%s: %w", *table, err)
	}
	fmt.Fprintf(out, "%s: %d rows, %d bytes, fingerprint %s\n", *table, s.Rows(), len(b), s.Model().Fingerprint)
	return train.Evaluate(out, s, o.Data, o.Knowledge, o.HoldOut)
}
