package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tooldex/audit"
	"tooldex/internal/sanitize"
	"tooldex/service"
	"tooldex/tool"
)

func newAudit(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Show who called which tool, and check that the record is complete",
		Long: "Show who called which tool, and check that the record is complete. Calls over MCP, HTTP and the command line are\n" +
			"recorded, including refused ones, and changes of the configuration. Arguments are not kept, only a keyed hash of them.",
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newAuditShow(a), newAuditVerify(a))
	return cmd
}

// auditFilter chooses records. The first fields are the flags as typed; a field that is empty excludes nothing.
type auditFilter struct {
	since, tool, outcome, kind, client, arguments string
	follow                                        bool

	audit.Filter // what the flags mean, as readFlags sets it
}

func newAuditShow(a *app) *cobra.Command {
	var f auditFilter
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Show what was recorded",
		Long: "Show what was recorded, oldest first, the last fifty records unless --limit or --since says otherwise. With -o json and\n" +
			"--follow each record is one line.",
		Example: "  tooldex audit show --since 1h\n  tooldex audit show --outcome denied --tool 'github/*'\n" +
			"  tooldex audit show --arguments '{\"path\": \"/etc/passwd\"}'",
		Args: checkArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.readFlags(a); err != nil {
				return err
			}
			return a.auditShow(cmd.Context(), &f)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.since, "since", "", "records from then on: 1h, 30m, 7d, 2026-11-20 or 2026-11-20T15:04:05Z")
	fl.StringVar(&f.tool, "tool", "", "records of this tool, by server/name; * stands for any part of a name")
	fl.StringVar(&f.outcome, "outcome", "", "calls with this outcome: "+outcomesText())
	fl.StringVar(&f.kind, "kind", "", "records of this kind: call, begin, change, start, stop")
	fl.StringVar(&f.client, "client", "", "records of this program, or of this token")
	fl.StringVar(&f.arguments, "arguments", "", "calls with just these arguments, a JSON object")
	fl.BoolVarP(&f.follow, "follow", "f", false, "continue to show records as they are written")
	a.limitFlag(cmd, "how many records at most, the last ones (default 50; all with --since)")
	return cmd
}

func outcomesText() string {
	var out []string
	for _, o := range audit.Outcomes() {
		out = append(out, string(o))
	}
	return strings.Join(out, ", ")
}

// readFlags checks the flags and sets the filter. Its errors are usage errors.
func (f *auditFilter) readFlags(a *app) error {
	if f.outcome != "" && !slices.Contains(audit.Outcomes(), audit.Outcome(f.outcome)) {
		return usageError{fmt.Sprintf("no call ends %q", f.outcome), "use " + outcomesText()}
	}
	f.Filter = audit.Filter{
		Tool: f.tool, Outcome: audit.Outcome(f.outcome), Kind: audit.Kind(f.kind), Client: f.client,
	}
	if f.Check() != nil {
		return usageError{fmt.Sprintf("%q is no pattern", f.tool), "give server/name, with * for any part of a name"}
	}
	if f.since != "" {
		var err error
		if f.Since, err = sinceThen(f.since, time.Now()); err != nil {
			return err
		}
	}
	if f.arguments != "" {
		if !json.Valid([]byte(f.arguments)) {
			return usageError{"the arguments are not JSON", `give --arguments '{"key": "value"}'`}
		}
		// Only the log knows the key of the hashes, which lies in its directory.
		l := audit.New(audit.Options{Dir: service.AuditDir(a.config()), Logger: a.log})
		defer func() { _ = l.Close() }() // nothing is written
		f.Arguments = l.Fingerprint(json.RawMessage(f.arguments))
	}
	return nil
}

// sinceThen parses a time: how long before now, as 1h or 7d, or a date or time in the local zone.
func sinceThen(text string, now time.Time) (time.Time, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateTime, time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usageError{fmt.Sprintf("%q is no time", text), "give 1h, 7d, 2026-11-20 or " +
		"2026-11-20T15:04:05Z"}
}

const (
	followEvery  = 300 * time.Millisecond // how often audit show --follow looks for more
	shownRecords = 50                     // without --limit and --since
)

// auditShow prints the latest records that pass the filter, or all since a time if the filter has one and no limit.
func (a *app) auditShow(ctx context.Context, f *auditFilter) error {
	most := a.limit
	if most == 0 && f.since == "" {
		most = shownRecords
	}
	// The reader remembers where it stopped, so that --follow continues from there.
	reader := audit.NewReader(service.AuditDir(a.config()))
	found := []audit.Record{}
	if err := reader.Read(func(r audit.Record) error {
		if f.Matches(&r) {
			found = append(found, r)
		}
		if most > 0 && len(found) > 2*most { // a long log must not be held in memory
			found = slices.Delete(found, 0, len(found)-most)
		}
		return nil
	}); err != nil {
		return err
	}
	if most > 0 && len(found) > most {
		found = found[len(found)-most:]
	}
	if !f.follow {
		return a.print(found, func(w io.Writer) error { return auditTable(w, found) })
	}
	if err := a.auditLines(found); err != nil {
		return err
	}
	ticker := time.NewTicker(followEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		if err := reader.Read(func(r audit.Record) error {
			if !f.Matches(&r) {
				return nil
			}
			return a.auditLines([]audit.Record{r})
		}); err != nil {
			return err
		}
	}
}

