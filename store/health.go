package store

import (
	"errors"
	"fmt"
	"sync"

	"tooldex/tool"
)

// ErrDamaged is wrapped by the errors of a file that [Recover] can replace. The error of a file that another program
// made does not wrap it.
var ErrDamaged = errors.New("damaged")

// damage marks an error as ErrDamaged for errors.Is, and has the message of its cause.
type damage struct{ error }

// Is reports whether target is ErrDamaged.
func (damage) Is(target error) bool { return target == ErrDamaged }

// Unwrap returns the cause.
func (d damage) Unwrap() error { return d.error }

// health is what went wrong in the latest operations of a Store. mu guards the other fields.
type health struct {
	mu          sync.Mutex
	read, write error    // of the latest read and write; nil after a success
	values      []Damage // of the latest Load
}

// recordError keeps an error of the file or the disk until the same kind of operation succeeds again. Other errors,
// such as timeouts, concern their caller only and change nothing.
func (t *health) recordError(readOnly bool, err error) {
	if err != nil && tool.CodeOf(err) != tool.Internal {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if readOnly {
		t.read = err
		return
	}
	t.write = err
}

// recordDamage keeps the damaged values of the latest Load, nil for none.
func (t *health) recordDamage(values []Damage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.values = values
}

// Health describes what is wrong with the file or its disk, as far as this Store has seen: it cannot be read, or cannot
// be written, or has damaged values. The result is empty while all is well, and again after the same operation has
// succeeded. It does not access the disk.
func (s *Store) Health() []string {
	s.health.mu.Lock()
	defer s.health.mu.Unlock()
	var out []string
	for _, err := range []error{s.health.read, s.health.write} {
		if err != nil {
			out = append(out, err.Error())
		}
	}
	if n := len(s.health.values); n > 0 {
		out = append(out, fmt.Sprintf("%d stored values are damaged and left out, the first is %s; "+
			"tooldex index rebuild replaces the file", n, s.health.values[0]))
	}
	return out
}
