package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"tooldex/internal/atomicfile"
	"tooldex/tool"
)

// A process that serves leaves a note of how its upstreams are, for "servers list" in another: a file of its own that
// it touches while it runs. Who finds one that was not touched for a while may remove it.
const (
	touchEvery = 10 * time.Second
	noteLives  = 4 * touchEvery
)

// statusNote is the note of one process.
type statusNote struct {
	file    string
	written []tool.Status
	touched time.Time
}

func (a *app) statusDir() string { return filepath.Join(a.upstreamDir(), "status") }

func newStatusNote(dir string) *statusNote {
	return &statusNote{file: filepath.Join(dir, fmt.Sprintf("%d.json", os.Getpid()))}
}

// update writes the note if something has changed, and touches it now and then if not.
func (n *statusNote) update(now []tool.Status) error {
	changed := !reflect.DeepEqual(now, n.written)
	if !changed && time.Since(n.touched) < touchEvery {
		return nil
	}
	n.touched = time.Now()
	if !changed {
		return os.Chtimes(n.file, n.touched, n.touched)
	}
	b, err := json.Marshal(now)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(n.file), 0o700); err != nil {
		return err
	}
	n.written = now
	return atomicfile.Write(n.file, b, 0o600)
}

// remove takes the note away. That it stays behind does no harm: it is too old soon.
func (n *statusNote) remove() { _ = os.Remove(n.file) }

// readNotes tells how the upstreams of all processes that serve are. A server that runs for any of them runs; otherwise
// one that failed has failed.
func readNotes(dir string) map[string]tool.Status {
	out := map[string]tool.Status{}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return out
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			continue
		}
		if time.Since(info.ModTime()) > noteLives {
			_ = os.Remove(file)
			continue
		}
		var list []tool.Status
		if b, err := os.ReadFile(file); err != nil || json.Unmarshal(b, &list) != nil {
			continue // it is being written
		}
		for _, st := range list {
			if have, ok := out[st.Server]; !ok || rank(st.State) > rank(have.State) {
				out[st.Server] = st
			}
		}
	}
	return out
}

func rank(s tool.State) int {
	return slices.Index([]tool.State{tool.Configured, tool.Known, tool.Failed, tool.Running}, s)
}
