package eval

import (
	"bytes"
	"fmt"
	"html"
	"strconv"
	"strings"

	chart "github.com/wcharczuk/go-chart/v2"
	"github.com/wcharczuk/go-chart/v2/drawing"
)

// The size of a plot in its own units, of which two make one pixel where there is room.
const (
	plotWidth  = 720
	plotHeight = 440
	plotDPI    = 2 * 72 // so that sizes of fonts are pixels in the end
	fontSize   = 11
	pointWidth = 7
)

// numColors is how many lines a plot can distinguish.
const numColors = 7

// paletteColor stands for a colour of the page, which depends on what the reader prefers: 0 is that of text, 1 to
// numColors are those of lines. inColors puts the page's colours in.
func paletteColor(n int) drawing.Color { return drawing.Color{R: 1, G: 2, B: uint8(n), A: 255} }

const gridColor = numColors + 1

// unpainted is the colour that applyColors replaces by none.
func unpainted() drawing.Color { return drawing.Color{R: 255, G: 255, B: 255} }

// applyColors replaces the stand-ins by variables of the page's style sheet.
func applyColors(svg string) string {
	pairs := []string{"rgba(255,255,255,0.0)", "none", "'Roboto Medium',sans-serif", "inherit"}
	for n := range gridColor + 1 {
		pairs = append(pairs, fmt.Sprintf("rgba(1,2,%d,1.0)", n), "var(--c"+strconv.Itoa(n)+")")
	}
	return strings.NewReplacer(pairs...).Replace(svg)
}

// axis is one of the two of a plot. It goes from its first mark to its last.
type axis struct {
	name  string
	marks []float64 // at least two
	label func(float64) string
}

// ticks returns the marks with their labels, each followed by after.
func (a *axis) ticks(after string) []chart.Tick {
	out := make([]chart.Tick, len(a.marks))
	for i, v := range a.marks {
		out[i] = chart.Tick{Value: v, Label: a.label(v) + after}
	}
	return out
}

// gap keeps labels off the axis on their right: they are laid out by the widths of another font than the page's. A
// browser draws no spaces at the end of a text.
const gap = "   "

// line is a series of points that are joined.
type line struct {
	x, y   []float64
	color  int
	dashed bool
	dots   float64 // width of the points; 0 for none
}

// series returns the line for the library. A single point is drawn as a dot, since a line of one point is invisible.
func (l *line) series() chart.ContinuousSeries {
	style := chart.Style{StrokeWidth: 4, StrokeColor: paletteColor(l.color), DotWidth: l.dots, DotColor: paletteColor(l.color)}
	if l.dashed {
		style.StrokeWidth, style.StrokeDashArray = 2, []float64{8, 8}
	}
	if len(l.x) == 1 {
		style.DotWidth = pointWidth
	}
	return chart.ContinuousSeries{XValues: l.x, YValues: l.y, Style: style, YAxis: chart.YAxisSecondary}
}

// renderPlot draws lines. The name of y is left to the page: turned on its side it would have to fit between labels.
// Labels are numbers and our own words, since the library does not escape them.
func renderPlot(title string, x, y axis, lines []line) (string, error) {
	label := chart.Style{FontSize: fontSize, FontColor: paletteColor(0), StrokeColor: paletteColor(0), StrokeWidth: 2}
	grid := chart.Style{StrokeColor: paletteColor(gridColor), StrokeWidth: 1}
	c := chart.Chart{
		Width: plotWidth, Height: plotHeight, DPI: plotDPI,
		Background: chart.Style{
			FillColor: unpainted(), StrokeColor: unpainted(),
			Padding: chart.Box{Top: 24, Left: 16, Right: 28, Bottom: 16},
		},
		Canvas: chart.Style{FillColor: unpainted(), StrokeColor: unpainted()},
		XAxis:  chart.XAxis{Name: x.name, NameStyle: label, Style: label, Ticks: x.ticks(""), GridMajorStyle: grid},
		// The library's secondary axis is the one on the left. It takes its range from the marks of the other.
		YAxis:          chart.YAxis{Style: chart.Hidden(), Ticks: y.ticks(gap)},
		YAxisSecondary: chart.YAxis{Style: label, Ticks: y.ticks(gap), GridMajorStyle: grid},
	}
	for i := range lines {
		c.Series = append(c.Series, lines[i].series())
	}
	var b bytes.Buffer
	if err := c.Render(chart.SVG, &b); err != nil {
		return "", fmt.Errorf("draw %s: %w", title, err)
	}
	svg := applyColors(b.String())
	head := `<svg role="img" aria-label="` + html.EscapeString(title) + `" `
	return strings.Replace(svg, "<svg ", head, 1), nil
}

// formatShare labels a value from 0 to 1 in percent.
func formatShare(v float64) string { return strconv.Itoa(int(v*100+.5)) + "%" }

// shareAxis is an axis from 0 to 1, labelled in per cent.
func shareAxis() axis { return axis{marks: []float64{0, .2, .4, .6, .8, 1}, label: formatShare} }

// axisUpTo makes an axis from 0 that holds most, with at most seven marks at round values.
func axisUpTo(name string, most float64) axis {
	step := 1e-6
	for i := 0; step*6 < most; i++ {
		step *= [...]float64{2, 2.5, 2}[i%3] // 1, 2, 5, 10
	}
	a := axis{name: name, label: func(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }}
	for i := 0; ; i++ {
		v := float64(i) * step
		a.marks = append(a.marks, v)
		if i > 0 && v >= most {
			return a
		}
	}
}
