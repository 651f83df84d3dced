package flatfile

import (
	"fmt"
	"os"

	"tooldex/internal/atomicfile"
)

// Backing keeps bytes that are seldom read in a file without a name, from which the system reads what is asked for.
// They stay there as long as the process runs. The zero Backing keeps them in memory. It is not safe for concurrent
// use.
type Backing struct {
	f *os.File
	n int64
}

// NewBacking returns an empty Backing beside a file. Where files cannot be mapped, it is one in memory.
func NewBacking(path string) (*Backing, error) {
	if !canMap {
		return &Backing{}, nil
	}
	name := atomicfile.Beside(path)
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &Backing{f: f}, os.Remove(name)
}

// Put returns bytes equal to b, which must not be changed. In memory they are b.
func (a *Backing) Put(b []byte) ([]byte, error) {
	if a.f == nil || len(b) == 0 {
		return b, nil
	}
	if _, err := a.f.WriteAt(b, a.n); err != nil {
		return nil, fmt.Errorf("keep %d bytes in a file: %w", len(b), err)
	}
	kept, err := mapPart(a.f, a.n, len(b))
	if err != nil {
		return nil, fmt.Errorf("map %d bytes: %w", len(b), err)
	}
	page := int64(os.Getpagesize())
	a.n += (int64(len(b)) + page - 1) / page * page
	return kept, nil
}
