package eval

import (
	"cmp"
	_ "embed"
	"fmt"
	"html"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

//go:embed report.css
var reportStyle string

// htmlWriter builds a page. Text from outside must go through escapeText before it is written. Writing to it cannot
// fail, so its methods return no errors.
type htmlWriter struct{ strings.Builder }

// writeFormat writes HTML. Arguments must be escaped already.
func (m *htmlWriter) writeFormat(format string, args ...any) { fmt.Fprintf(m, format, args...) }

// escapeText returns s as text of a page: markup is escaped, and control characters and invalid UTF-8 are replaced.
func escapeText(s string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD")))
}

// writeTable writes rows of cells that are markup already. The first row is the heading; wordy lists the columns that
// hold prose, which are set to the left and may wrap.
func (m *htmlWriter) writeTable(rows [][]string, wordy ...int) {
	m.writeFormat("<div class=\"wide\"><table>\n")
	for i, row := range rows {
		tag := "td"
		if i == 0 {
			tag = "th"
		}
		m.writeFormat("<tr>")
		for k, cell := range row {
			class := ""
			if slices.Contains(wordy, k) {
				class = ` class="text"`
			}
			m.writeFormat("<%s%s>%s</%s>", tag, class, cell, tag)
		}
		m.writeFormat("</tr>\n")
	}
	m.writeFormat("</table></div>\n")
}

// A page is small enough to be mailed: it lists requests up to a number of bytes, and cuts each text to a number of
// characters.
const (
	mostBytes   = 270_000
	mostLetters = 240
)

// WriteHTML writes r as one page that needs nothing else: no script, no font, no other file. It has the gates, the
// figures, plots of recall at every depth, of scores against how often they were right, of time and of tokens, and the
// requests, missed ones first; and the comparison, if c is not nil. It adapts to dark and light and to narrow screens,
// and stays below 300 KB unless there are hundreds of kinds.
func (r *Report) WriteHTML(w io.Writer, verdicts []Verdict, c *Comparison) error {
	m := &htmlWriter{}
	m.writeHead(cmp.Or(r.Set, "Evaluation"), "how well tools are found", r.headLine())
	m.writeFormat("<p class=\"conclusion\">%s</p>\n", escapeText(r.Conclusion(verdicts)))
	m.writeGates(verdicts)
	m.writeKinds(r)
	m.writeRefusals(r.NoMatch)
	m.writeFormat("<h2>Plots</h2>\n<div class=\"plots\">\n")
	// A plot without data draws nothing and is left out of the page.
	for _, draw := range []func() (picture, error){r.recallPlot, r.reliabilityPlot, r.latencyPlot, r.tokenPlot} {
		pic, err := draw()
		if err != nil {
			return err
		}
		m.writePicture(&pic)
	}
	m.writeFormat("</div>\n")
	m.writeComparison(c)
	m.writeRequests(r.Cases)
	m.writeFormat("</body>\n</html>\n")
	return writeString(w, m.String())
}

// WriteHTML writes c as one page of its own, in the manner of [Report.WriteHTML]: the figures, and the requests whose
// first right tool moved, with their texts.
func (c *Comparison) WriteHTML(w io.Writer) error {
	m := &htmlWriter{}
	m.writeHead(c.B+" against "+c.A, "two runs compared", fmt.Sprintf("%d requests", c.Queries))
	m.writeComparison(c)
	m.writeFormat("</body>\n</html>\n")
	return writeString(w, m.String())
}

// writeHead writes the document's head, the heading and a line below it. The policy in it forbids everything but the
// inline style, so that a text that slipped through could not run.
func (m *htmlWriter) writeHead(name, about, line string) {
	name = escapeText(name)
	m.writeFormat("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
	m.writeFormat("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n" +
		"<meta name=\"color-scheme\" content=\"light dark\">\n")
	m.writeFormat("<meta http-equiv=\"Content-Security-Policy\" " +
		"content=\"default-src 'none'; style-src 'unsafe-inline'\">\n")
	m.writeFormat("<title>%s: %s</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>%s</h1>\n<p>%s.</p>\n", name, about,
		reportStyle, name, escapeText(line))
}

// headLine says what was measured.
func (r *Report) headLine() string {
	line := fmt.Sprintf("%d tools, %d requests", r.Tools, len(r.Cases))
	if r.Split != "" {
		line += " of split " + r.Split
	}
	if r.Mode != "" {
		line += fmt.Sprintf(", %s search", r.Mode)
	}
	line += fmt.Sprintf(", ranked to %d", r.Depth)
	if r.Agent != nil {
		line += "; " + r.Agent.text()
	}
	for _, note := range r.reportNotes() {
		line += fmt.Sprintf("; %s: %d", note.text, note.n)
	}
	return line
}

// writeGates writes what was required of figures, and whether it was met. It writes nothing without gates.
func (m *htmlWriter) writeGates(verdicts []Verdict) {
	if len(verdicts) == 0 {
		return
	}
	m.writeFormat("<h2>Gates</h2>\n")
	rows := [][]string{{"figure", "wanted", "is", "was", ""}}
	for _, v := range verdicts {
		met := `<span class="bad">not met</span>`
		if v.Met {
			met = `<span class="good">met</span>`
		}
		rows = append(rows, []string{
			escapeText(v.Figure), escapeText(v.Need), formatFigure(v.Got), formatFigure(v.Was), met,
		})
	}
	m.writeTable(rows, 1)
}

// writeKinds writes the main figures of each kind, with a bar for each. "-" stands for a metric that was not measured.
func (m *htmlWriter) writeKinds(r *Report) {
	shown := []Metric{
		recallAt(1), recallAt(5), recallAt(10), hitAt(5), metricMRR, metricNDCG, completeAt(5), completeAt(10),
	}
	if r.All.Tasks > 0 {
		shown = append(shown, stepsAt(1), stepsAt(5), stepsAt(10))
	}
	head := []string{"kind", "requests"}
	for _, metric := range shown {
		head = append(head, escapeText(string(metric)))
	}
	rows := [][]string{append(head, "confident")}
	for _, s := range append([]Summary{r.All}, r.Kinds...) {
		row := []string{escapeText(cutText(cmp.Or(s.Kind, "all"))), strconv.Itoa(s.Queries)}
		for _, metric := range shown {
			cell := "-"
			if v, ok := s.Scores[metric]; ok {
				cell = fmt.Sprintf(`%.3f<span class="bar"><i style="width:%.0f%%"></i></span>`, v, 100*v)
			}
			row = append(row, cell)
		}
		rows = append(rows, append(row, formatFigure(s.Confident)))
	}
	m.writeFormat("<h2>By kind of request</h2>\n")
	m.writeTable(rows)
}

// writeRefusals writes how requests that no tool serves were answered, nothing if they were not measured.
func (m *htmlWriter) writeRefusals(n *Abstention) {
	if n == nil {
		return
	}
	rows := [][]string{{"requests", "number", "confident, wrongly", "auroc", "refused at 95 % kept"}}
	for _, of := range n.measuredParts() {
		rows = append(rows, []string{
			of.name, strconv.Itoa(of.r.Queries), formatFigure(of.r.Confident), formatFigure(of.r.AUROC),
			formatFigure(of.r.Refused),
		})
	}
	m.writeFormat("<h2>Requests that no tool serves</h2>\n")
	m.writeTable(rows)
}

// writePicture writes a plot with its legend, nothing for a plot without data.
func (m *htmlWriter) writePicture(p *picture) {
	if p.SVG == "" {
		return
	}
	m.writeFormat("<figure>\n<h3>%s</h3>\n<p>%s ↑</p>\n%s\n", escapeText(p.Title), escapeText(p.Y), p.SVG)
	if len(p.Legend) > 0 {
		m.writeFormat("<ul class=\"legend\">")
		for _, l := range p.Legend {
			class := ""
			if l.Dashed {
				class = ` class="dashed"`
			}
			m.writeFormat(`<li><i%s style="border-color:var(--c%d)"></i>%s</li>`, class, l.Color, escapeText(l.Name))
		}
		m.writeFormat("</ul>\n")
	}
	m.writeFormat("<figcaption>%s</figcaption>\n</figure>\n", escapeText(p.Text))
}

// writeComparison writes the change of each figure against another report. Only changes whose interval excludes zero
// are coloured.
func (m *htmlWriter) writeComparison(c *Comparison) {
	if c == nil {
		return
	}
	m.writeFormat("<h2>%s against %s</h2>\n", escapeText(c.B), escapeText(c.A))
	m.writeFormat("<p>%d requests in both; 95 %% intervals of a paired bootstrap. "+
		"Changes whose interval leaves out zero are in colour.</p>\n", c.Queries)
	rows := [][]string{{"figure", escapeText(c.A), escapeText(c.B), "change", "from", "to", "wins", "losses", "ties"}}
	for _, d := range c.distinct() {
		change := fmt.Sprintf("%+.3f", d.Change)
		switch {
		case d.Clear() && d.Change > 0:
			change = `<span class="good">` + change + "</span>"
		case d.Clear():
			change = `<span class="bad">` + change + "</span>"
		}
		rows = append(rows, []string{
			escapeText(string(d.Metric)), formatFigure(&d.A), formatFigure(&d.B), change, fmt.Sprintf("%+.3f", d.Low),
			fmt.Sprintf("%+.3f", d.High),
			strconv.Itoa(d.Wins), strconv.Itoa(d.Losses), strconv.Itoa(d.Ties),
		})
	}
	m.writeTable(rows)
	m.writeChanges(c)
}

// writeChanges lists the requests whose first right tool moved, the worst loss first, until the page is full.
func (m *htmlWriter) writeChanges(c *Comparison) {
	if len(c.Changes) == 0 {
		return
	}
	m.writeFormat("<h3>Requests whose first right tool moved</h3>\n")
	rows := [][]string{{"id", "request", "kind", escapeText(c.A), escapeText(c.B)}}
	size := m.Len()
	for i := range c.Changes {
		ch := &c.Changes[i]
		row := []string{
			escapeText(cutText(ch.ID)), escapeText(cutText(ch.Query)), escapeText(cutText(ch.Kind)), formatPlace(ch.A),
			formatPlace(ch.B),
		}
		if size += rowSize(row); size > mostBytes/2 {
			m.writeFormat("<p>The first %d of %d.</p>\n", len(rows)-1, len(c.Changes))
			break
		}
		rows = append(rows, row)
	}
	m.writeTable(rows, 1, 2)
}

// writeRequests lists the requests: those without any right tool first, then by the place of the first right one. It
// ends where the page is full.
func (m *htmlWriter) writeRequests(cases []Outcome) {
	if len(cases) == 0 {
		return
	}
	all := make([]*Outcome, len(cases))
	missed := 0
	for i := range cases {
		all[i] = &cases[i]
		missed += int(boolScore(cases[i].Missed() != ""))
	}
	// Requests without a right tool come first, then wrong confident answers to requests that no tool serves, then the
	// others by place.
	worst := func(o *Outcome) int {
		switch {
		case o.NoMatch && o.Missed() != "":
			return 1 << 20
		case o.NoMatch:
			return 0
		case o.Rank == 0:
			return 1 << 21
		}
		return o.Rank
	}
	slices.SortStableFunc(all, func(a, b *Outcome) int { return cmp.Compare(worst(b), worst(a)) })
	rows := [][]string{{"id", "request", "kind", "wanted", "found first", "place", "score", "what would help"}}
	size := m.Len()
	for _, o := range all {
		row := o.tableCells()
		// The table is the last part of the page, so only its length has to adapt.
		if size += rowSize(row); size > mostBytes {
			break
		}
		rows = append(rows, row)
	}
	m.writeFormat("<h2>Requests</h2>\n<p>%d in all, %d missed", len(all), missed)
	if shown := len(rows) - 1; shown < len(all) {
		m.writeFormat(", the worst %d here", shown)
	}
	m.writeFormat(". A request is missed without a right tool among the first five, " +
		"or if it was answered with confidence though no tool serves it. A task is also missed if the request of one of " +
		"its steps is. A request for several things has a place for each.</p>\n")
	m.writeTable(rows, 1, 3, 4, 7)
}

// tableCells returns the row of a request.
func (o *Outcome) tableCells() []string {
	wanted := "no tool"
	if !o.NoMatch {
		wanted = strings.Join(o.Wanted, ", ")
	}
	place, score := o.placesText(), "-"
	if o.NoMatch {
		place = ""
	}
	if o.First != "" {
		score = fmt.Sprintf("%.2f", o.FirstScore)
	}
	help := escapeText(cutText(o.Help))
	if why := o.Missed(); why != "" {
		place = `<span class="bad">` + place + "</span>"
		help = cmp.Or(help, why)
	}
	return []string{
		escapeText(cutText(o.ID)), escapeText(cutText(o.Query)), escapeText(cutText(o.Kind)),
		escapeText(cutText(wanted)), escapeText(cutText(o.First)), place, score, help,
	}
}

// rowSize returns about how many bytes a row of cells takes in a page.
func rowSize(row []string) int {
	const tags = 24 // of a cell
	n := 0
	for _, cell := range row {
		n += len(cell) + tags
	}
	return n
}

// cutText returns the first mostLetters characters of s.
func cutText(s string) string {
	letters := []rune(s)
	if len(letters) <= mostLetters {
		return s
	}
	return string(letters[:mostLetters-1]) + "…"
}
