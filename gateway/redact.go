package gateway

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"tooldex/internal/redact"
)

// redactor replaces secret values in texts that are logged or shown: error messages that quote a URL, lines that a
// server prints to stderr. Fill it with replaceWith, then call buildReplacer; after that it is safe for concurrent use,
// and addSecrets adds further values. A nil redactor changes nothing.
type redactor struct {
	mu       sync.Mutex
	values   map[string]string // what is shown in place of each secret
	replacer atomic.Pointer[strings.Replacer]
}

// addSecrets hides further values, such as renewed tokens, while the redactor is in use.
func (s *redactor) addSecrets(values ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range values {
		s.replaceWith(v, "***")
	}
	s.buildReplacer()
}

// minSecret is the length in bytes of the shortest value that is hidden. Shorter ones are ports and flags, and would
// garble every text.
const minSecret = 6

// replaceWith has value replaced in texts from the next buildReplacer on. The first replacement of a value counts.
// After construction, s.mu must be held.
func (s *redactor) replaceWith(value, by string) {
	if len(value) < minSecret {
		return
	}
	if s.values == nil {
		s.values = map[string]string{}
	}
	if _, ok := s.values[value]; !ok {
		s.values[value] = by
	}
}

// buildReplacer makes the values take effect. After construction, s.mu must be held.
func (s *redactor) buildReplacer() {
	keys := make([]string, 0, len(s.values))
	for v := range s.values {
		keys = append(keys, v)
	}
	// A value that holds another one has to go first.
	slices.SortFunc(keys, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	pairs := make([]string, 0, 2*len(keys))
	for _, k := range keys {
		pairs = append(pairs, k, s.values[k])
	}
	s.replacer.Store(strings.NewReplacer(pairs...))
}

// redactText returns t with the known secrets replaced, and what looks like one by its form. A nil redactor returns t
// itself.
func (s *redactor) redactText(t string) string {
	if s == nil {
		return t
	}
	if replacer := s.replacer.Load(); replacer != nil {
		t = replacer.Replace(t)
	}
	return redact.Text(t)
}

// redactError returns err with its text redacted. errors.Is and errors.As still find the original, whose text is not. A
// nil error stays nil.
func (s *redactor) redactError(err error) error {
	if err == nil {
		return nil
	}
	return &redactedError{text: s.redactText(err.Error()), err: err}
}

// redactedError is an error whose text shows no secrets. The wrapped error is for errors.Is and errors.As only.
type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string { return e.text }
func (e *redactedError) Unwrap() error { return e.err }

// truncateText shortens s to n bytes and an ellipsis, for logs and messages. It cuts no character in two.
func truncateText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
