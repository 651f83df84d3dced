package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"tooldex/catalog/sources"
	"tooldex/service"
	"tooldex/tool"
	"tooldex/tools/internal/gauge"
	"tooldex/tools/internal/provenance"
)

// measure is one figure of a catalogue of some size.
type measure struct {
	name   string
	unit   string // "s", "ms" or "MB"
	digits int
	// budget has what it should be at most, and before what it was while each process read the whole store, by the
	// place in growthSizes; 0 where there is neither.
	budget, before [numSizes]float64
}

// numSizes is the number of growthSizes.
const numSizes = 4

// usualTools is the largest catalogue that is measured unless a larger one is asked for, which takes hours and 20 GB of
// disk.
const usualTools = 100_000

// growthSizes are the sizes of the catalogues.
func growthSizes() [numSizes]int { return [numSizes]int{1165, 10_000, 100_000, 1_000_000} }

// growthMeasures are the rows of the page, in the order in which measureSize returns them.
func growthMeasures() []measure {
	none := [numSizes]float64{}
	return []measure{
		{"import, cold", "s", 1, [numSizes]float64{.7, 5, 50, 600}, [numSizes]float64{1.1, 15.8, 1430}},
		{"processor time of it", "s", 1, none, [numSizes]float64{0, 0, 700}},
		{"its peak of memory, with mapped files", "MB", 0, [numSizes]float64{200, 250, 500, 1500}, [numSizes]float64{246, 585, 5100}},
		{"its peak of private memory", "MB", 0, none, none},
		{"import again, nothing changed", "s", 2, [numSizes]float64{.04, .15, 1, 12}, none},
		{"start to first answer, command line", "ms", 0, [numSizes]float64{25, 30, 60, 300}, [numSizes]float64{90, 660, 33000}},
		{"processor time of it", "ms", 0, none, [numSizes]float64{0, 0, 16000}},
		{"resident memory of a server, with mapped files", "MB", 0, none, [numSizes]float64{60, 280, 2700}},
		{"the private part of it", "MB", 0, [numSizes]float64{40, 60, 150, 600}, none},
		{"search in process, p50", "ms", 2, [numSizes]float64{.18, .5, 3, 20}, [numSizes]float64{.2, .76, 11}},
		{"search in process, p99", "ms", 2, [numSizes]float64{.6, 1.5, 10, 60}, none},
		{"list of 20 tools, command line", "ms", 0, [numSizes]float64{200, 200, 200}, none},
		{"the slowest list over HTTP", "ms", 0, [numSizes]float64{200, 200, 200}, none},
		{"first change of one server, until it is found", "ms", 0, [numSizes]float64{100, 100, 100}, none},
		{"a further change", "ms", 0, [numSizes]float64{100, 100, 100}, none},
	}
}

// largePage measures how time and memory grow with the catalogue, up to the size that is asked for.
func largePage(ctx context.Context, c config) (string, error) {
	rows := growthMeasures()
	var got [numSizes][]float64 // nil for a size that is not measured
	for k, size := range growthSizes() {
		if size > c.tools || c.only && size != c.tools {
			continue
		}
		figures, err := measureSize(ctx, c, size)
		if err != nil {
			return "", err
		}
		for i, f := range figures {
			fmt.Fprintf(os.Stderr, "%d tools: %s: %.*f %s\n", size, rows[i].name, rows[i].digits, f, rows[i].unit)
		}
		got[k] = figures
	}
	if !slices.ContainsFunc(got[:], isMeasured) {
		return "", fmt.Errorf("-tools %d is none of the sizes %v, or less than all of them", c.tools, growthSizes())
	}
	if c.only {
		return largeText(provenance.Line(ctx, fmt.Sprintf("make bench-large-one TOOLS=%d", c.tools)), rows, got), nil
	}
	return largeText(provenance.Line(ctx, "make bench-large"), rows, got), nil
}

