package train

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"

	"tooldex/internal/atomicfile"
)

var errCheckpoint = errors.New("checkpoint is of another training")

// head begins a checkpoint.
type head struct {
	Training  uint64 // what is trained
	Runs, Now int64  // runs finished, and steps taken of the next
	State     int64  // bytes of the generator's state
}

// training identifies a run, so that checkpoints of other data or options are not mixed.
func (r *runner) training() uint64 {
	h := fnv.New64a()
	fmt.Fprintln(h, r.o.Rows, r.o.Steps, r.o.Runs, r.o.Batch, r.o.Seed, r.o.HoldOut, len(r.draws.docs), r.tokens)
	return h.Sum64()
}

// save writes what is learned, the moments, what earlier runs left, and where the generator stands. The rest follows
// from data and options.
func (r *runner) save(s *step, pcg *rand.PCG) error {
	if r.o.Checkpoint == "" {
		return nil
	}
	state, err := pcg.MarshalBinary()
	if err != nil {
		return err
	}
	return atomicfile.Create(r.o.Checkpoint, 0o600, func(out io.Writer) error {
		w := bufio.NewWriterSize(out, 1<<20)
		parts := append([]any{head{r.training(), int64(r.sum.runs), int64(s.now), int64(len(state))}, state},
			r.parts(s)...)
		for _, part := range parts {
			if err := binary.Write(w, binary.LittleEndian, part); err != nil {
				return fmt.Errorf("write checkpoint: %w", err)
			}
		}
		return w.Flush()
	})
}

// restore goes on from a checkpoint, if there is one.
func (r *runner) restore(s *step, pcg *rand.PCG) error {
	if r.o.Checkpoint == "" {
		return nil
	}
	f, err := os.Open(r.o.Checkpoint)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read from
	in := bufio.NewReaderSize(f, 1<<20)
	var h head
	if err := binary.Read(in, binary.LittleEndian, &h); err != nil {
		return fmt.Errorf("read checkpoint: %w", err)
	}
	if h.Training != r.training() || h.State < 0 || h.State > 1024 {
		return fmt.Errorf("%s: %w; remove it or give the options and data it was made with", r.o.Checkpoint,
			errCheckpoint)
	}
	state := make([]byte, h.State)
	for _, part := range append([]any{state}, r.parts(s)...) {
		if err := binary.Read(in, binary.LittleEndian, part); err != nil {
			return fmt.Errorf("read checkpoint: %w", err)
		}
	}
	s.now, r.sum.runs = int(h.Now), int(h.Runs)
	return pcg.UnmarshalBinary(state)
}

// parts are the numbers of a checkpoint, in order.
func (r *runner) parts(s *step) []any {
	out := []any{r.sum.rows, r.sum.rate, r.sum.mix[:]}
	for _, p := range []*param{&s.m.proj, &s.m.delta, &s.m.doc, &s.m.query, &s.m.mix} {
		out = append(out, p.v, p.m, p.s)
	}
	return out
}
