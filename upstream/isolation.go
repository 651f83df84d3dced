package upstream

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"tooldex/tool"
)

// Isolation names what a server that runs as a command may reach. What it does not name stays out of reach: other
// folders but those of the system's programs, the network, other processes, and the variables of our environment.
type Isolation struct {
	// With is the program that isolates the server; "bwrap", which "" means too, is bubblewrap and the only one.
	With string `json:"with,omitempty" jsonschema:"the program that isolates it: bwrap"`
	// Folders and files that it may read, and that it may change too. They begin with /, ~/ or a variable.
	Read    []string `json:"read,omitempty" jsonschema:"folders and files that it may read"`
	Write   []string `json:"write,omitempty" jsonschema:"folders and files that it may read and change"`
	Network bool     `json:"network,omitempty" jsonschema:"it may use the network"`
	// Memory bounds each of its processes, as in 512MB; "" sets no bound.
	Memory string `json:"memory,omitempty" jsonschema:"the most memory of each of its processes, such as 512MB"`
}

// ParseIsolation reads what people type: "read=/srv/docs,write=~/notes,network,memory=512MB", or "nothing". Folders
// without commas can be named so. The errors are Invalid; Check is left to the caller.
func ParseIsolation(text string) (*Isolation, error) {
	out := &Isolation{}
	if text == "nothing" {
		return out, nil
	}
	for word := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(word), "=")
		switch {
		case key == "network" && value == "":
			out.Network = true
		case key == "read" && value != "":
			out.Read = append(out.Read, value)
		case key == "write" && value != "":
			out.Write = append(out.Write, value)
		case key == "memory" && value != "":
			out.Memory = value
		default:
			return nil, &tool.Error{
				Code: tool.Invalid, Op: "isolate server", Msg: fmt.Sprintf("isolate: %q is not understood", word),
				Hint: "write read=FOLDER, write=FOLDER, network and memory=SIZE with commas between them, or nothing",
			}
		}
	}
	return out, nil
}

// leastMemory is the least bound in bytes. Below it not even small programs start.
const leastMemory = 16 << 20

// MemoryBytes returns Memory in bytes, 0 for no bound. The error says what is wrong with it.
func (i *Isolation) MemoryBytes() (int64, error) {
	if i.Memory == "" {
		return 0, nil
	}
	number := strings.TrimRight(i.Memory, "KMGiBkmgb ")
	n, err := strconv.ParseFloat(number, 64)
	unit := map[string]float64{
		"": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30,
		"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30,
	}[strings.ToLower(strings.TrimSpace(i.Memory[len(number):]))]
	bytes := n * unit
	switch {
	case err != nil || unit == 0 || math.IsNaN(bytes):
		return 0, fmt.Errorf("memory %q is no size such as 512MB", i.Memory)
	case bytes < leastMemory || bytes > 1<<50:
		return 0, fmt.Errorf("memory %q is not between 16MiB and 1024TiB", i.Memory)
	}
	return int64(bytes), nil
}

// Check returns an Invalid error for an isolation that could never be set up, or that names a folder in a way that
// depends on where tooldex runs.
func (i *Isolation) Check() error {
	bad := func(msg, hint string) error {
		return &tool.Error{Code: tool.Invalid, Op: "isolate server", Msg: "isolate: " + msg, Hint: hint}
	}
	if i.With != "" && i.With != "bwrap" {
		return bad(fmt.Sprintf("there is no program %q to isolate servers with", i.With), "leave with out, or write bwrap")
	}
	for _, path := range append(append([]string{}, i.Read...), i.Write...) {
		switch {
		case strings.ContainsRune(path, 0):
			return bad(fmt.Sprintf("the folder %q has a zero byte", path), "correct it")
		case path != "~" && !strings.HasPrefix(path, "~/") && !strings.HasPrefix(path, "${") && !filepath.IsAbs(path):
			return bad(fmt.Sprintf("the folder %q does not begin with / or ~/", path), "write its whole path")
		}
	}
	if _, err := i.MemoryBytes(); err != nil {
		return bad(err.Error(), "write a number and MB or GB")
	}
	return nil
}

// String describes the isolation for people, in one line: "bwrap; reads /srv; changes ~/notes; no network".
func (i *Isolation) String() string {
	parts := []string{"bwrap"}
	if len(i.Read) > 0 {
		parts = append(parts, "reads "+strings.Join(i.Read, ", "))
	}
	if len(i.Write) > 0 {
		parts = append(parts, "changes "+strings.Join(i.Write, ", "))
	}
	if i.Network {
		parts = append(parts, "network")
	} else {
		parts = append(parts, "no network")
	}
	if i.Memory != "" {
		parts = append(parts, "at most "+i.Memory+" a process")
	}
	return strings.Join(parts, "; ")
}
