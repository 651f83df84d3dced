package service

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"tooldex/config"
	"tooldex/embed"
)

// The bounds of the wait for a remote model.
const (
	briefProbe   = 300 * time.Millisecond // in a program that serves, whose clients wait for its first answer
	probeTimeout = 10 * time.Second       // in commands; a server may have to load the model
)

// embedInterval is how often a program that stays checks whether tools lack vectors of the chosen model: new tools do,
// and many do after the model did not answer for a while.
const embedInterval = 3 * time.Second

// probeBriefly probes the model for briefProbe. A failure is ignored here: it is logged when tools are embedded.
func (e *chosenEmbedder) probeBriefly(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, briefProbe)
	defer cancel()
	_ = e.probe(ctx)
}

// embedderAnswers reports whether the chosen model answers now, and logs if it does not.
func (s *Service) embedderAnswers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	err := s.chosen.probe(ctx)
	if err != nil {
		s.o.Logger.Warn("the embedding model does not answer; tools are searched by words only",
			s.embedderError(err)...)
	}
	return err == nil
}

// ChosenModel returns the identity of the model that the configuration names, and false if it names none. It waits
// for a remote model for at most ten seconds.
func (s *Service) ChosenModel(ctx context.Context) (embed.Model, bool, error) {
	if s.chosen == nil {
		return embed.Model{}, false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	if err := s.chosen.probe(ctx); err != nil {
		return embed.Model{}, true, err
	}
	return s.chosen.Model(), true, nil
}

// embedderError returns the attributes by which an error of the chosen model is logged.
func (s *Service) embedderError(err error) []any {
	attrs := []any{"embedder", s.Config().Embedder, "error", err}
	var cause *embed.Error
	if errors.As(err, &cause) && cause.Hint != "" {
		attrs = append(attrs, "hint", cause.Hint)
	}
	return attrs
}

// EmbedNow makes tools searchable by the model that the configuration names, if it names one. A failure is logged; the
// vectors in use stay in use.
func (s *Service) EmbedNow(ctx context.Context) {
	if s.chosen == nil || s.Catalog == nil {
		return
	}
	what := "embedding tools with " + s.Config().Embedder
	err := s.Catalog.Use(ctx, s.model, func(done, total int) { s.o.Progress(what, done, total) })
	if err != nil && ctx.Err() == nil {
		s.o.Logger.Warn("not all tools could be embedded; the next command continues", s.embedderError(err)...)
	}
}

// embedInBackground does what EmbedNow does again and again until the service is closed. While a model is replaced,
// searches use the vectors there are.
func (s *Service) embedInBackground(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	var task sync.WaitGroup
	task.Go(func() { s.embedRepeatedly(ctx) })
	s.stop = func() {
		cancel()
		task.Wait()
	}
}

// embedRepeatedly is the task of embedInBackground. It logs the start and the end of work, and each new failure once.
func (s *Service) embedRepeatedly(ctx context.Context) {
	ticker := time.NewTicker(embedInterval)
	defer ticker.Stop()
	name := s.Config().Embedder
	var last failureFilter
	for {
		begun := false
		err := s.Catalog.Use(ctx, s.model, func(done, total int) {
			if !begun {
				s.o.Logger.Info("embedding tools in the background", "embedder", name, "tools", total)
			}
			begun = true
			s.o.Progress("embedding tools with "+name, done, total)
		})
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && begun:
			s.o.Logger.Info("all tools are embedded", "embedder", name)
		case last.isNew(err):
			s.o.Logger.Warn("not all tools could be embedded yet", s.embedderError(err)...)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// failureFilter suppresses the repetition of a failure in the log. The zero value is ready to use.
type failureFilter struct{ last string }

// isNew reports whether err differs from the last error. Errors are compared by their remedy, since messages may hold
// numbers: a breaker that is open has the remedy of what opened it. After nil, every error is new.
func (f *failureFilter) isNew(err error) bool {
	if err == nil {
		f.last = ""
		return false
	}
	key := err.Error()
	var e *embed.Error
	for cause := err; errors.As(cause, &e); cause = e.Err { // to the first cause
		key = e.Hint
	}
	if key == f.last {
		return false
	}
	f.last = key
	return true
}

// ProbeEmbedder probes the model that a configuration names, without opening a service. named is false if it names
// none. The error is config.UsageError for a bad name, and that of the model if it does not answer within ten seconds.
func ProbeEmbedder(ctx context.Context, cfg func() *config.Config, log *slog.Logger) (named bool, err error) {
	s := &Service{o: Options{Config: cfg, Logger: log}}
	if s.chosen, err = s.openEmbedder(); err != nil {
		return true, err
	}
	_, named, err = s.ChosenModel(ctx)
	return named, err
}

// ConfiguredModel returns the name of the model that the configuration names in place of the built-in one, "" for none.
// No server is contacted.
func (s *Service) ConfiguredModel() (string, error) {
	chosen, err := s.openEmbedder()
	if err != nil || chosen == nil {
		return "", err
	}
	return chosen.Model().Name, nil
}
