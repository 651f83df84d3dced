package metrics

import (
	"os"
	"regexp"
	"runtime"
	"strconv"
	"testing"
)

// TestProcess holds that what this process takes is told, and is more than nothing.
func TestProcess(t *testing.T) {
	want := []string{"go_goroutines", "go_memstats_heap_inuse_bytes", "go_memstats_sys_bytes"}
	if runtime.GOOS == "linux" {
		want = append(want, "process_resident_memory_bytes", "process_open_fds", "go_threads")
	}
	before := told(t)
	for _, name := range want {
		if before[name] <= 0 {
			t.Errorf("%s is %g", name, before[name])
		}
	}
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if after := told(t); runtime.GOOS == "linux" && after["process_open_fds"] <= before["process_open_fds"] {
		t.Errorf("%g files are open after one more was opened, %g before", after["process_open_fds"],
			before["process_open_fds"])
	}
}

// told reads the samples of a page.
func told(t *testing.T) map[string]float64 {
	t.Helper()
	var p page
	p.writeProcess()
	out := map[string]float64{}
	for _, m := range regexp.MustCompile(`(?m)^([a-z_]+) (\S+)$`).FindAllStringSubmatch(p.b.String(), -1) {
		v, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		out[m[1]] = v
	}
	return out
}
