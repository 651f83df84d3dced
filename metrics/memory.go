package metrics

import (
	"context"
	"maps"
	"sync"
)

// memoryDisk is a Disk whose content ends with the process.
type memoryDisk struct {
	mu      sync.Mutex
	entries map[string][]byte
	version uint64
}

// Counts implements Disk.
func (d *memoryDisk) Counts(_ context.Context, known uint64) (map[string][]byte, uint64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if known == d.version {
		return nil, known, nil
	}
	return maps.Clone(d.entries), d.version, nil
}

// ChangeCounts implements Disk.
func (d *memoryDisk) ChangeCounts(_ context.Context, _ []string, change func(map[string][]byte) map[string][]byte) (before,
	after uint64, err error,
) {
	d.mu.Lock()
	defer d.mu.Unlock()
	put := change(d.entries)
	if d.entries == nil {
		d.entries = map[string][]byte{}
	}
	for key, b := range put {
		if b == nil {
			delete(d.entries, key)
			continue
		}
		d.entries[key] = b
	}
	d.version++
	return d.version - 1, d.version, nil
}
