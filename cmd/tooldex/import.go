package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"tooldex/catalog"
	"tooldex/config"
	"tooldex/internal/sanitize"
	"tooldex/service"
	"tooldex/tool"
	"tooldex/upstream"
)

func newImport(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "import [FILE|FOLDER...]",
		Short: "Read tools from dumps, catalogue files, overlays and live servers",
		Long: "Read tools from files and servers and make them searchable. A FILE is a tools/list dump, a catalogue file or an\n" +
			"overlay (YAML or JSON), or an mcpServers file, whose servers are added and whose tools are listed. A FOLDER stands for\n" +
			"the .json, .jsonl, .yaml, .yml and .zip files in it, a .zip archive for its files; a line of a .jsonl file is a tool.\n" +
			"Without FILE, the tools of the configured servers are listed again. Importing what has not changed changes nothing; a\n" +
			"source that fails or answers nothing removes nothing, and does not stop the others. A stopped import continues where\n" +
			"it stopped when it is run again.",
		Example: "  tooldex import ~/.claude.json\n  tooldex import dumps/*.json overlay.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			a.collectAt(150) // as often as costs no time that anyone notices
			s, err := a.open(cmd.Context(), service.ToImport)
			if err != nil {
				return err
			}
			defer a.close(s)
			// After all sources, so that a remote model gets texts in large batches. Closing comes after it.
			defer s.EmbedNow(cmd.Context())
			if len(args) == 0 {
				servers := s.Servers()
				if len(servers) == 0 {
					return usageError{"there is nothing to import", importHint}
				}
				return a.importServers(cmd.Context(), s, servers)
			}
			return a.importFiles(cmd.Context(), s, args)
		},
	}
}

// importFiles imports the content of files: tools, then overlays, then servers, which are asked for their tools. All
// errors are returned, joined.
func (a *app) importFiles(ctx context.Context, s *service.Service, files []string) error {
	im := &importer{app: a, stack: s}
	// Servers are stored before they are asked, so that one that fails now can be read later.
	servers := a.withoutOurselves(s.ImportFiles(ctx, files, im.add))
	if len(servers) > 0 {
		if err := s.SaveServers(ctx, servers); err != nil {
			return err
		}
		if err := im.importServers(ctx, servers); err != nil {
			return err
		}
	}
	return im.printReports()
}

// importServers asks live servers for their tools.
func (a *app) importServers(ctx context.Context, s *service.Service, servers []upstream.Server) error {
	im := &importer{app: a, stack: s}
	if err := im.importServers(ctx, servers); err != nil {
		return err
	}
	return im.printReports()
}

// withoutOurselves removes servers that are tooldex itself, which clients that use it have configured: asking them for
// their tools would never end.
func (a *app) withoutOurselves(servers []upstream.Server) []upstream.Server {
	return slices.DeleteFunc(servers, func(s upstream.Server) bool {
		ours := config.IsTooldex(s)
		if ours {
			fmt.Fprintf(a.stderr, "left out %s, which is tooldex itself\n", makePrintable(s.Name))
		}
		return ours
	})
}

// importer collects the reports and errors of several imports.
type importer struct {
	app   *app
	stack *service.Service

	mu      sync.Mutex // guards the rest: servers report concurrently
	tools   int        // that were read
	reports []catalog.Report
	errs    []error
}

// importServers imports the tools of servers, several at a time. Each is stored as soon as it has answered; its error
// goes to im.errs, and does not stop the others.
func (im *importer) importServers(ctx context.Context, servers []upstream.Server) error {
	p := im.app.newProgress()
	defer p.clearLine()
	return im.stack.ImportServers(ctx, servers, p.update, func(report catalog.Report, err error) {
		im.add(err, report)
	})
}

// add collects the result of one source. It may be called from several goroutines.
func (im *importer) add(err error, reports ...catalog.Report) {
	im.mu.Lock()
	defer im.mu.Unlock()
	im.addLocked(err, reports...)
}

// addLocked prints each report at once, when its changes are durable. im.mu must be held, or nothing run concurrently.
func (im *importer) addLocked(err error, reports ...catalog.Report) {
	if err != nil {
		im.errs = append(im.errs, err)
	}
	for _, r := range reports {
		if r.Changes()+r.Unchanged+len(r.Findings) == 0 { // it failed, and had never been imported
			continue
		}
		if im.app.format != "table" {
			im.reports = append(im.reports, r)
		}
		if im.tools += r.Changes() + r.Unchanged; im.tools > largeImport {
			im.app.collectAt(50)
			im.tools = math.MinInt // once is enough
		}
		if refusedAll(r) {
			im.errs = append(im.errs, &tool.Error{Code: tool.Invalid, Op: "import", Msg: "no tool of " + r.Source +
				" could be imported", Hint: "correct what was found"})
		}
		if im.app.format == "table" {
			fmt.Fprintln(im.app.stdout, reportLine(r))
		}
		im.printFindings(r)
	}
}

// largeImport is how many tools make collecting memory rarely too expensive: it would be several gigabytes.
const largeImport = 2000

// shownFindings bounds the findings of one source on stderr; -o json has all of them.
const shownFindings = 5

// printFindings prints what was repaired or refused, unless nothing has changed since they were printed last.
func (im *importer) printFindings(r catalog.Report) {
	if r.Changes() == 0 && !r.Stale && r.Unchanged > 0 {
		return
	}
	for i, f := range r.Findings {
		if i == shownFindings {
			fmt.Fprintf(im.app.stderr, "%s: %d more findings; -o json has them all\n", makePrintable(r.Source),
				len(r.Findings)-i)
			return
		}
		fmt.Fprintln(im.app.stderr, makePrintable(f.String()))
	}
}

// refusedAll reports whether a source offered tools and each was refused.
func refusedAll(r catalog.Report) bool {
	return r.Changes()+r.Unchanged == 0 && slices.ContainsFunc(r.Findings, func(f sanitize.Finding) bool {
		return f.Refused
	})
}

// reportLine says in one line what an import changed.
func reportLine(r catalog.Report) string {
	line := fmt.Sprintf("%s: %d added, %d changed, %d removed, %d unchanged", makePrintable(r.Source), len(r.Added),
		len(r.Changed), len(r.Removed), r.Unchanged)
	if len(r.Held) > 0 {
		line += fmt.Sprintf(", %d held", len(r.Held))
	}
	if r.Stale {
		line += " (kept as they were: the source failed or offered nothing)"
	}
	return line
}

// printReports prints the reports as JSON or YAML if that is the format, and returns all errors, joined.
func (im *importer) printReports() error {
	const manyUnfamiliar = 5 // worth a line
	if im.app.format != "table" {
		if im.reports == nil {
			im.reports = []catalog.Report{}
		}
		if err := im.app.print(im.reports, nil); err != nil {
			return err
		}
	} else if n := im.stack.Catalog.NewUnfamiliar(); n >= manyUnfamiliar {
		fmt.Fprintf(im.app.stderr, "search recognises %d of these tools poorly: tooldex enrich has your agent write search phrases for them\n", n)
	}
	return errors.Join(im.errs...)
}
