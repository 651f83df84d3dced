package main

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"tooldex/embed"
	"tooldex/service"
	"tooldex/store"
	"tooldex/tool"
)

// modelCount counts the vectors of one embedding model.
type modelCount struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"` // distinguishes models of one name
	Dims    int    `json:"dims,omitempty"`
	Vectors int    `json:"vectors"`       // stored ones
	Tools   int    `json:"tools"`         // texts of tools that have one
	Of      int    `json:"of"`            // texts of all tools
	Use     string `json:"use,omitempty"` // builtin or chosen
}

// indexStatus describes the stored tools and their file.
type indexStatus struct {
	File       string       `json:"file"`
	Bytes      int64        `json:"bytes"`
	Generation uint64       `json:"generation"`
	Tools      int          `json:"tools"`
	Disabled   int          `json:"disabled"`
	Tokens     int          `json:"tokens"` // of a plain tools/list of all
	Vectors    int          `json:"vectors"`
	Model      string       `json:"model"`
	Dims       int          `json:"dims"`
	Models     []modelCount `json:"models"` // those with vectors, and the chosen one
	Servers    []tool.Count `json:"servers"`
	Damaged    []string     `json:"damaged,omitempty"`
}

func newIndexStatus(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show what is stored, where, and which model embedded it",
		Args:  checkArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.open(cmd.Context(), service.ToList)
			if err != nil {
				return err
			}
			defer a.close(s)
			st, err := a.readStatus(cmd.Context(), s)
			if err != nil {
				return err
			}
			return a.print(st, func(w io.Writer) error {
				rows := [][]string{
					{"file", st.File},
					{"size", fmt.Sprintf("%.1f MB", float64(st.Bytes)/1e6)},
					{"generation", strconv.FormatUint(st.Generation, 10)},
					{"tools", fmt.Sprintf("%d of %d servers, %d disabled", st.Tools, len(st.Servers), st.Disabled)},
					{"tokens", fmt.Sprintf("%d in a plain tools/list", st.Tokens)},
				}
				for _, m := range st.Models {
					rows = append(rows, []string{"vectors", m.String()})
				}
				for _, d := range st.Damaged {
					rows = append(rows, []string{"damaged", d})
				}
				return writeColumns(w, nil, rows)
			})
		},
	}
}

// String returns the count as the table shows it.
func (m modelCount) String() string {
	out := fmt.Sprintf("%d of %s", m.Vectors, m.Name)
	if m.Version != "" {
		out += fmt.Sprintf(" (%.8s)", m.Version)
	}
	if m.Dims > 0 {
		out += fmt.Sprintf(", %d dimensions", m.Dims)
	}
	out += fmt.Sprintf(", for %d of %d texts", m.Tools, m.Of)
	if m.Use != "" {
		out += " (" + m.Use + ")"
	}
	return out
}

// readStatus reads the figures from the file, not from memory, so that damage shows.
func (a *app) readStatus(ctx context.Context, s *service.Service) (*indexStatus, error) {
	model, err := builtinModel()
	if err != nil {
		return nil, err
	}
	// This reads and checks every value of the file.
	snap, err := s.Store.Load(ctx, store.View{Model: model})
	if err != nil {
		return nil, err
	}
	size, err := s.Store.Size(ctx)
	if err != nil {
		return nil, err
	}
	set := s.Catalog.Set()
	st := &indexStatus{
		File: s.Store.Location(), Bytes: size, Generation: snap.Generation, Tools: set.Len(),
		Vectors: len(snap.Vectors),
		Model:   model.Name, Dims: model.Dims, Servers: set.Servers(),
	}
	for _, t := range set.All() {
		st.Tokens += t.Tokens()
		if t.Disabled {
			st.Disabled++
		}
	}
	if st.Models, err = a.countModels(ctx, s, model); err != nil {
		return nil, err
	}
	for _, d := range snap.Damaged {
		st.Damaged = append(st.Damaged, d.String())
	}
	return st, nil
}

// countModels counts the vectors of every model that has any, and of the chosen one. That one is recognised by its
// name, since it is not contacted.
func (a *app) countModels(ctx context.Context, s *service.Service, builtin embed.Model) ([]modelCount, error) {
	texts := s.Catalog.Texts()
	stored, err := s.Store.Models(ctx, texts)
	if err != nil {
		return nil, err
	}
	chosen, err := s.ConfiguredModel()
	if err != nil {
		return nil, err
	}
	out := []modelCount{}
	// whether the chosen model is among those with vectors
	seen := chosen == ""
	for _, m := range stored {
		one := modelCount{
			Name: m.Name, Version: m.Fingerprint, Dims: m.Dims, Vectors: m.Vectors, Tools: m.Used,
			Of: len(texts),
		}
		switch {
		case chosen != "" && m.Name == chosen:
			one.Use, seen = "chosen", true
		case m.Fingerprint == builtin.Fingerprint:
			one.Use = "builtin"
		}
		out = append(out, one)
	}
	if !seen {
		out = append(out, modelCount{Name: chosen, Of: len(texts), Use: "chosen"})
	}
	return out, nil
}

func builtinModel() (embed.Model, error) {
	s, err := embed.Builtin()
	if err != nil {
		return embed.Model{}, fmt.Errorf("open the built-in model: %w", err)
	}
	return s.Model(), nil
}
