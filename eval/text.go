package eval

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// WriteText writes r as aligned tables, kinds as rows, for people.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%d tools, %d requests", fileName(r.Set), r.Tools, len(r.Cases))
	if r.Split != "" {
		fmt.Fprintf(&b, " of split %s", r.Split)
	}
	if r.Mode != "" {
		fmt.Fprintf(&b, ", %s search", r.Mode)
	}
	fmt.Fprintf(&b, ", ranked to %d\n", r.Depth)
	if text := r.Conclusion(nil); text != "" {
		b.WriteString(text + "\n")
	}
	b.WriteByte('\n')
	r.scoreTable(&b)
	r.refusalTable(&b)
	if c := r.Calibration; c != nil {
		fmt.Fprintf(&b, "\nscores  calibration error %.3f over %d answers\n", c.Error, c.Answers)
	}
	r.costLines(&b)
	if a := r.Agent; a != nil {
		fmt.Fprintf(&b, "agent   %s\n", a.text())
	}
	for _, note := range r.reportNotes() {
		fmt.Fprintf(&b, "note: %s: %d\n", note.text, note.n)
	}
	return writeString(w, b.String())
}

// text says what a model did, on one line.
func (a *AgentUse) text() string {
	text := fmt.Sprintf("%s called %d tools of %d that it was given", a.Model, a.Calls, a.Offered)
	for _, of := range []remark{
		{"calls had invalid arguments", a.Invalid},
		{"calls were of unknown tools", a.Unknown},
		{"requests got no call", a.Silent},
		{"prompt tokens", a.PromptTokens},
		{"answer tokens", a.AnswerTokens},
	} {
		if of.n > 0 {
			text += fmt.Sprintf(", %d %s", of.n, of.text)
		}
	}
	return text
}

// remark is a number that qualifies the figures.
type remark struct {
	text string
	n    int
}

// reportNotes returns the remarks whose number is not zero.
func (r *Report) reportNotes() []remark {
	all := []remark{
		{"requests without an answer in the run, counted as not found", r.Missing},
		{"places held by tools that are not of the set", r.Strangers},
		{"answers found by words only, the embedder being away", r.Degraded},
		{"requests whose labels nobody has reviewed", r.Unreviewed},
		{"tasks whose steps have requests, over which steps@k is the mean", r.All.Tasks},
	}
	return slices.DeleteFunc(all, func(n remark) bool { return n.n == 0 })
}

// fileName returns the prefix of a heading about a set, "" for a set without a name.
func fileName(set string) string {
	if set == "" {
		return ""
	}
	return set + ": "
}

// scoreTable writes the metrics of all requests and of each kind; "-" was not measured.
func (r *Report) scoreTable(b *strings.Builder) {
	shown := r.shownMetrics()
	head := []string{"kind", "requests"}
	for _, d := range shown {
		head = append(head, columnHeading(d))
	}
	rows := [][]string{append(head, "confident")}
	for _, s := range append([]Summary{r.All}, r.Kinds...) {
		row := []string{s.Kind, strconv.Itoa(s.Queries)}
		if s.Kind == "" {
			row[0] = "all"
		}
		for _, d := range shown {
			if v, ok := s.Scores[d.metric]; ok {
				row = append(row, formatFigure(&v))
			} else {
				row = append(row, "-")
			}
		}
		rows = append(rows, append(row, formatFigure(s.Confident)))
	}
	writeTable(b, rows)
}

