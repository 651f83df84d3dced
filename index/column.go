package index

import (
	"unsafe"

	"tooldex/internal/flatfile"
)

// column is a list that is written once, from beginning to end: in memory, or in a file if it may be too long for that.
type column[T any] struct {
	list  []T
	spool *flatfile.Spool // nil in memory
}

// newColumn returns an empty column, in a file beside path or, if path is empty, in memory with room for n.
func newColumn[T any](path string, n int) (*column[T], error) {
	if path == "" {
		return &column[T]{list: make([]T, 0, n)}, nil
	}
	spool, err := flatfile.NewSpool(path)
	return &column[T]{spool: spool}, err
}

// add appends values.
func (c *column[T]) add(values ...T) error {
	if c.spool != nil {
		return c.spool.Append(flatfile.Bytes(values))
	}
	c.list = append(c.list, values...)
	return nil
}

// each calls fn with all values, in order, in parts of a multiple of unit, which are valid until fn returns.
func (c *column[T]) each(unit int, fn func(part []T) error) error {
	if c.spool == nil {
		return fn(c.list)
	}
	var one T
	return c.spool.Each(unit*int(unsafe.Sizeof(one)), func(b []byte) error {
		part, err := flatfile.List[T](b)
		if err != nil {
			return err
		}
		return fn(part)
	})
}

// section returns the column as a section of an image.
func (c *column[T]) section() flatfile.Section {
	if c.spool != nil {
		return c.spool.Section()
	}
	return flatfile.Part(flatfile.Bytes(c.list))
}

// close gives up the file.
func (c *column[T]) close() error {
	if c == nil || c.spool == nil {
		return nil
	}
	return c.spool.Close()
}
