package provenance

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// Line says that a command has written a page here and now. What cannot be found out is "unknown".
func Line(ctx context.Context, command string) string {
	return fmt.Sprintf("Written by `%s` on %s, at commit %s, with %s, on %s; load average at the end %s.",
		command, time.Now().UTC().Format("2006-01-02"), commit(ctx), runtime.Version(), machine(), load())
}

func commit(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty", "--abbrev=10").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// machine names the processor and how many of its cores there are.
func machine() string {
	name := runtime.GOARCH
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
				name = strings.TrimSpace(value)
				break
			}
		}
	}
	return fmt.Sprintf("%s, %d cores, %s", name, runtime.NumCPU(), runtime.GOOS)
}

// load is how many processes wanted to run in the last minute: figures taken beside other work are worth less.
func load() string {
	b, err := os.ReadFile("/proc/loadavg")
	if fields := strings.Fields(string(b)); err == nil && len(fields) > 0 {
		return fields[0]
	}
	return "unknown"
}
