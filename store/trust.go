package store

import (
	"bytes"
	"maps"
	"slices"

	bolt "go.etcd.io/bbolt"

	"tooldex/tool"
)

// bucketTrust holds what was decided of tools whose servers are not trusted, by the tool's ID. It is made when it is
// first written to, so a file without it has the same layout, and older versions pass over it. A decision is written in
// the transaction of the record that it is about: no process sees the one without the other.
const bucketTrust = "trust"

// putTrust makes the changes of decisions: nil takes one away.
func (w *putter) putTrust(decisions map[tool.ID][]byte) {
	if len(decisions) == 0 {
		return
	}
	w.bucket(bucketTrust)
	for _, id := range slices.Sorted(maps.Keys(decisions)) {
		if decisions[id] == nil {
			w.delete(string(id))
		} else {
			w.put([]byte(id), decisions[id])
		}
	}
}

// readTrust reads the decisions.
func (snap *Snapshot) readTrust(tx *bolt.Tx) {
	snap.readBucket(tx, bucketTrust, bucketTrust, func(k, payload []byte) error {
		snap.Trust[tool.ID(k)] = bytes.Clone(payload)
		return nil
	})
}
