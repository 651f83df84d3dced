package tooldex

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"tooldex/catalog"
	"tooldex/catalog/sources"
	"tooldex/search"
	"tooldex/service"
	"tooldex/tool"
)

// Options says which tools are searched. Its zero value makes a Finder without tools, to which Finder.Catalog adds
// some.
type Options struct {
	// Dir is the data directory, made where there is none. It may be the one of the command: processes share it. With
	// "" the tools are kept in a temporary folder until Close.
	Dir string
	// Files are read first, and their tools added to those of Dir: tools/list dumps, catalogue files and overlays, as
	// docs/reference/catalogue-file.md describes them.
	Files []string
	// Tools are the program's own: they replace those that Dir keeps of the same servers. Those without a Server belong
	// to the server "own". The tools are copied; what must be repaired in them is repaired in the copies.
	Tools []*tool.Tool
	// Model makes the tools searchable; nil means the one that is compiled in.
	Model *catalog.Model
	// Logger logs what was repaired in tools, and what is damaged in Dir; nil logs nothing.
	Logger *slog.Logger
}

// Finder searches tools. It is safe for concurrent use, but for Close. Make one with Open.
type Finder struct {
	// Engine answers: Finder.Search is its method. It searches what Catalog holds at that moment.
	*search.Engine
	// Catalog adds, changes and removes tools; what it changes is found as soon as it returns. Of a directory that
	// others write to, Catalog.Refresh takes over what they changed.
	Catalog *catalog.Catalog

	service *service.Service
}

// Open reads the stored tools and the files, makes searchable what is not yet, and returns when all can be found: with
// the model that is compiled in that takes less than a millisecond for each new tool, and next to nothing for one that
// is stored. The errors are Invalid for a file that cannot be used, Timeout if ctx ends first, and those of store.Open
// and catalog.Open; then nothing stays open, and what was stored before stays as it was.
func Open(ctx context.Context, o Options) (*Finder, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s, err := service.Open(ctx, service.Options{Dir: o.Dir, Use: service.ToSearch, Model: o.Model, Logger: o.Logger})
	if err != nil {
		return nil, err
	}
	f := &Finder{Engine: s.Engine, Catalog: s.Catalog, service: s}
	if err := f.importFiles(ctx, o); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// ownServer is the server of a program's own tools that name none.
const ownServer = "own"

// ownTools is a source of the program's own tools of one server.
type ownTools struct {
	server string
	tools  []*tool.Tool
}

// Name implements sources.Source.
func (o *ownTools) Name() string { return o.server }

// Tools implements sources.Source.
func (o *ownTools) Tools(context.Context) ([]*tool.Tool, error) { return o.tools, nil }

// ownSources returns a source for each server of a program's own tools, with copies of them. The error is Invalid for a
// tool that is nil or has no name.
func ownSources(tools []*tool.Tool) ([]sources.Source, error) {
	var out []sources.Source
	byServer := map[string]*ownTools{}
	for i, t := range tools {
		if t == nil || t.Name == "" {
			return nil, &tool.Error{
				Code: tool.Invalid, Op: "open", Msg: fmt.Sprintf("tool %d of Options.Tools has no name", i+1),
				Hint: "give each tool a name",
			}
		}
		one := *t
		one.Server = cmp.Or(t.Server, ownServer)
		own := byServer[one.Server]
		if own == nil {
			own = &ownTools{server: one.Server}
			byServer[one.Server] = own
			out = append(out, own)
		}
		own.tools = append(own.tools, &one)
	}
	return out, nil
}

// importFiles imports the program's own tools and the files, tools before overlays, since these may speak of those.
func (f *Finder) importFiles(ctx context.Context, o Options) error {
	all, err := ownSources(o.Tools)
	if err != nil {
		return err
	}
	var overlays []*sources.Overlay
	for _, path := range o.Files {
		content, err := sources.ReadFile(path)
		if err != nil {
			return err
		}
		if len(content.Servers) > 0 {
			return &tool.Error{
				Code: tool.Invalid, Op: "open", Msg: fmt.Sprintf("%s holds servers, not tools", path),
				Hint: "import it by the command and set Options.Dir, or ask the servers by package gateway",
			}
		}
		all = append(all, content.Sources...)
		if content.Overlay != nil {
			overlays = append(overlays, content.Overlay)
		}
	}
	reports, err := f.Catalog.SyncAll(ctx, all)
	if err != nil {
		return err
	}
	for _, overlay := range overlays {
		report, err := f.Catalog.ApplyOverlay(ctx, overlay)
		if err != nil {
			return err
		}
		reports = append(reports, report)
	}
	for _, r := range reports {
		for _, finding := range r.Findings {
			o.Logger.Info("finding", "tool", finding.Tool, "problem", finding.Problem, "repair", finding.Repair)
		}
	}
	return nil
}

// Close removes the temporary folder, if there is one; a Finder of a directory that stays need not be closed. Nothing
// may be changed afterwards. The error is Internal: files remain.
func (f *Finder) Close() error { return f.service.Close() }
