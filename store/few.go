package store

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"

	"tooldex/tool"
)

// LoadServers reads what concerns some servers: their records, the sources of the same names, the decisions about their
// tools and features, and all servers and overlays. Its time depends on how much that is. It verifies the values that
// it reads and notes damaged ones in Damaged, but not that no other was lost. The errors are those of [Store.Load].
func (s *Store) LoadServers(ctx context.Context, servers []string) (*Snapshot, error) {
	servers = slices.Clone(servers)
	slices.Sort(servers)
	snap := newSnapshot()
	err := s.readCurrent(ctx, func(tx *bolt.Tx) error {
		snap.Generation = readGeneration(tx)
		snap.readServers(tx)
		snap.readBucket(tx, bucketOverlays, "overlay", func(k, payload []byte) error {
			snap.Overlays[string(k)] = bytes.Clone(payload)
			return nil
		})
		sources := tx.Bucket([]byte(bucketSources))
		for _, name := range slices.Compact(servers) {
			snap.readOne(sources, "source", name, func(payload []byte) error {
				var v SourceState
				err := json.Unmarshal(payload, &v)
				if err == nil {
					snap.Sources[v.Name] = v
				}
				return err
			})
			snap.readPrefix(tx.Bucket([]byte(bucketTools)), "tool", name+"/", func(k, payload []byte) error {
				r, err := decodeRecordOf(k, payload)
				if err == nil {
					snap.Records = append(snap.Records, r)
				}
				return err
			})
			snap.readDecisions(tx, name)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(snap.Records, func(a, b Record) int { return strings.Compare(string(a.Tool.ID()), string(b.Tool.ID())) })
	return snap, nil
}

// readDecisions reads the decisions about the tools of a server, and about its features, whose keys begin with their
// kind: /prompt/SERVER/NAME.
func (snap *Snapshot) readDecisions(tx *bolt.Tx, server string) {
	b := tx.Bucket([]byte(bucketTrust))
	keep := func(k, payload []byte) error {
		snap.Trust[tool.ID(k)] = bytes.Clone(payload)
		return nil
	}
	snap.readPrefix(b, "trust", server+"/", keep)
	if b == nil {
		return
	}
	c := b.Cursor()
	for k, _ := c.Seek([]byte("/")); bytes.HasPrefix(k, []byte("/")); {
		kind, _, _ := strings.Cut(string(k[1:]), "/")
		snap.readPrefix(b, "trust", "/"+kind+"/"+server+"/", keep)
		k, _ = c.Seek([]byte("/" + kind + "0")) // what follows the last key of this kind: "0" comes after "/"
	}
}

// readOne calls fn with the value of a key, if there is one, and notes it as damaged as readValues does.
func (snap *Snapshot) readOne(b *bolt.Bucket, kind, key string, fn func(payload []byte) error) {
	v := b.Get([]byte(key))
	if v == nil {
		return
	}
	payload, err := unsealValue([]byte(key), v)
	if err == nil {
		err = fn(payload)
	}
	if err != nil {
		snap.Damaged = append(snap.Damaged, Damage{Kind: kind, Key: printableKey([]byte(key)), Err: err})
	}
}

// readPrefix is readValues for the keys that begin with prefix.
func (snap *Snapshot) readPrefix(b *bolt.Bucket, kind, prefix string, fn func(key, payload []byte) error) {
	if b == nil {
		return
	}
	c := b.Cursor()
	for k, v := c.Seek([]byte(prefix)); bytes.HasPrefix(k, []byte(prefix)); k, v = c.Next() {
		payload, err := unsealValue(k, v)
		if err == nil {
			err = fn(k, payload)
		}
		if err != nil {
			snap.Damaged = append(snap.Damaged, Damage{Kind: kind, Key: printableKey(k), Err: err})
		}
	}
}
