package embed

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// moody is an embedder that does what err and takes say.
type moody struct {
	err   error
	takes time.Duration
	asked int
}

func (m *moody) Model() Model { return Model{Name: "moody", Dims: 1, Fingerprint: "m"} }

func (m *moody) Queries(ctx context.Context, texts []string) ([][]float32, error) {
	m.asked++
	select {
	case <-time.After(m.takes):
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if m.err != nil {
		return nil, m.err
	}
	return make([][]float32, len(texts)), nil
}

func (m *moody) Documents(ctx context.Context, docs []Document) ([][]float32, error) {
	return m.Queries(ctx, make([]string, len(docs)))
}

var errDown = &Error{Kind: ErrUnavailable, Msg: "down"}

func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &moody{err: errDown}
		var told []error
		b := NewBreaker(m, BreakerOptions{Changed: func(err error) { told = append(told, err) }})
		ask := func() error {
			_, err := b.Queries(t.Context(), []string{"q"})
			return err
		}
		for range 3 {
			if err := ask(); !errors.Is(err, errDown) {
				t.Fatal(err)
			}
		}
		for range 5 {
			if err := ask(); !errors.Is(err, ErrUnavailable) || !errors.Is(err, errDown) {
				t.Fatal(err)
			}
		}
		if m.asked != 3 || len(told) != 1 || !errors.Is(told[0], errDown) {
			t.Fatalf("asked %d times, told %v", m.asked, told)
		}
		time.Sleep(5 * time.Second) // synctest: no time passes outside
		_ = ask()                   // the trial, which fails, and doubles the pause
		time.Sleep(9 * time.Second)
		if _ = ask(); m.asked != 4 {
			t.Fatalf("asked %d times within the doubled pause", m.asked)
		}
		time.Sleep(time.Second)
		m.err = nil
		if err := ask(); err != nil {
			t.Fatal(err)
		}
		m.err = errDown
		_, _ = ask(), ask()
		if m.asked != 7 || len(told) != 2 || told[1] != nil {
			t.Errorf("after it answered: asked %d times, told %v", m.asked, told)
		}
	})
}

// TestBreakerLetsOneTry has many callers at the end of the pause, and one of them gives up.
func TestBreakerLetsOneTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &moody{err: errDown}
		b := NewBreaker(m, BreakerOptions{Failures: 1})
		_, _ = b.Queries(t.Context(), []string{"q"})
		time.Sleep(10 * time.Second)
		m.err, m.takes = nil, time.Second
		ctx, giveUp := context.WithCancel(t.Context())
		go func() { _, _ = b.Queries(ctx, []string{"q"}) }()
		synctest.Wait()
		if _, err := b.Queries(t.Context(), []string{"q"}); !errors.Is(err, ErrUnavailable) || m.asked != 2 {
			t.Errorf("beside the trial: %v, asked %d times", err, m.asked)
		}
		giveUp()
		synctest.Wait()
		if _, err := b.Queries(t.Context(), []string{"q"}); err != nil || m.asked != 3 {
			t.Errorf("after a trial that was given up: %v, asked %d times", err, m.asked)
		}
	})
}

func TestBreakerPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &moody{takes: time.Minute}
		b := NewBreaker(m, BreakerOptions{Failures: 2})
		start := time.Now()
		for range 2 {
			if _, err := b.Queries(t.Context(), []string{"q"}); !errors.Is(err, errSlow) {
				t.Error(err)
			}
		}
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("two queries took %v", took)
		}
		if _, err := b.Queries(t.Context(), []string{"q"}); !errors.Is(err, ErrUnavailable) || m.asked != 2 {
			t.Errorf("a slow model is not left alone: %v", err)
		}
		time.Sleep(10 * time.Second)
		if docs, err := b.Documents(t.Context(), make([]Document, 2)); err != nil || len(docs) != 2 {
			t.Errorf("documents may take their time: %v", err)
		}
	})
}

// TestBreakerCountsFaultsOnly has failures that say nothing of the model.
func TestBreakerCountsFaultsOnly(t *testing.T) {
	m := &moody{err: &Error{Kind: ErrModelChanged, Msg: "other"}}
	b := NewBreaker(m, BreakerOptions{Failures: 1})
	for range 3 {
		if _, err := b.Documents(t.Context(), make([]Document, 1)); !errors.Is(err, ErrModelChanged) {
			t.Error(err)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	m.err, m.takes = nil, time.Hour
	for range 3 {
		if _, err := b.Queries(ended, []string{"q"}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	if got, err := b.Queries(t.Context(), nil); err != nil || len(got) != 0 || m.asked != 6 {
		t.Errorf("of nothing: %v, %v, asked %d times", got, err, m.asked)
	}
}