// measureSize returns the figures of one size, in the order of growthMeasures.
func measureSize(ctx context.Context, c config, size int) ([]float64, error) {
	dir, err := os.MkdirTemp("", "tooldex-bench")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	from, data := filepath.Join(dir, "catalogue"), filepath.Join(dir, "data")
	if err := writeLarge(ctx, c, strconv.Itoa(size), from); err != nil {
		return nil, err
	}
	cold, err := runMeasured(ctx, c, "import", "-d", data, from)
	if err != nil {
		return nil, err
	}
	again, err := runMeasured(ctx, c, "import", "-d", data, from)
	if err != nil {
		return nil, err
	}
	start, err := fastest(5, func() (usage, error) {
		return runMeasured(ctx, c, "search", "-d", data, "open a merge request")
	})
	if err != nil {
		return nil, err
	}
	list, err := fastest(5, func() (usage, error) { return runMeasured(ctx, c, "list", "--limit", "20", "-d", data) })
	if err != nil {
		return nil, err
	}
	served, err := measureServer(ctx, c, data)
	if err != nil {
		return nil, err
	}
	times, changes, err := measureInProcess(ctx, c, data)
	if err != nil {
		return nil, err
	}
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	return []float64{
		cold.took.Seconds(), cold.processor.Seconds(), cold.resident, cold.private, again.took.Seconds(),
		ms(start.took), ms(start.processor), served.resident, served.private,
		ms(percentile(times, 50)), ms(percentile(times, 99)), ms(list.took), ms(served.took),
		ms(changes[0]), ms(changes[1]),
	}, nil
}

// usage is what a process took.
type usage struct {
	took, processor   time.Duration
	resident, private float64 // the most MB at a time
}

// fastest returns the usage of the fastest of n runs: what else runs on the machine only makes them slower.
func fastest(n int, run func() (usage, error)) (best usage, err error) {
	for i := range n {
		u, err := run()
		if err != nil {
			return u, err
		}
		if i == 0 || u.took < best.took {
			best = u
		}
	}
	return best, nil
}

// sampleEvery is how often the private memory of a process is looked at.
const sampleEvery = 20 * time.Millisecond

// runMeasured runs the command once.
func runMeasured(ctx context.Context, c config, args ...string) (usage, error) {
	cmd := exec.CommandContext(ctx, c.bin, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return usage{}, err
	}
	ended, sampled := make(chan struct{}), make(chan float64)
	go func() {
		most, ticker := 0.0, time.NewTicker(sampleEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ended:
				sampled <- most
				return
			case <-ticker.C:
				if mb, err := gauge.StatusMB(cmd.Process.Pid, "RssAnon"); err == nil { // it may just have ended
					most = max(most, mb)
				}
			}
		}
	}()
	err := cmd.Wait()
	u := usage{took: time.Since(start), processor: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	close(ended)
	u.private = <-sampled
	if r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		u.resident = float64(r.Maxrss) / 1024
	}
	if err != nil {
		return u, fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, stderr.String()[max(0, stderr.Len()-500):])
	}
	return u, nil
}

// measureServer starts a server, searches once, and asks for its lists: took is of the slowest of these.
func measureServer(ctx context.Context, c config, data string) (u usage, err error) {
	s, err := listening(ctx, c.bin, "serve", "--listen", "127.0.0.1:0", "-d", data)
	if err != nil {
		return u, err
	}
	defer s.stop()
	get := func(path string) (time.Duration, error) {
		start := time.Now()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+path, http.NoBody)
		if err != nil {
			return 0, err
		}
		r, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0, err
		}
		defer func() { _ = r.Body.Close() }()
		if _, err := io.Copy(io.Discard, r.Body); err != nil || r.StatusCode != http.StatusOK {
			return 0, fmt.Errorf("%s: %s %w", path, r.Status, err)
		}
		return time.Since(start), nil
	}
	if _, err := get("/search?q=open+a+merge+request"); err != nil {
		return u, err
	}
	if u.resident, err = gauge.StatusMB(s.process.Process.Pid, "VmRSS"); err != nil {
		return u, err
	}
	if u.private, err = gauge.StatusMB(s.process.Process.Pid, "RssAnon"); err != nil {
		return u, err
	}
	for _, path := range []string{"/api/tools?limit=50", "/api/tools/categories", "/api/servers", "/metrics"} {
		best := time.Duration(math.MaxInt64)
		for range 5 {
			took, err := get(path)
			if err != nil {
				return u, err
			}
			best = min(best, took)
		}
		u.took = max(u.took, best)
	}
	return u, nil
}

// measureInProcess returns the times of searches, and of two changes of one server: from what it offers until its new
// tool is in the index.
func measureInProcess(ctx context.Context, c config, data string) (searches []time.Duration, changes [2]time.Duration,
	err error,
) {
	queries, err := gauge.Queries(c.data)
	if err != nil {
		return nil, changes, err
	}
	s, err := service.Open(ctx, service.Options{Dir: data, Use: service.ToSearch})
	if err != nil {
		return nil, changes, err
	}
	if searches, err = timeSearches(ctx, s.Engine, queries, 500); err != nil {
		return nil, changes, err
	}
	server := s.Catalog.Set().All()[0].Server
	for k := range changes {
		src := changedServer{server, k, s.Catalog.Set()}
		start := time.Now()
		if _, err := s.Catalog.Sync(ctx, src); err != nil {
			return nil, changes, err
		}
		changes[k] = time.Since(start)
		if _, ok := s.Index.Current().Set().Get(tool.MakeID(server, src.added())); !ok {
			return nil, changes, fmt.Errorf("the new tool of %s is not in the index", server)
		}
	}
	return searches, changes, nil // it is not closed, which would write the index again
}

