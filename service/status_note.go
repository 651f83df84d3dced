package service

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"tooldex/internal/atomicfile"
	"tooldex/upstream"
)

// A process that serves writes the states of its servers to a file of its own, for "servers list" in another process,
// and touches the file while it runs. A process that finds a file that was not touched for noteLifetime removes it.
const (
	touchEvery   = 10 * time.Second
	noteLifetime = 4 * touchEvery
)

// StatusNote is the file of one process. Its methods must not be called at the same time.
type StatusNote struct {
	file    string            // named by the process ID
	written []upstream.Status // the content of the file
	touched time.Time         // of the last write or touch
}

// StatusDir returns where the processes that serve a data directory note the states of their servers.
func StatusDir(dataDir string) string { return filepath.Join(UpstreamDir(dataDir), "status") }

// NewStatusNote returns the note of this process. Nothing is written yet.
func NewStatusNote(dir string) *StatusNote {
	return &StatusNote{file: filepath.Join(dir, fmt.Sprintf("%d.json", os.Getpid()))}
}

// Update writes the file if the states have changed, and touches it from time to time if not.
func (n *StatusNote) Update(now []upstream.Status) error {
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
	if err := atomicfile.MkdirAll(filepath.Dir(n.file), 0o700); err != nil {
		return err
	}
	n.written = now
	return atomicfile.Write(n.file, b, 0o600)
}

// Remove removes the file. If that fails, readers ignore the file after noteLifetime.
func (n *StatusNote) Remove() { _ = os.Remove(n.file) }

// ReadStatusNotes returns the states of the servers of all processes that serve, by name. A server that runs for any of
// them is running; otherwise one that failed for any of them has failed.
func ReadStatusNotes(dir string) map[string]upstream.Status {
	out := map[string]upstream.Status{}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return out
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			continue
		}
		if time.Since(info.ModTime()) > noteLifetime {
			_ = os.Remove(file)
			continue
		}
		var list []upstream.Status
		if b, err := os.ReadFile(file); err != nil || json.Unmarshal(b, &list) != nil {
			continue // it is being written
		}
		for _, st := range list {
			if have, ok := out[st.Server]; !ok || rankState(st.State) > rankState(have.State) {
				out[st.Server] = st
			}
		}
	}
	return out
}

// rankState orders states by what they say about a server that several processes use.
func rankState(s upstream.State) int {
	return slices.Index([]upstream.State{
		upstream.Configured, upstream.Known, upstream.Failed, upstream.Starting, upstream.Installing, upstream.Running,
	}, s)
}
