package train

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
)

// save writes what is learned, the moments, and where the generator stands. The rest follows from data and seed.
func (s *step) save(path string, pcg *rand.PCG) error {
	if path == "" {
		return nil
	}
	state, err := pcg.MarshalBinary()
	if err != nil {
		return err
	}
	return create(path, func(out io.Writer) error {
		w := bufio.NewWriterSize(out, 1<<20)
		parts := []any{int64(s.now), int64(s.m.rows), int64(len(state)), state}
		for _, p := range s.m.params() {
			parts = append(parts, p.v, p.m, p.s)
		}
		for _, part := range parts {
			if err := binary.Write(w, binary.LittleEndian, part); err != nil {
				return fmt.Errorf("write checkpoint: %w", err)
			}
		}
		return w.Flush()
	})
}

// restore goes on from a checkpoint, if there is one.
func (s *step) restore(path string, pcg *rand.PCG) error {
	if path == "" {
		return nil
	}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read from
	r := bufio.NewReaderSize(f, 1<<20)
	var head [3]int64
	if err := binary.Read(r, binary.LittleEndian, &head); err != nil {
		return fmt.Errorf("read checkpoint: %w", err)
	}
	if head[1] != int64(s.m.rows) || head[2] > 1024 || head[2] < 0 {
		return fmt.Errorf("%w: it has %d rows, not %d", errCheckpoint, head[1], s.m.rows)
	}
	state := make([]byte, head[2])
	parts := []any{state}
	for _, p := range s.m.params() {
		parts = append(parts, p.v, p.m, p.s)
	}
	for _, part := range parts {
		if err := binary.Read(r, binary.LittleEndian, part); err != nil {
			return fmt.Errorf("read checkpoint: %w", err)
		}
	}
	s.now = int(head[0])
	return pcg.UnmarshalBinary(state)
}

func (m *model) params() []*param {
	return []*param{&m.proj, &m.delta, &m.doc, &m.query, &m.mix}
}
