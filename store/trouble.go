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

// trouble is what went wrong when the store was used last.
type trouble struct {
	mu          sync.Mutex
	read, write error
	values      []Damage
}

// note keeps an error of the file or the disk until the same succeeds again. Others are the business of who asked.
func (t *trouble) note(readOnly bool, err error) {
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

// loaded keeps what was damaged among what was loaded.
func (t *trouble) loaded(values []Damage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.values = values
}

// Trouble says in words what is wrong with the file or its disk, as far as this Store has seen: it cannot be read, or
// cannot be written to, or holds damaged values. It is empty while all is well, and again once the same has succeeded.
func (s *Store) Trouble() []string {
	s.trouble.mu.Lock()
	defer s.trouble.mu.Unlock()
	var out []string
	for _, err := range []error{s.trouble.read, s.trouble.write} {
		if err != nil {
			out = append(out, err.Error())
		}
	}
	if n := len(s.trouble.values); n > 0 {
		out = append(out, fmt.Sprintf("%d stored values are damaged and left out, the first is %s; tooldex index rebuild replaces the file", n, s.trouble.values[0]))
	}
	return out
}
