package metrics

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ServeHTTP answers in the text format of Prometheus. Counters cover all that was ever counted, by every process that
// shares the disk, so it is enough to scrape one of them. Gauges are those of this process.
func (m *Meter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := m.loadOnce(r.Context()); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	all := newCounts()
	m.mu.Lock()
	m.eachSlot(func(s slot, c *counts) {
		if s.kind == forever {
			all.addAll(c)
		}
	})
	m.mu.Unlock()
	var p page
	p.writeSearches(all)
	p.writeCalls(all)
	p.writeProfiles(all)
	m.writeGauges(&p)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(p.b.Bytes()) // the client is gone
}

// page is an answer that is being written.
type page struct{ b bytes.Buffer }

// writeFamily begins a family of samples. Samples of the family must follow directly.
func (p *page) writeFamily(name, kind, help string) {
	fmt.Fprintf(&p.b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// writeSample writes one sample.
func (p *page) writeSample(name, labels string, value float64) {
	if labels != "" {
		labels = "{" + labels + "}"
	}
	p.b.WriteString(name + labels + " " + strconv.FormatFloat(value, 'g', -1, 64) + "\n")
}

// writeCounter writes a family with one counter.
func (p *page) writeCounter(name, help string, n int64) {
	p.writeFamily(name, "counter", help)
	p.writeSample(name, "", float64(n))
}

// writeGauge writes a family with one gauge.
func (p *page) writeGauge(name, help string, v float64) {
	p.writeFamily(name, "gauge", help)
	p.writeSample(name, "", v)
}

// formatLabel returns a label; its value is escaped as the format requires.
func formatLabel(name, value string) string {
	return name + `="` + strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`).Replace(strings.ToValidUTF8(value,
		"\uFFFD")) + `"`
}

// writeHistogram writes the samples of one histogram with the given labels.
func (p *page) writeHistogram(name, labels string, h *histogram) {
	comma := ""
	if labels != "" {
		comma = ","
	}
	var seen int64
	// A stored histogram may have fewer buckets than this program knows.
	for i, edge := range bucketBounds() {
		if i < len(h.Counts) {
			seen += h.Counts[i]
		}
		p.writeSample(name+"_bucket", labels+comma+formatLabel("le", strconv.FormatFloat(edge.Seconds(), 'g', -1, 64)),
			float64(seen))
	}
	// Prometheus's buckets are cumulative, and the last one has no bound.
	p.writeSample(name+"_bucket", labels+comma+formatLabel("le", "+Inf"), float64(h.totalCount()))
	p.writeSample(name+"_sum", labels, time.Duration(h.Sum).Seconds())
	p.writeSample(name+"_count", labels, float64(h.totalCount()))
}

// writeSearches writes what was counted of searches and selections.
func (p *page) writeSearches(c *counts) {
	const took = "tooldex_search_duration_seconds"
	p.writeCounter("tooldex_searches_total", "Searches that were answered.", c.Searches)
	p.writeCounter("tooldex_searches_degraded_total", "Searches by words only, since the embedder did not answer.",
		c.Degraded)
	p.writeCounter("tooldex_searches_found_nothing_total", "Searches to which no tool was said to fit.", c.Nothing)
	p.writeFamily(took, "histogram", "How long searches took.")
	p.writeHistogram(took, "", &c.Search)
	p.writeCounter("tooldex_selections_total", "Selections that were answered.", c.Selections)
	p.writeCounter("tooldex_selection_cache_hits_total", "Selections that the cache answered.", c.Hits)
	p.writeCounter("tooldex_tools_returned_total", "Tools handed out by searches and selections.", c.Tools)
	p.writeCounter("tooldex_tokens_used_total", "Tokens that the answers of searches and selections cost to read.",
		c.Used)
	p.writeCounter("tooldex_tokens_saved_total",
		"Tokens that listing all tools in place of each answer would have cost more.", c.Saved)
}

// writeCalls writes what was counted of calls.
func (p *page) writeCalls(c *counts) {
	const total, failed, took = "tooldex_calls_total", "tooldex_call_errors_total", "tooldex_call_duration_seconds"
	names := slices.Sorted(maps.Keys(c.Servers))
	p.writeFamily(total, "counter", "Calls of tools, by server.")
	for _, name := range names {
		p.writeSample(total, formatLabel("server", name), float64(c.Servers[name].Calls))
	}
	p.writeFamily(failed, "counter", "Calls that failed, or whose tool said that it did, by server.")
	for _, name := range names {
		p.writeSample(failed, formatLabel("server", name), float64(c.Servers[name].Errors))
	}
	p.writeFamily(took, "histogram", "How long calls took, by server.")
	for _, name := range names {
		p.writeHistogram(took, formatLabel("server", name), &c.Servers[name].Took)
	}
}

// writeProfiles writes what was counted by profile, of which there are at most maxProfiles and one.
func (p *page) writeProfiles(c *counts) {
	names := slices.Sorted(maps.Keys(c.Profiles))
	for _, family := range []struct {
		name, help string
		value      func(profileCounts) int64
	}{
		{
			"tooldex_profile_searches_total", "Searches that were answered, by profile; empty for all tools.",
			func(c profileCounts) int64 { return c.Searches },
		},
		{
			"tooldex_profile_searches_found_nothing_total", "Searches to which no tool was said to fit, by profile.",
			func(c profileCounts) int64 { return c.Nothing },
		},
		{
			"tooldex_profile_calls_total", "Calls of tools, by profile.",
			func(c profileCounts) int64 { return c.Calls },
		},
		{
			"tooldex_profile_call_errors_total", "Calls that failed, or whose tool said that it did, by profile.",
			func(c profileCounts) int64 { return c.Errors },
		},
	} {
		p.writeFamily(family.name, "counter", family.help)
		for _, name := range names {
			p.writeSample(family.name, formatLabel("profile", name), float64(family.value(c.Profiles[name])))
		}
	}
}

// writeServers writes the states of the servers.
func (p *page) writeServers(states map[string]ServerState) {
	const up, restarts = "tooldex_server_up", "tooldex_server_restarts_total"
	names := slices.Sorted(maps.Keys(states))
	p.writeFamily(up, "gauge", "1 for a server that works, 0 for one whose last start or call failed.")
	for _, name := range names {
		value := 0.
		if states[name].Works {
			value = 1
		}
		p.writeSample(up, formatLabel("server", name), value)
	}
	p.writeFamily(restarts, "counter", "Starts of a server by this process that followed a failed start or a lost "+
		"connection.")
	for _, name := range names {
		p.writeSample(restarts, formatLabel("server", name), float64(states[name].Restarts))
	}
}

// writeAnswers writes how many requests over HTTP this process has answered, by status. The statuses of refusals are
// always there, so that their first increase is seen.
func (m *Meter) writeAnswers(p *page) {
	const name = "tooldex_http_requests_total"
	p.writeFamily(name, "counter", "Requests over HTTP that this process has answered, by status; 499 for those whose "+
		"client went away.")
	for status := range m.answers {
		n := m.answers[status].Load()
		if n > 0 || status == http.StatusUnauthorized || status == http.StatusTooManyRequests {
			p.writeSample(name, formatLabel("status", strconv.Itoa(status)), float64(n))
		}
	}
}

// writeQuotas writes how much the quotas of tokens refused.
func (m *Meter) writeQuotas(p *page) {
	const name = "tooldex_quota_refused_total"
	p.writeFamily(name, "counter", "Requests and calls that this process refused, since the quota of their token was used "+
		"up, by token and limit.")
	m.quotaMu.Lock()
	defer m.quotaMu.Unlock()
	for _, one := range slices.SortedFunc(maps.Keys(m.quota), func(a, b quotaRefusal) int {
		return cmp.Or(strings.Compare(a.who, b.who), strings.Compare(a.kind, b.kind))
	}) {
		p.writeSample(name, formatLabel("limit", one.kind)+","+formatLabel("token", one.who), float64(m.quota[one]))
	}
}

// writeGauges writes what is true at this moment.
func (m *Meter) writeGauges(p *page) {
	if m.o.Catalog != nil {
		if set := m.o.Catalog.Set(); set != nil {
			enabled := 0
			for _, t := range set.All() {
				if !t.Disabled {
					enabled++
				}
			}
			p.writeGauge("tooldex_catalogue_tools", "Enabled tools in the catalogue.", float64(enabled))
			p.writeGauge("tooldex_catalogue_servers", "Servers that enabled tools are of.", float64(len(set.Servers())))
		}
	}
	if m.o.Sessions != nil {
		p.writeGauge("tooldex_sessions", "Open MCP sessions of this process.", float64(m.o.Sessions()))
	}
	if m.o.Messages != nil {
		held, refused := m.o.Messages()
		p.writeGauge("tooldex_message_bytes", "Bytes of servers' large messages that this process has in memory.",
			float64(held))
		p.writeCounter("tooldex_messages_refused_total", "Messages of servers for which this process had no room.", refused)
	}
	if m.o.Servers != nil {
		p.writeServers(m.o.Servers())
	}
	m.writeAnswers(p)
	m.writeQuotas(p)
	if m.o.Version != "" {
		p.writeFamily("tooldex_build_info", "gauge", "1, with the version of the program and of Go.")
		p.writeSample("tooldex_build_info",
			formatLabel("goversion", runtime.Version())+","+formatLabel("version", m.o.Version), 1)
	}
	p.writeProcess()
}

// writeProcess writes what this process takes of the system. Without /proc it writes what the runtime knows.
func (p *page) writeProcess() {
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	p.writeGauge("go_goroutines", "Goroutines of this process.", float64(runtime.NumGoroutine()))
	p.writeGauge("go_memstats_heap_inuse_bytes", "Heap in use by this process.", float64(mem.HeapInuse))
	p.writeGauge("go_memstats_sys_bytes", "Memory that this process has from the system.", float64(mem.Sys))
	if pages, ok := residentPages(); ok {
		p.writeGauge("process_resident_memory_bytes", "Memory of this process that is in the machine's.",
			float64(pages*os.Getpagesize()))
	}
	if files, err := os.ReadDir("/proc/self/fd"); err == nil {
		// Without the one that lists them.
		p.writeGauge("process_open_fds", "Files and connections that this process has open.", float64(len(files)-1))
	}
	if threads, err := os.ReadDir("/proc/self/task"); err == nil {
		p.writeGauge("go_threads", "Threads of this process.", float64(len(threads)))
	}
}

// residentPages returns the number of resident pages of memory.
func residentPages() (pages int, ok bool) {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, false
	}
	fields := bytes.Fields(b)
	if len(fields) < 2 {
		return 0, false
	}
	pages, err = strconv.Atoi(string(fields[1]))
	return pages, err == nil
}
