package store

import (
	"errors"
	"fmt"
	"sync"

	"tooldex/tool"
)

// ErrDamaged is wrapped by the errors of a file that [Recover] can replace. One that another program made is none.
var ErrDamaged = errors.New("damaged")

// damage is ErrDamaged for errors.Is, and reads as its cause.
type damage struct{ error }

// Is makes it ErrDamaged.
func (damage) Is(target error) bool { return target == ErrDamaged }

// Unwrap gives the cause.
func (d damage) Unwrap() error { return d.error }

// health is what went wrong when the store was used last.
type health struct {
	mu          sync.Mutex
	read, write error
	values      []Damage
}

// record keeps an error of the file or the disk until the same succeeds again. Others are the business of who asked.
func (t *health) record(readOnly bool, err error) {
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

// recordDamage keeps what was damaged among what was loaded.
func (t *health) recordDamage(values []Damage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.values = values
}

// Health says in words what is wrong with the file or its disk, as far as this Store has seen: it cannot be read, or
// cannot be written to, or holds damaged values. It is empty while all is well, and again once the same has succeeded.
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
		out = append(out, fmt.Sprintf("%d stored values are damaged and left out, the first is %s; tooldex index rebuild replaces the file", n, s.health.values[0]))
	}
	return out
}