// shownMetrics returns the metrics of the table. Where every request wants one tool, hit@k and complete@k equal
// recall@k and are left out but for complete@10; so is steps@k without tasks to measure it. Values are compared and not
// the labels, so that the rule also holds for reports that were read from files.
func (r *Report) shownMetrics() []definition {
	differ := map[string]bool{} // "hit" and "complete", where they say more than recall
	for _, s := range append([]Summary{r.All}, r.Kinds...) {
		for m, v := range s.Scores {
			if name, k, ok := strings.Cut(string(m), "@"); ok && s.Scores[Metric("recall@"+k)] != v {
				differ[name] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(defined[:]), func(d definition) bool {
		name, _, _ := strings.Cut(string(d.metric), "@")
		return canRepeatRecall(d.metric) && !differ[name] || d.ofSteps && r.All.Tasks == 0
	})
}

// canRepeatRecall reports whether a metric says nothing where it equals recall at the same depth. complete@10 is the
// one to look at for requests for several things, and is always shown.
func canRepeatRecall(m Metric) bool {
	return strings.HasPrefix(string(m), "hit@") || strings.HasPrefix(string(m), "complete@") && m != completeAt(10)
}

// columnHeading names a metric in full only where a row of depths begins.
func columnHeading(d definition) string {
	name := string(d.metric)
	if d.k > 1 && d.metric != metricNDCG && !strings.HasPrefix(name, "complete@") {
		return name[strings.IndexByte(name, '@'):]
	}
	return name
}

// refusalTable writes how often requests that no tool serves were answered confidently.
func (r *Report) refusalTable(b *strings.Builder) {
	n := r.NoMatch
	if n == nil {
		return
	}
	rows := [][]string{
		{"no tool fits", "requests", "confident", "auroc", "refused at 95 % kept"},
		{"(some tool fits)", strconv.Itoa(n.Answerable), formatFigure(n.Confident), "-", "-"},
	}
	for _, of := range n.measuredParts() {
		rows = append(rows, []string{
			of.name, strconv.Itoa(of.r.Queries), formatFigure(of.r.Confident), formatFigure(of.r.AUROC),
			formatFigure(of.r.Refused),
		})
	}
	b.WriteByte('\n')
	writeTable(b, rows)
}

// namedRefusal is a row about requests that no tool serves.
type namedRefusal struct {
	name string
	r    *Refusal
}

// measuredParts returns the refusals that were measured, with their names.
func (n *Abstention) measuredParts() []namedRefusal {
	all := []namedRefusal{{"all", n.All}, {"near miss", n.NearMiss}, {"foreign", n.Foreign}}
	return slices.DeleteFunc(all, func(of namedRefusal) bool { return of.r == nil })
}

// costLines writes what answers took in time and in tokens, as far as that was measured.
func (r *Report) costLines(b *strings.Builder) {
	if r.Latency != nil || r.Tokens != nil {
		b.WriteByte('\n')
	}
	if l := r.Latency; l != nil {
		fmt.Fprintf(b, "time    p50 %s, p95 %s, p99 %s for %d tools, %d at a time\n", formatMillis(l.P50),
			formatMillis(l.P95),
			formatMillis(l.P99), l.Answer, l.Workers)
	}
	if t := r.Tokens; t != nil {
		fmt.Fprintf(b, "tokens  median %.0f, mean %.0f an answer of %d tools at %s\n", t.Median, t.Mean, t.Answer,
			t.Detail)
	}
}

// formatMillis writes a duration in milliseconds.
func formatMillis(d time.Duration) string {
	return fmt.Sprintf("%.3g ms", float64(d)/float64(time.Millisecond))
}

// formatFigure writes a figure, and a dash for one that could not be measured.
func formatFigure(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.3f", *v)
}

// mostChanges is how many wins, losses and unmoved requests the text of a comparison lists where Most is 0.
const mostChanges = 10

// WriteText writes c as aligned tables for people: all metrics, recall@5 and nDCG by kind, the greatest losses and
// wins, and what did not move. A star marks a change whose interval leaves out zero.
func (c *Comparison) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s against %s: %d requests", c.B, c.A, c.Queries)
	if c.Unpaired > 0 {
		fmt.Fprintf(&b, ", %d more in one of them only", c.Unpaired)
	}
	b.WriteString("\n\n")
	head := []string{"", c.A, c.B, "change", "95 % interval", "", "wins", "losses", "ties"}
	rows := [][]string{head}
	for _, d := range c.distinct() {
		rows = append(rows, d.tableRow(string(d.Metric)))
	}
	writeTable(&b, rows)
	rows = [][]string{head}
	for _, k := range c.Kinds {
		for i := range k.Metrics {
			if m := k.Metrics[i].Metric; m == recallAt(5) || m == metricNDCG {
				rows = append(rows, k.Metrics[i].tableRow(fmt.Sprintf("%s (%d) %s", k.Kind, k.Queries, m)))
			}
		}
	}
	if len(rows) > 1 {
		b.WriteByte('\n')
		writeTable(&b, rows)
	}
	c.changeTables(&b)
	return writeString(w, b.String())
}

// distinct returns the differences without those that repeat what recall@k says, as they do where every request wants
// one tool.
func (c *Comparison) distinct() []*Difference {
	recall := map[string]Difference{}
	var out []*Difference
	for i := range c.All {
		d := &c.All[i]
		// recall@k precedes the others in All, so its figures are known here.
		name, k, _ := strings.Cut(string(d.Metric), "@")
		same := *d
		same.Metric = ""
		switch {
		case name == "recall":
			recall[k] = same
		case canRepeatRecall(d.Metric) && recall[k] == same:
			continue
		}
		out = append(out, d)
	}
	return out
}

// tableRow returns the row of a figure; a star marks a change whose 95 % interval excludes zero.
func (d *Difference) tableRow(name string) []string {
	star := ""
	if d.Clear() {
		star = "*"
	}
	return []string{
		name, formatFigure(&d.A), formatFigure(&d.B), fmt.Sprintf("%+.3f", d.Change),
		fmt.Sprintf("%+.3f to %+.3f", d.Low, d.High),
		star,
		strconv.Itoa(d.Wins), strconv.Itoa(d.Losses), strconv.Itoa(d.Ties),
	}
}

// changeTables writes the losses and wins, greatest first, and the IDs that did not move. Changes is sorted from the
// worst loss to the best win, so one search splits it.
func (c *Comparison) changeTables(b *strings.Builder) {
	most := cmp.Or(c.Most, mostChanges)
	// the first change that is no loss
	split, _ := slices.BinarySearchFunc(c.Changes, 0, func(ch Change, _ int) int {
		return cmp.Compare(ch.rankGain(), 0)
	})
	losses, wins := c.Changes[:split], slices.Clone(c.Changes[split:])
	// equal ones stay by ID
	slices.SortStableFunc(wins, func(x, y Change) int { return cmp.Compare(y.rankGain(), x.rankGain()) })
	for _, part := range []struct {
		name string
		list []Change
	}{{"losses", losses}, {"wins", wins}} {
		if len(part.list) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n%s, greatest of %d: place of the first right tool\n", part.name, len(part.list))
		list := part.list[:min(most, len(part.list))]
		rows := [][]string{{"id", "kind", c.A, c.B}}
		texts := []string{"request"}
		for _, ch := range list {
			rows = append(rows, []string{ch.ID, ch.Kind, formatPlace(ch.A), formatPlace(ch.B)})
			texts = append(texts, lineOf(ch.Query))
		}
		writeTableWithTexts(b, rows, texts)
	}
	if n := len(c.Same); n > 0 {
		fmt.Fprintf(b, "\nties, %d with the first right tool at the same place: %s", n,
			strings.Join(c.Same[:min(most, n)], " "))
		if n > most {
			fmt.Fprintf(b, " and %d more", n-most)
		}
		b.WriteByte('\n')
	}
}

// formatPlace writes a place, and a dash for a tool that was not found.
func formatPlace(at int) string {
	if at == 0 {
		return "-"
	}
	return strconv.Itoa(at)
}

// lineOf returns a request on one line of at most 80 characters.
func lineOf(query string) string {
	const most = 80
	query = strings.Join(strings.Fields(query), " ")
	if letters := []rune(query); len(letters) > most {
		return string(letters[:most-1]) + "…"
	}
	return query
}

// writeTable writes rows of one length, aligned: the first column to the left and the others to the right.
func writeTable(b *strings.Builder, rows [][]string) {
	writeTableWithTexts(b, rows, make([]string, len(rows)))
}

// writeTableWithTexts does the same, and ends each row with a text that is aligned to the left.
func writeTableWithTexts(b *strings.Builder, rows [][]string, texts []string) {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for k, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				line.WriteString(cell + pad)
			} else {
				line.WriteString("  " + pad + cell)
			}
		}
		line.WriteString("  " + texts[k])
		b.WriteString(strings.TrimRight(line.String(), " "))
		b.WriteByte('\n')
	}
}

// writeString writes s, and names the report in the error.
func writeString(w io.Writer, s string) error {
	if _, err := io.WriteString(w, s); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
