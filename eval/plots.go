package eval

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// picture is a plot with its explanation. The zero picture means that there is nothing to draw.
type picture struct {
	Title, Text string
	Y           string // what is drawn upwards
	SVG         string
	Legend      []legend
}

// legend is one entry; Color is an index of the palette that the page defines.
type legend struct {
	Color  int
	Dashed bool
	Name   string
}

// recallPlot draws recall at every depth, for all requests and for the kinds that have most.
func (r *Report) recallPlot() (picture, error) {
	kinds := slices.Clone(r.Kinds)
	slices.SortStableFunc(kinds, func(a, b Summary) int { return cmp.Compare(b.Queries, a.Queries) })
	shown := append([]Summary{r.All}, kinds[:min(len(kinds), numColors)]...)
	pic := picture{
		Title: "Recall at k", Y: "share of right tools found",
		Text: "Share of the right tools among the first k, mean over requests.",
	}
	if len(kinds) > numColors {
		pic.Text += fmt.Sprintf(" Of %d kinds those with most requests.", len(kinds))
	}
	var lines []line
	depth := 0
	for i, s := range shown {
		if len(s.curve) == 0 {
			continue
		}
		depth = len(s.curve)
		l := line{color: i, y: s.curve}
		for k := range s.curve {
			l.x = append(l.x, float64(k+1))
		}
		lines = append(lines, l)
		pic.Legend = append(pic.Legend, legend{Color: i, Name: cutText(cmp.Or(s.Kind, "all")) + " (" +
			strconv.Itoa(s.Queries) + ")"})
	}
	if len(lines) == 0 {
		return picture{}, nil
	}
	slices.Reverse(lines) // all on top
	x := axis{name: "k, tools looked at", marks: []float64{1}, label: func(v float64) string {
		return strconv.Itoa(int(v))
	}}
	step := max(1, depth/10)
	for k := step; k < depth; k += step {
		if k > 1 {
			x.marks = append(x.marks, float64(k))
		}
	}
	x.marks = append(x.marks, float64(max(depth, 2)))
	var err error
	pic.SVG, err = renderPlot(pic.Title, x, shareAxis(), lines)
	return pic, err
}

// reliabilityPlot draws the scores of first tools against how often those were right.
func (r *Report) reliabilityPlot() (picture, error) {
	c := r.Calibration
	if c == nil {
		return picture{}, nil
	}
	points := line{color: 1, dots: pointWidth}
	for _, b := range c.Bins {
		points.x, points.y = append(points.x, b.Score), append(points.y, b.Right)
	}
	pic := picture{
		Title: "Calibration", Y: "share of first tools that are right",
		Text: fmt.Sprintf("Answers by the score of their first tool, in ten bins: how often that tool was right. "+
			"On the dashed line a score is "+
			"a probability. Expected calibration error %.3f over %d answers.", c.Error, c.Answers),
		Legend: []legend{{Color: 1, Name: "measured"}, {Color: 0, Dashed: true, Name: "ideal"}},
	}
	ideal := line{x: []float64{0, 1}, y: []float64{0, 1}, dashed: true}
	var err error
	pic.SVG, err = renderPlot(pic.Title, axis{name: "mean score", marks: shareAxis().marks, label: formatShare},
		shareAxis(),
		[]line{ideal, points})
	return pic, err
}

// latencyPlot shows the share of answers that came within a time.
func (r *Report) latencyPlot() (picture, error) {
	if r.Latency == nil || len(r.times) == 0 {
		return picture{}, nil
	}
	ms := make([]float64, len(r.times))
	for i, t := range r.times {
		ms[i] = float64(t) / float64(time.Millisecond)
	}
	pic := picture{
		Title: "Time of an answer", Y: "share of answers",
		Text: fmt.Sprintf("Share of answers that came within a time, up to the slowest hundredth. "+
			"p50 %s, p95 %s, p99 %s for %d tools, %d at a time.",
			formatMillis(r.Latency.P50), formatMillis(r.Latency.P95), formatMillis(r.Latency.P99),
			r.Latency.Answer, r.Latency.Workers),
	}
	var err error
	pic.SVG, err = renderPlot(pic.Title,
		axisUpTo("milliseconds", float64(r.Latency.P99)/float64(time.Millisecond)), shareAxis(),
		[]line{shareBelow(ms, 99)})
	return pic, err
}

// tokenPlot shows the share of answers that cost at most a number of tokens.
func (r *Report) tokenPlot() (picture, error) {
	if r.Tokens == nil || len(r.tokens) == 0 {
		return picture{}, nil
	}
	tokens := make([]float64, len(r.tokens))
	for i, n := range r.tokens {
		tokens[i] = float64(n)
	}
	pic := picture{
		Title: "Tokens of an answer", Y: "share of answers",
		Text: fmt.Sprintf("Share of answers that cost at most so many tokens to read. "+
			"Median %.0f, mean %.0f for %d tools at detail %s.",
			r.Tokens.Median, r.Tokens.Mean, r.Tokens.Answer, r.Tokens.Detail),
	}
	var err error
	pic.SVG, err = renderPlot(pic.Title, axisUpTo("tokens", tokens[len(tokens)-1]), shareAxis(),
		[]line{shareBelow(tokens, 100)})
	return pic, err
}

// shareBelow returns the line of the share of values that are at most x, with a point at each percent up to most.
// sorted is ascending and not empty.
func shareBelow(sorted []float64, most int) line {
	l := line{color: 1, x: []float64{sorted[0]}, y: []float64{0}}
	for p := 1; p <= most; p++ {
		at := (len(sorted)*p + 99) / 100
		l.x, l.y = append(l.x, sorted[at-1]), append(l.y, float64(at)/float64(len(sorted)))
	}
	return l
}
