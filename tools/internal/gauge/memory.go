package gauge

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// ResidentMB reads how much memory a process has now.
func ResidentMB(pid int) (float64, error) { return StatusMB(pid, "VmRSS") }

// StatusMB reads a figure of the memory of a process, such as VmRSS or RssAnon, from /proc.
func StatusMB(pid int, name string) (float64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			kb, err := strconv.Atoi(strings.Fields(rest)[0])
			return float64(kb) / 1024, err
		}
	}
	return 0, fmt.Errorf("no %s for process %d", name, pid)
}
