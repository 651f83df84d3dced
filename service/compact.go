package service

import (
	"context"
	"errors"
	"fmt"

	"tooldex/embed"
	"tooldex/store"
)

// compactTries bounds how often Compact starts again because another process has changed the stored tools.
const compactTries = 20

// Compact drops what no stored tool uses. The vectors of the built-in model and of the chosen one are kept. The service
// must have been opened ToChange. The errors are those of [store.Backend] and of the chosen model.
func (s *Service) Compact(ctx context.Context) (*store.Compaction, error) {
	builtin, err := embed.Builtin()
	if err != nil {
		return nil, fmt.Errorf("open the built-in model: %w", err)
	}
	models := []embed.Model{builtin.Model()}
	chosen, named, err := s.ChosenModel(ctx) // only the model knows the fingerprint of its vectors
	if err != nil {
		return nil, err
	}
	if named {
		models = append(models, chosen)
	}
	for n := 1; ; n++ {
		out, err := s.Store.Compact(ctx, s.Catalog.Used(models...))
		if !errors.Is(err, store.ErrChanged) || n == compactTries {
			return out, err
		}
		if _, err := s.Catalog.Refresh(ctx); err != nil {
			return nil, err
		}
	}
}