// auditLines writes one line for each record, so that --follow can go on after it.
func (a *app) auditLines(records []audit.Record) error {
	for _, r := range records {
		if a.format == "table" {
			fmt.Fprintln(a.stdout, makePrintable(strings.Join(auditRow(r), "  ")))
			continue
		}
		b, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("write record: %w", err)
		}
		fmt.Fprintln(a.stdout, sanitize.EscapeObeyed(string(b)))
	}
	return nil
}

// auditTable prints records as a table, and a sentence if there are none.
func auditTable(w io.Writer, records []audit.Record) error {
	if len(records) == 0 {
		fmt.Fprintln(w, "nothing is recorded")
		return nil
	}
	rows := make([][]string, len(records))
	for i, r := range records {
		rows[i] = auditRow(r)
	}
	return writeColumns(w, []string{"NUMBER", "TIME", "WHO", "WHAT", "OUTCOME", "MS"}, rows)
}

// auditRow returns the columns of a record. Columns that a kind of record does not have are empty.
func auditRow(r audit.Record) []string {
	who := []string{r.Who.Principal, r.Who.Client, string(r.Who.Via)}
	who = slices.DeleteFunc(who, func(s string) bool { return s == "" })
	what := string(r.Tool)
	switch {
	case r.Kind == audit.Change:
		what = r.Action + " " + r.Subject
	case r.Kind == audit.Gap:
		what = fmt.Sprintf("%d records are missing", r.Lost)
	case r.Kind == audit.Begin:
		what = "begins " + what
	case r.Kind != audit.Call:
		what = strings.TrimSpace(string(r.Kind) + " " + r.Subject)
	case what == "":
		what = r.Name
	}
	outcome, took := string(r.Outcome), ""
	if detail := r.Reason + r.Confirmed; detail != "" {
		outcome += " (" + detail + ")"
	}
	if r.Millis > 0 {
		took = strconv.FormatFloat(r.Millis, 'f', 1, 64)
	}
	return []string{
		strconv.FormatUint(r.Seq, 10), r.Time.Local().Format(time.DateTime), strings.Join(who, " "), what,
		outcome, took,
	}
}

func newAuditVerify(a *app) *cobra.Command {
	var anchors []string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check that no record was altered, removed or inserted",
		Long: "Check that no record was altered, removed, inserted or moved, and name the file and the line where one was. The last line\n" +
			"is an anchor: the number and hash of the last record. Keep it where the files of the log cannot be written; given with\n" +
			"--anchor later, it shows whether all records up to it are still the same. The anchor in the file of audit.anchor is checked,\n" +
			"too. The exit code is 1 if they are not.",
		Example: "  tooldex audit verify\n  tooldex audit verify --anchor 1042:5b0c…",
		Args:    checkArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var given []audit.Anchor
			for _, text := range anchors {
				anchor, err := audit.ParseAnchor(text)
				if err != nil {
					return usageError{fmt.Sprintf("%q is not an anchor", text), "give NUMBER:HASH, as tooldex audit " +
						"verify prints it"}
				}
				given = append(given, anchor)
			}
			if file := a.config().Audit.Anchor; file != "" {
				anchor, written, err := audit.ReadAnchor(file)
				if err != nil {
					return err
				}
				if written {
					given = append(given, anchor)
				}
			}
			r, err := audit.Verify(cmd.Context(), service.AuditDir(a.config()), given...)
			if err != nil {
				return &tool.Error{
					Code: tool.Internal, Op: "verify", Msg: "the audit log in " + service.AuditDir(a.config()) +
						" cannot be read", Hint: "see that you may read the folder, or name another with TOOLDEX_AUDIT_DIR",
					Err: err,
				}
			}
			if err := a.print(r, func(w io.Writer) error { return auditReport(w, r) }); err != nil {
				return err
			}
			if !r.OK() {
				return silent(exitFailed)
			}
			return nil
		},
	}
	cmd.Flags().StringArrayVar(&anchors, "anchor", nil,
		"the number and hash of a record, as verify printed it once; may be repeated")
	return cmd
}

// auditReport prints the result of a verification. The anchor is to be kept elsewhere: it proves later that no record
// was removed.
func auditReport(w io.Writer, r *audit.Report) error {
	for _, n := range r.Notes {
		fmt.Fprintln(w, "note: "+makePrintable(n))
	}
	for _, b := range r.Breaks {
		fmt.Fprintln(w, makePrintable(b.String()))
	}
	if r.More > 0 {
		fmt.Fprintf(w, "and %d more\n", r.More)
	}
	switch {
	case !r.OK():
		fmt.Fprintf(w, "%d records in %d files, which are not as they were written\n", r.Records, r.Files)
	case r.Head == nil:
		fmt.Fprintln(w, "nothing is recorded in "+r.Dir)
	default:
		fmt.Fprintf(w, "%d records in %d files, all as they were written\nanchor %s\n", r.Records, r.Files, r.Head)
	}
	return nil
}
