package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"tooldex/tool"
)

// Copied is what [Copy] copied, and how many entries of each kind.
type Copied struct {
	From    string       `json:"from"` // where, as Backend.Location says it
	To      string       `json:"to"`
	Entries map[Kind]int `json:"entries"`
}

// Rows describes the copy for people, in columns.
func (c *Copied) Rows() [][]string {
	out := [][]string{{"from", c.From}, {"to", c.To}}
	for _, k := range Kinds() {
		if n := c.Entries[k]; n > 0 {
			out = append(out, []string{string(k), strconv.Itoa(n)})
		}
	}
	return append(out, []string{"verified", "the copy was read back and is the same"})
}

// Copy puts everything that one backend holds at one moment in place of what the other holds, as [Backend.Fill] does,
// then reads both back and compares them. The error is NotFound if there is nothing to copy, Invalid if the target is
// not empty and replace is not set, Internal if the source is damaged or what was read back differs, and otherwise one
// of the backends. If Copy ends early, in any way, the target holds what it held before.
func Copy(ctx context.Context, from, to Backend, replace bool) (*Copied, error) {
	if from.Location() == to.Location() {
		return nil, &tool.Error{
			Code: tool.Invalid, Op: "copy", Msg: "source and target are both " + to.Location(), Hint: "name two places",
		}
	}
	if err := from.Check(ctx); err != nil {
		return nil, err
	}
	want := newTally()
	err := to.Fill(ctx, replace, func(put func(Entry) error) error {
		err := from.Entries(ctx, func(e Entry) error {
			want.add(e)
			return put(e)
		})
		if err == nil && len(want.counts) == 0 {
			return &tool.Error{
				Code: tool.NotFound, Op: "copy", Msg: "there is nothing at " + from.Location(),
				Hint: "see that the name is right, the tenant of a database too",
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	have := newTally()
	if err := to.Entries(ctx, func(e Entry) error {
		have.add(e)
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read the copy back: %w", err)
	}
	if diff := want.diff(have); diff != "" {
		return nil, &tool.Error{
			Code: tool.Internal, Op: "copy",
			Msg:  "the copy at " + to.Location() + " differs from what was copied: " + diff,
			Hint: "if no other process has changed it meanwhile, see that the disk is sound, and copy again with --force",
		}
	}
	return &Copied{From: from.Location(), To: to.Location(), Entries: want.counts}, nil
}

// tally counts entries and sums up their contents, by kind. It does not depend on their order.
type tally struct {
	counts map[Kind]int
	sums   map[Kind][4]uint64 // the sum of the entries' SHA-256, in four parts, each modulo 2^64
}

func newTally() *tally { return &tally{counts: map[Kind]int{}, sums: map[Kind][4]uint64{}} }

// add counts an entry.
func (t *tally) add(e Entry) {
	h := sha256.New()
	for _, part := range [][]byte{[]byte(e.Kind), modelKey(e.Model), []byte(e.Knowledge), e.Key, e.Value} {
		_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(part)))) // a hash takes everything
		_, _ = h.Write(part)
	}
	digest, sum := h.Sum(nil), t.sums[e.Kind]
	for i := range sum {
		sum[i] += binary.BigEndian.Uint64(digest[8*i:])
	}
	t.counts[e.Kind], t.sums[e.Kind] = t.counts[e.Kind]+1, sum
}

// diff says in which kinds other differs, "" if it does not.
func (t *tally) diff(other *tally) string {
	var out []string
	for _, k := range Kinds() {
		switch {
		case t.counts[k] != other.counts[k]:
			out = append(out, fmt.Sprintf("%d of %d entries of kind %s", other.counts[k], t.counts[k], k))
		case t.sums[k] != other.sums[k]:
			out = append(out, fmt.Sprintf("other contents of kind %s", k))
		}
	}
	return strings.Join(out, ", ")
}
