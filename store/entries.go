package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"tooldex/embed"
	"tooldex/tool"
)

// Kind says what an [Entry] is.
type Kind string

// The kinds of entries, in the order in which [Backend.Entries] gives them.
const (
	KindTool       Kind = "tool"       // by ID, as EncodeRecord writes it
	KindServer     Kind = "server"     // by name, JSON
	KindSource     Kind = "source"     // by name, JSON
	KindOverlay    Kind = "overlay"    // by name
	KindTrust      Kind = "trust"      // by the ID of the tool
	KindPreference Kind = "preference" // by profile, without its version
	KindLearned    Kind = "learned"
	KindCount      Kind = "count"
	KindVector     Kind = "vector"   // of Model, by TextHash, as EncodeVector writes it
	KindAnalysis   Kind = "analysis" // of Knowledge, by the hash of the tool
)

// Kinds returns all kinds in order.
func Kinds() []Kind {
	return []Kind{
		KindTool, KindServer, KindSource, KindOverlay, KindTrust, KindPreference, KindLearned, KindCount, KindVector,
		KindAnalysis,
	}
}

// Entry is one stored value under its key. All backends keep the same bytes, so entries move between them unchanged.
type Entry struct {
	Kind       Kind
	Model      embed.Model // of a vector
	Knowledge  string      // of an analysis
	Key, Value []byte
}

// bucketOf returns the bucket of the entries of a kind, "" for a kind that does not exist. Vectors and analyses lie in
// buckets within theirs.
func bucketOf(k Kind) string {
	switch k {
	case KindTool:
		return bucketTools
	case KindServer:
		return bucketServers
	case KindSource:
		return bucketSources
	case KindOverlay:
		return bucketOverlays
	case KindTrust:
		return bucketTrust
	case KindPreference:
		return bucketPreferences
	case KindLearned:
		return string(learnedBucket)
	case KindCount:
		return string(countBucket)
	case KindVector:
		return bucketVectors
	case KindAnalysis:
		return bucketAnalyses
	}
	return ""
}

