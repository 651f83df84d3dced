package store

import (
	"bytes"
	"maps"
	"slices"

	bolt "go.etcd.io/bbolt"

	"tooldex/tool"
)

// bucketTrust holds the decisions about tools whose servers are not trusted, by the tool's ID. It is made when it is
// first written to, so a file without it has the same layout, and older versions ignore it. A decision is written in
// the transaction of the record that it is about: no process sees one without the other.
const bucketTrust = "trust"

// putTrust stores decisions; a nil one is removed.
func (w *putter) putTrust(decisions map[tool.ID][]byte) {
	if len(decisions) == 0 {
		return
	}
	w.useBucket(bucketTrust)
	for _, id := range slices.Sorted(maps.Keys(decisions)) {
		if decisions[id] == nil {
			w.deleteKey(string(id))
		} else {
			w.putSealed([]byte(id), decisions[id])
		}
	}
}

// readTrust reads the decisions; a file without their bucket has none.
func (snap *Snapshot) readTrust(tx *bolt.Tx) {
	snap.readBucket(tx, bucketTrust, bucketTrust, func(k, payload []byte) error {
		snap.Trust[tool.ID(k)] = bytes.Clone(payload)
		return nil
	})
}
