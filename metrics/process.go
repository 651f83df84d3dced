package metrics

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
)

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
