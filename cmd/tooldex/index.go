package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"tooldex/embed"
	"tooldex/store"
	"tooldex/tool"
)

func newIndex(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "index",
		Short: "Look after the stored tools and their vectors",
		Args:  unknownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newIndexStatus(a), newIndexVerify(a), newIndexRebuild(a))
	return cmd
}

// indexStatus tells what is stored and where.
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
	Servers    []tool.Count `json:"servers"`
	Damaged    []string     `json:"damaged,omitempty"`
}

func newIndexStatus(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Tell what is stored, where, and with which model it was embedded",
		Args:  wants(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.open(cmd.Context(), toList)
			if err != nil {
				return err
			}
			defer s.close()
			st, err := readStatus(cmd.Context(), s)
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
					{"vectors", fmt.Sprintf("%d of %s, %d dimensions", st.Vectors, st.Model, st.Dims)},
				}
				for _, d := range st.Damaged {
					rows = append(rows, []string{"damaged", d})
				}
				return columns(w, nil, rows)
			})
		},
	}
}

func readStatus(ctx context.Context, s *stack) (*indexStatus, error) {
	model, err := builtinModel()
	if err != nil {
		return nil, err
	}
	snap, err := s.store.Load(ctx, store.View{Model: store.Model{Name: model.Name, Dims: model.Dims, Fingerprint: model.Fingerprint}})
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(s.store.Path())
	if err != nil {
		return nil, fileError("read status", s.store.Path(), err)
	}
	set := s.catalog.Set()
	st := &indexStatus{
		File: s.store.Path(), Bytes: info.Size(), Generation: snap.Generation, Tools: set.Len(), Vectors: len(snap.Vectors),
		Model: model.Name, Dims: model.Dims, Servers: set.Servers(),
	}
	for _, t := range set.All() {
		st.Tokens += t.Tokens()
		if t.Disabled {
			st.Disabled++
		}
	}
	for _, d := range snap.Damaged {
		st.Damaged = append(st.Damaged, d.String())
	}
	return st, nil
}

func builtinModel() (embed.Model, error) {
	s, err := embed.Builtin()
	if err != nil {
		return embed.Model{}, fmt.Errorf("open the built-in model: %w", err)
	}
	return s.Model(), nil
}

func newIndexVerify(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Check that everything stored is whole",
		Args:  wants(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := store.Open(a.dataDir, store.Options{})
			if err != nil {
				return err
			}
			if err := s.Check(cmd.Context()); err != nil {
				return err
			}
			fmt.Fprintf(a.stderr, "%s is sound\n", s.Path())
			return nil
		},
	}
}

// rebuilt tells what a rebuild could save.
type rebuilt struct {
	Backup  string   `json:"backup,omitempty"` // where the old file lies now
	Tools   int      `json:"tools"`
	Servers int      `json:"servers"`
	Lost    []string `json:"lost,omitempty"`
	Problem string   `json:"problem,omitempty"` // why the old file could not be read to its end
}

func newIndexRebuild(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "rebuild",
		Short: "Replace a damaged file by what can still be read of it, and keep the old one",
		Args:  wants(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := store.Recover(cmd.Context(), a.dataDir, store.Options{})
			if err != nil {
				return err
			}
			out := rebuilt{Backup: r.Backup, Tools: r.Tools, Servers: r.Servers}
			for _, d := range r.Damaged {
				out.Lost = append(out.Lost, d.String())
			}
			if r.Err != nil {
				out.Problem = r.Err.Error()
			}
			return a.print(out, func(w io.Writer) error {
				rows := [][]string{{"saved", fmt.Sprintf("%d tools, %d servers", out.Tools, out.Servers)}}
				for _, more := range [][]string{{"old file", out.Backup}, {"problem", out.Problem}} {
					if more[1] != "" {
						rows = append(rows, more)
					}
				}
				for _, l := range out.Lost {
					rows = append(rows, []string{"lost", l})
				}
				return columns(w, nil, rows)
			})
		},
	}
}
