package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"tooldex/tools/internal/gauge"
)

// How the command is asked over HTTP.
const (
	loadTime    = 10 * time.Second
	connections = 16
	fewRequests = 100_000 // after which memory is looked at for the first time
	allRequests = 1_000_000
)

// throughput is what wrk measured.
type throughput struct {
	Requests int     `json:"requests"`
	Failed   int     `json:"failed"` // were not answered, or not with 200
	Seconds  float64 `json:"seconds"`
	P50      float64 `json:"p50"` // microseconds
	P99      float64 `json:"p99"`
}

func (l throughput) rate() float64 { return float64(l.Requests) / l.Seconds }

// loadRows measures how many requests a second the command answers, beside a route of the same framework that returns a
// fixed body, and whether memory grows with their number.
func loadRows(ctx context.Context, c config, dir, data string) ([]row, error) {
	if _, err := exec.LookPath("wrk"); err != nil {
		return []row{{"requests over HTTP", "not measured: wrk is not installed", "", true}}, nil
	}
	queries, err := gauge.Queries(c.data)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ceiling, err := listening(ctx, self, "fixed")
	if err != nil {
		return nil, err
	}
	defer ceiling.stop()
	served, err := listening(ctx, c.bin, "serve", "-d", data, "--listen", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer served.stop()
	scripts := map[string]string{}
	for name, requests := range map[string][]string{
		"fixed":  {`wrk.format("GET", "/fixed")`},
		"search": searches(queries), "select": selections(queries), "both": append(searches(queries),
			selections(queries)...),
	} {
		scripts[name] = filepath.Join(dir, name+".lua")
		if err := os.WriteFile(scripts[name], []byte(wrkScript(requests)), 0o600); err != nil {
			return nil, err
		}
	}
	top, err := runLoad(ctx, ceiling.base, scripts["fixed"], loadTime)
	if err != nil {
		return nil, err
	}
	rows := []row{loadRow("fixed body from an echo route (the ceiling)", top, top)}
	for _, name := range []string{"search", "select"} {
		if _, err := runLoad(ctx, served.base, scripts[name], time.Second); err != nil { // caches fill
			return nil, err
		}
		l, err := runLoad(ctx, served.base, scripts[name], loadTime)
		if err != nil {
			return nil, err
		}
		rows = append(rows, loadRow(map[string]string{
			"search": "`GET /search`",
			"select": "`POST /api/tools/select`",
		}[name]+", 1,165 tools", l, top))
	}
	grown, err := memoryRow(ctx, served, scripts["both"])
	return append(rows, grown), err
}

func loadRow(what string, l, top throughput) row {
	return row{
		fmt.Sprintf("%s, %d connections", what, connections),
		fmt.Sprintf("%.0f requests/s (%.0f %% of the ceiling), p50 %s, p99 %s, %d failed", l.rate(),
			100*l.rate()/top.rate(),
			milliseconds(time.Duration(l.P50)*time.Microsecond), milliseconds(time.Duration(l.P99)*time.Microsecond),
			l.Failed),
		"none fails", l.Failed == 0,
	}
}

// memoryRow asks until a few requests were answered, and then until all were, and compares what the process has.
func memoryRow(ctx context.Context, s *server, script string) (row, error) {
	var after [2]float64
	done := 0
	for i, until := range []int{fewRequests, allRequests} {
		for done < until {
			l, err := runLoad(ctx, s.base, script, loadTime)
			if err != nil {
				return row{}, err
			}
			done += l.Requests
		}
		var err error
		if after[i], err = gauge.ResidentMB(s.process.Process.Pid); err != nil {
			return row{}, err
		}
	}
	growth := after[1]/after[0] - 1
	return row{
		fmt.Sprintf("resident memory after %d requests, against after %d", allRequests, fewRequests),
		fmt.Sprintf("%.0f MB against %.0f MB (%+.1f %%)", after[1], after[0], 100*growth), "at most 5 % more",
		growth <= .05,
	}, nil
}

func searches(queries []string) []string {
	var out []string
	for _, q := range queries {
		out = append(out, fmt.Sprintf("wrk.format(\"GET\", %s)", lua("/search?q="+url.QueryEscape(q))))
	}
	return out
}

func selections(queries []string) []string {
	var out []string
	for i, q := range queries {
		body, err := json.Marshal(map[string]string{
			"message": q, "session": fmt.Sprint("session ", i%100),
			"format": "openai",
		})
		if err != nil {
			continue // strings always encode
		}
		out = append(out, fmt.Sprintf("wrk.format(\"POST\", \"/api/tools/select\", {[\"Content-Type\"] = \"application/json\"}, %s)", lua(string(body))))
	}
	return out
}

// lua quotes a string: every byte that is not plain by its number.
func lua(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			fmt.Fprintf(&b, "\\%03d", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String() + `"`
}

// wrkScript sends the requests in turn, and in the end prints what was measured as JSON.
func wrkScript(requests []string) string {
	return `local requests, n = {}, 0
init = function()
  requests = {
` + strings.Join(requests, ",\n") + `
}
end
request = function()
  n = n % #requests + 1
  return requests[n]
end
done = function(summary, latency)
  local e = summary.errors
  io.write(string.format('{"requests":%d,"failed":%d,"seconds":%f,"p50":%f,"p99":%f}\n', summary.requests,
    e.connect + e.read + e.write + e.status + e.timeout, summary.duration / 1e6, latency:percentile(50), latency:percentile(99)))
end
`
}

func runLoad(ctx context.Context, base, script string, d time.Duration) (throughput, error) {
	out, err := exec.CommandContext(ctx, "wrk", "-t1", "-c"+strconv.Itoa(connections),
		"-d"+strconv.Itoa(int(d.Seconds()))+"s", "-s", script, base).Output()
	if err != nil {
		return throughput{}, fmt.Errorf("wrk: %w", err)
	}
	return readLoad(out)
}

// readLoad finds the line of JSON in what wrk printed.
func readLoad(out []byte) (throughput, error) {
	var l throughput
	for line := range bytes.Lines(out) {
		if bytes.HasPrefix(line, []byte("{")) {
			err := json.Unmarshal(line, &l)
			return l, err
		}
	}
	return l, fmt.Errorf("wrk did not measure anything: %s", out)
}

// server is a process that listens.
type server struct {
	base    string
	process *exec.Cmd
}

func (s *server) stop() {
	_ = s.process.Process.Signal(os.Interrupt)
	_ = s.process.Wait() // it was asked to end; its exit code is not measured
}

// listening starts a process and waits until it says on standard error where it listens.
func listening(ctx context.Context, name string, args ...string) (*server, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if base := address.FindString(lines.Text()); base != "" {
			// so that it never waits for a reader; ends with the process
			go func() { _, _ = io.Copy(io.Discard, stderr) }()
			return &server{base, cmd}, nil
		}
	}
	return nil, errors.Join(fmt.Errorf("%s does not say where it listens", name), cmd.Wait())
}

// serveFixed answers every request with the same body, about as long as the answer of a search, until ctx ends. It
// tells where it listens.
func serveFixed(ctx context.Context, listens func(base string)) error {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	body := []byte(`{"tools":["` + strings.Repeat("x", 2000) + `"]}`)
	e.GET("/fixed", func(c echo.Context) error { return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, body) })
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	e.Listener = l
	listens("http://" + l.Addr().String())
	go func() {
		<-ctx.Done()
		_ = e.Close()
	}()
	if err := e.Start(""); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