// changedServer is a server that offers what it did and one tool more.
type changedServer struct {
	name   string
	round  int
	before *tool.Set
}

func (s changedServer) Name() string { return s.name }

func (s changedServer) added() string { return fmt.Sprintf("added_%d", s.round) }

// Tools returns copies, which the catalogue may change.
func (s changedServer) Tools(context.Context) ([]*tool.Tool, error) {
	out := []*tool.Tool{{Server: s.name, Name: s.added(), Description: "Tells the tide at a harbour."}}
	for _, t := range s.before.All() {
		if t.Server == s.name {
			one := *t
			if one.CategoryDerived {
				one.Category, one.CategoryDerived = "", false
			}
			one.ServerText, one.Warning = "", ""
			out = append(out, &one)
		}
	}
	return out, nil
}

var _ sources.Source = changedServer{}

// isMeasured reports whether there are figures of a size.
func isMeasured(figures []float64) bool { return figures != nil }

// largeText returns the page for the figures of each size; nil for those that were not measured.
func largeText(line string, rows []measure, got [numSizes][]float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Large catalogues\n\n%s\n\n", line)
	b.WriteString("The catalogue has 1,165 tools of 33 real servers; larger catalogues repeat them with other words. \"Before\" was\n" +
		"measured when each process read the whole store and built the index of it. Other work on the machine makes all\n" +
		"times longer, which processor time shows. Mapped files are shared by all processes, and given back when others\n" +
		"need the memory. A server was asked once before its memory is looked at. The lists over HTTP are `/api/tools`,\n" +
		"`/api/tools/categories`, `/api/servers` and `/metrics`. The changed server has one tool more than before.\n")
	for k, figures := range got {
		if isMeasured(figures) {
			writeSize(&b, k, rows, figures)
		}
	}
	writeGrowth(&b, rows, got)
	return b.String()
}

// writeSize writes the section of the catalogue of size k.
func writeSize(b *strings.Builder, k int, rows []measure, figures []float64) {
	fmt.Fprintf(b, "\n## %d tools\n\n| what | before | measured | budget | met |\n|---|---|---|---|---|\n",
		growthSizes()[k])
	for i, r := range rows {
		show := func(x float64) string {
			if x == 0 {
				return ""
			}
			return fmt.Sprintf("%.*f %s", r.digits, x, r.unit)
		}
		met := ""
		switch {
		case r.budget[k] == 0:
		case figures[i] <= r.budget[k]:
			met = "yes"
		default:
			met = "**no**"
		}
		budget := ""
		if r.budget[k] > 0 {
			budget = "at most " + strconv.FormatFloat(r.budget[k], 'g', -1, 64) + " " + r.unit
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", r.name, show(r.before[k]), show(figures[i]), budget, met)
	}
}

// writeGrowth writes how figures grow with the catalogue, if the smallest one and another were measured.
func writeGrowth(b *strings.Builder, rows []measure, got [numSizes][]float64) {
	sizes, largest := growthSizes(), 0
	for k := range got {
		if isMeasured(got[k]) {
			largest = k
		}
	}
	if !isMeasured(got[0]) || largest == 0 {
		return
	}
	fmt.Fprintf(b, "\n## Growth\n\nEach figure as a multiple of that of 1,165 tools, on a logarithmic scale. "+
		"The tools are %d times as many.\n\n```text\n", int(math.Round(float64(sizes[largest])/float64(sizes[0]))))
	for i, r := range rows {
		if slices.ContainsFunc(got[:], func(of []float64) bool { return isMeasured(of) && of[i] == 0 }) {
			continue
		}
		for k := range got {
			if !isMeasured(got[k]) {
				continue
			}
			times := got[k][i] / got[0][i]
			bar := strings.Repeat("#", max(1, int(1+8*math.Log2(max(times, 1)))))
			fmt.Fprintf(b, "%-40.40s %7d %-54.54s %.1f\n", map[bool]string{true: r.name}[k == 0], sizes[k], bar, times)
		}
	}
	b.WriteString("```\n")
}
