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

// htmlWriter builds a page. Text from outside must go through escapeText before it is written.
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

// The page is small enough to be mailed: with so many missed requests, and so many characters of each text, it stays
// below 300 KB.
const (
	mostMissed  = 150
	mostLetters = 240
)

// WriteHTML writes r as one page that needs nothing else: no script, no font, no other file. It has the gates, the
// figures, plots of recall at every depth, of scores against how often they were right, of time and of tokens, and the
// requests that were missed; and the comparison, if c is not nil. It adapts to dark and light and to narrow screens,
// and stays below 300 KB unless there are hundreds of kinds.
func (r *Report) WriteHTML(w io.Writer, verdicts []Verdict, c *Comparison) error {
	m := &htmlWriter{}
	m.writeHead(r)
	m.writeGates(verdicts)
	m.writeKinds(r)
	m.writeRefusals(r.NoMatch)
	m.writeFormat("<h2>Plots</h2>\n<div class=\"plots\">\n")
	for _, draw := range []func() (picture, error){r.recallPlot, r.reliabilityPlot, r.latencyPlot, r.tokenPlot} {
		pic, err := draw()
		if err != nil {
			return err
		}
		m.writePicture(&pic)
	}
	m.writeFormat("</div>\n")
	m.writeComparison(c)
	m.writeMissed(r.Cases)
	m.writeFormat("</body>\n</html>\n")
	return writeString(w, m.String())
}

// writeHead writes the document's head and the summary line. The policy in it forbids everything but the inline style,
// so that a text that slipped through could not run.
func (m *htmlWriter) writeHead(r *Report) {
	name := escapeText(cmp.Or(r.Set, "Evaluation"))
	m.writeFormat("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
	m.writeFormat("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n" +
		"<meta name=\"color-scheme\" content=\"light dark\">\n")
	m.writeFormat("<meta http-equiv=\"Content-Security-Policy\" " +
		"content=\"default-src 'none'; style-src 'unsafe-inline'\">\n")
	m.writeFormat("<title>%s: how well tools are found</title>\n"+
		"<style>\n%s</style>\n</head>\n<body>\n<h1>%s</h1>\n<p>", name,
		reportStyle, name)
	m.writeFormat("%d tools, %d requests", r.Tools, len(r.Cases))
	if r.Split != "" {
		m.writeFormat(" of split %s", escapeText(r.Split))
	}
	if r.Mode != "" {
		m.writeFormat(", %s search", escapeText(string(r.Mode)))
	}
	m.writeFormat(", ranked to %d", r.Depth)
	for _, note := range r.reportNotes() {
		m.writeFormat("; %s: %d", escapeText(note.text), note.n)
	}
	m.writeFormat(".</p>\n")
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
	shown := []Metric{recallAt(1), recallAt(5), recallAt(10), hitAt(5), metricMRR, metricNDCG, metricComplete}
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
	for i := range c.All {
		d := &c.All[i]
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
}

// writeMissed lists the missed requests, those without any right tool first, then by the place of the first right one.
func (m *htmlWriter) writeMissed(cases []Outcome) {
	var all []*Outcome
	for i := range cases {
		if cases[i].missReason() != "" {
			all = append(all, &cases[i])
		}
	}
	if len(all) == 0 {
		return
	}
	worst := func(o *Outcome) int {
		if o.Rank == 0 && !o.NoMatch {
			return 1 << 20
		}
		return o.Rank
	}
	slices.SortStableFunc(all, func(a, b *Outcome) int { return cmp.Compare(worst(b), worst(a)) })
	shown := all[:min(mostMissed, len(all))]
	m.writeFormat("<h2>Missed requests</h2>\n<p>%d in all", len(all))
	if len(shown) < len(all) {
		m.writeFormat(", the worst %d here", len(shown))
	}
	m.writeFormat(": without a right tool among the first five, " +
		"or answered with confidence though no tool serves them.</p>\n")
	rows := [][]string{{"id", "request", "kind", "what went wrong", "found first"}}
	for _, o := range shown {
		found := ""
		if len(o.Ranked) > 0 {
			found = o.Ranked[0].Name
		}
		rows = append(rows, []string{
			escapeText(cutText(o.ID)), escapeText(cutText(o.Query)), escapeText(cutText(o.Kind)), o.missReason(),
			escapeText(cutText(found)),
		})
	}
	m.writeTable(rows, 1, 2, 3, 4)
}

// cutText returns the first mostLetters characters of s.
func cutText(s string) string {
	letters := []rune(s)
	if len(letters) <= mostLetters {
		return s
	}
	return string(letters[:mostLetters-1]) + "…"
}