// Entries calls fn with everything that is stored, as it is at one moment, ordered by kind. Key and Value are valid
// until fn returns. It holds the shared lock meanwhile, so that writers wait. It ends with the error of fn, or at the
// first damaged value.
func (s *Store) Entries(ctx context.Context, fn func(Entry) error) error {
	return s.readCurrent(ctx, func(tx *bolt.Tx) error {
		for _, kind := range Kinds() {
			var err error
			switch kind {
			case KindVector, KindAnalysis:
				err = s.eachInner(ctx, tx, kind, fn)
			default:
				err = s.eachEntry(ctx, tx.Bucket([]byte(bucketOf(kind))), Entry{Kind: kind}, fn)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// eachInner is eachEntry for all buckets of vectors, or of analyses. A bucket whose name nobody can read is left out:
// no program would find its entries.
func (s *Store) eachInner(ctx context.Context, tx *bolt.Tx, kind Kind, fn func(Entry) error) error {
	outer := tx.Bucket([]byte(bucketOf(kind)))
	return outer.ForEachBucket(func(k []byte) error {
		e, ok := Entry{Kind: kind}, false
		if kind == KindVector {
			e.Model, ok = modelOf(k)
		} else {
			var version []byte
			version, ok = bytes.CutPrefix(k, knowledgeKey(""))
			e.Knowledge = string(version)
		}
		if !ok {
			return nil
		}
		return s.eachEntry(ctx, outer.Bucket(k), e, fn)
	})
}

// eachEntry calls fn with the entries of a bucket, which are like e but for key and value. A nil bucket has none.
func (s *Store) eachEntry(ctx context.Context, b *bolt.Bucket, e Entry, fn func(Entry) error) error {
	if b == nil {
		return nil
	}
	return b.ForEach(func(k, v []byte) error {
		if err := ctx.Err(); err != nil {
			return s.timeoutError(err)
		}
		payload, err := unsealValue(k, v)
		if e.Key = k; err == nil && e.Kind == KindPreference {
			if e.Key = bytes.TrimPrefix(k, []byte(profileKey)); len(payload) < uint64Size {
				err = errTruncated
			} else {
				payload = payload[uint64Size:]
			}
		}
		if err != nil {
			return s.damagedError(errors.New(Damage{Kind: string(e.Kind), Key: printableKey(k), Err: err}.String()))
		}
		e.Value = payload
		return fn(e)
	})
}

// Fill replaces everything that is stored by what from puts, in one step: after an error, or the death of the process,
// the old state is there unchanged. Processes that share the state notice. Unless replace is set, the error is Invalid
// if anything is stored. A file that had something stays under the name tooldex.db.before-copy-<time>. From may put
// entries in any order, and put keeps none of their bytes. Other errors are those of from and of [Store.Write].
func (s *Store) Fill(ctx context.Context, replace bool, from func(put func(Entry) error) error) error {
	free := func(tx *bolt.Tx) error {
		if replace || !hasEntries(tx) {
			return nil
		}
		return OccupiedError(s.path)
	}
	if !replace { // before the work, and again under the lock
		if err := s.readCurrent(ctx, free); err != nil {
			return err
		}
	}
	var failed error // of from, which is not to be explained as one of the file
	beside, err := s.buildFile(func(tx *bolt.Tx) error {
		if err := s.initializeFile(tx); err != nil {
			return err
		}
		w := newPutter(s, tx)
		failed = from(func(e Entry) error {
			if err := ctx.Err(); err != nil {
				return s.timeoutError(err)
			}
			w.putEntry(e)
			return s.explainAny(w.err) // the place that from reads must not take it for an error of its own
		})
		return errors.Join(failed, w.writeSums())
	})
	if failed != nil {
		return failed
	}
	if err != nil {
		return s.explainError(err)
	}
	_, err = s.replaceBy(ctx, beside, "before-copy", func(old *bolt.DB, next *bolt.Tx) error {
		if old != nil {
			if err := old.View(free); err != nil {
				return err
			}
		}
		return s.renewPreferences(next)
	})
	return err
}

// renewPreferences gives all preferences the number of their last change as their version, which none had before.
func (s *Store) renewPreferences(tx *bolt.Tx) error {
	all, number := readPreferences(tx, newSnapshot()), readCounter(tx, keyPreferences)
	for name, p := range all {
		p.Version = number
		all[name] = p
	}
	if len(all) == 0 {
		return nil
	}
	return s.putPreferences(tx, all, number)
}

// OccupiedError returns the error of a [Backend.Fill] of a state that is not empty.
func OccupiedError(location string) error {
	return &tool.Error{
		Code: tool.Invalid, Op: "fill store", Msg: location + " is not empty",
		Hint: "choose an empty one, or replace all that is there with --force",
	}
}

// hasEntries reports whether a file has anything but vectors and analyses.
func hasEntries(tx *bolt.Tx) bool {
	for _, kind := range Kinds() {
		if kind == KindVector || kind == KindAnalysis {
			continue // of no use alone, and made again
		}
		if b := tx.Bucket([]byte(bucketOf(kind))); b != nil {
			if k, _ := b.Cursor().First(); k != nil {
				return true
			}
		}
	}
	return false
}

// putEntry stores one entry. A preference gets the version 1 for now.
func (w *putter) putEntry(e Entry) {
	switch e.Kind {
	case KindVector:
		w.useBucket(bucketVectors, modelKey(e.Model))
	case KindAnalysis:
		w.useBucket(bucketAnalyses, knowledgeKey(e.Knowledge))
	case KindPreference:
		w.useBucket(bucketPreferences)
		w.putSealed(append([]byte(profileKey), e.Key...), append(binary.BigEndian.AppendUint64(nil, 1), e.Value...))
		return
	default:
		if bucketOf(e.Kind) == "" && w.err == nil {
			w.err = fmt.Errorf("there are no entries of kind %q", e.Kind)
		}
		w.useBucket(bucketOf(e.Kind))
	}
	w.putSealed(bytes.Clone(e.Key), e.Value) // bbolt keeps the key
}
