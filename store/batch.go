package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"tooldex/embed"
	"tooldex/tool"
	"tooldex/upstream"
)

// ErrChanged is wrapped by the error of a write that was decided on old data: the Base of a [Batch] or the generation
// of [Used] is no longer that of the file.
var ErrChanged = errors.New("the store was changed by another process")

// Batch is a set of changes that are made together or not at all. Its zero value changes nothing. Values that are put
// replace those under the same key; keys that are removed need not exist. Write does not change or keep the batch.
type Batch struct {
	// Base, if not zero, is the generation on which the changes were decided. If the file has another by now, nothing
	// is written and the error wraps ErrChanged. The same happens while another caller has its turn: see [Queuing].
	Base uint64

	Records []Record
	Remove  []tool.ID

	Model   embed.Model // that made Vectors; each must have its dimensions
	Vectors map[TextHash]Vector

	Knowledge string // the version of the knowledge that made Lent
	Analyses  map[tool.Hash][]byte

	// Entries to remove, of the same model and version. They are no change by themselves: a batch of nothing else is
	// empty, since dropping what is unused is not worth a write.
	DropVectors  []TextHash
	DropAnalyses []tool.Hash

	Servers       []upstream.Server
	RemoveServers []string

	Sources       []SourceState
	RemoveSources []string

	Overlays       map[string][]byte // opaque, by the overlay's name
	RemoveOverlays []string

	Trust map[tool.ID][]byte // decisions about tools, opaque; nil takes one away
}

// SourceState is what is remembered of a source from one synchronization to the next.
type SourceState struct {
	Name   string
	Digest [32]byte  // of all that it offered at Synced; zero if it has none
	Synced time.Time // when it last answered well
	Stale  bool      // its last answer was an error or empty: its tools are those of Synced
	Note   []byte    // opaque
	Path   string    `json:",omitempty"` // of the file that the source reads; "" if there is none or it is unknown
	Rules  int       `json:",omitempty"` // scan.Version when its tools were scanned last; zero if they never were
	// About is what the source says of itself, as far as it is kept.
	About upstream.About `json:",omitzero"`
}

// Empty reports whether the batch changes nothing.
func (b *Batch) Empty() bool {
	return len(b.Records)+len(b.Remove)+len(b.Vectors)+len(b.Analyses)+len(b.Servers)+len(b.RemoveServers)+
		len(b.Sources)+len(b.RemoveSources)+len(b.Overlays)+len(b.RemoveOverlays)+len(b.Trust) == 0
}

// Write makes the changes of b and returns the file's new generation. When the error is nil, they are on the disk. An
// empty batch writes nothing and returns the generation as it is. The error is Unavailable, wrapping ErrChanged, as
// described at Batch.Base; Invalid for a record without a tool or with a name that cannot be a key; Timeout and
// Internal as at [Open].
func (s *Store) Write(ctx context.Context, b *Batch) (gen uint64, err error) {
	if err := b.Check(); err != nil {
		return 0, err
	}
	if b.Empty() {
		return s.Generation(ctx)
	}
	err = s.writeTx(ctx, func(tx *bolt.Tx) error {
		if err := s.checkLayout(tx); err != nil {
			return err
		}
		if have := readGeneration(tx); b.Base != 0 && have != b.Base {
			return ChangedError(s.path, b.Base, have)
		}
		if err := s.applyBatch(tx, b); err != nil {
			return err
		}
		gen, err = raiseGeneration(tx)
		return err
	})
	if err != nil {
		return 0, err
	}
	return gen, nil
}

// ChangedError returns the error of a state at path that has the generation have, where base was decided on. It is
// Unavailable and wraps [ErrChanged].
func ChangedError(path string, base, have uint64) error {
	return &tool.Error{
		Code: tool.Unavailable, Op: "use store", Msg: fmt.Sprintf("generation %d of %s is gone, it is at %d", base, path, have),
		Hint: "load it again and repeat", Err: ErrChanged,
	}
}

// MaxKey is the longest key in bytes that a backend takes: well below the limit of bbolt, so that pages hold several.
const MaxKey = 4096

// Check refuses batches that could not be read back: missing names, long ones, and vectors of other dimensions. The
// error is Invalid. Every backend calls it before it writes.
func (b *Batch) Check() error {
	bad := func(what, name string) error {
		return &tool.Error{Code: tool.Invalid, Op: "write store", Msg: fmt.Sprintf("%s %.80q cannot be stored", what,
			name), Hint: fmt.Sprintf("it needs a name of 1 to %d bytes", MaxKey)}
	}
	for _, r := range b.Records {
		if r.Tool == nil || r.Tool.Server == "" || r.Tool.Name == "" || len(r.Tool.ID()) > MaxKey {
			return bad("tool", fmt.Sprint(r.Tool))
		}
	}
	names := slices.Sorted(maps.Keys(b.Overlays))
	for id := range b.Trust {
		names = append(names, string(id))
	}
	for _, v := range b.Servers {
		names = append(names, v.Name)
	}
	for _, v := range b.Sources {
		names = append(names, v.Name)
	}
	for _, n := range names {
		if n == "" || len(n) > MaxKey {
			return bad("entry", n)
		}
	}
	for h, v := range b.Vectors {
		if len(v.Data) != b.Model.Dims {
			return &tool.Error{
				Code: tool.Invalid, Op: "write store",
				Msg: fmt.Sprintf("vector %x has %d dimensions, model %s has %d", h, len(v.Data), b.Model.Name,
					b.Model.Dims),
			}
		}
	}
	return nil
}

// applyBatch makes the changes of b in tx. Keys are put in ascending order, which keeps bbolt's pages full. Removals
// come before puts, so that a batch that has both for a key leaves it put.
func (s *Store) applyBatch(tx *bolt.Tx, b *Batch) error {
	w := newPutter(s, tx)
	records := slices.Clone(b.Records)
	slices.SortStableFunc(records, func(x, y Record) int { return cmp.Compare(x.Tool.ID(), y.Tool.ID()) })
	w.useBucket(bucketTools)
	for _, id := range b.Remove {
		w.deleteKey(string(id))
	}
	for i := range records {
		w.putSealed([]byte(records[i].Tool.ID()), EncodeRecord(&records[i]))
	}
	w.useBucket(bucketServers)
	for _, name := range b.RemoveServers {
		w.deleteKey(name)
	}
	for _, v := range b.Servers {
		w.putJSON(v.Name, v)
	}
	w.useBucket(bucketSources)
	for _, name := range b.RemoveSources {
		w.deleteKey(name)
	}
	for _, v := range b.Sources {
		w.putJSON(v.Name, v)
	}
	w.useBucket(bucketOverlays)
	for _, name := range b.RemoveOverlays {
		w.deleteKey(name)
	}
	for _, name := range slices.Sorted(maps.Keys(b.Overlays)) {
		w.putSealed([]byte(name), b.Overlays[name])
	}
	w.putTrust(b.Trust)
	if len(b.Vectors)+len(b.DropVectors) > 0 {
		w.useBucket(bucketVectors, modelKey(b.Model))
		for _, h := range b.DropVectors {
			w.deleteKey(string(h[:]))
		}
		for _, h := range slices.SortedFunc(maps.Keys(b.Vectors), func(x, y TextHash) int {
			return bytes.Compare(x[:], y[:])
		}) {
			w.putSealed(h[:], EncodeVector(b.Vectors[h]))
		}
	}
	if len(b.Analyses)+len(b.DropAnalyses) > 0 {
		w.useBucket(bucketAnalyses, knowledgeKey(b.Knowledge))
		for _, h := range b.DropAnalyses {
			w.deleteKey(string(h[:]))
		}
		for _, h := range slices.SortedFunc(maps.Keys(b.Analyses), func(x, y tool.Hash) int {
			return bytes.Compare(x[:], y[:])
		}) {
			w.putSealed(h[:], b.Analyses[h])
		}
	}
	return w.writeSums()
}

// knowledgeKey returns the key of the analyses' bucket of a version. It is never empty, which bbolt would refuse.
func knowledgeKey(version string) []byte { return []byte("v:" + version) }

// putter writes to one bucket after another. After the first error its methods do nothing; writeSums returns it.
type putter struct {
	s    *Store
	tx   *bolt.Tx
	b    *bolt.Bucket         // the one being written to
	sums map[string]bucketSum // new sums of the buckets that changed
	now  string               // the name of b if it has a sum, otherwise ""
	err  error
}

// newPutter returns a writer to tx. After the first error its methods do nothing; flush returns that error.
func newPutter(s *Store, tx *bolt.Tx) *putter {
	return &putter{s: s, tx: tx, sums: map[string]bucketSum{}}
}

// useBucket makes a bucket the one that is written to, and creates it if need be. Buckets inside another have no sum.
func (w *putter) useBucket(name string, inner ...[]byte) {
	if w.err != nil {
		return
	}
	w.b, w.err = w.tx.CreateBucketIfNotExists([]byte(name))
	if w.now = ""; len(inner) == 0 {
		w.now = name
	}
	for _, k := range inner {
		if w.err == nil {
			w.b, w.err = w.b.CreateBucketIfNotExists(k)
		}
	}
}

// putSealed seals a payload and stores it under key.
func (w *putter) putSealed(key, payload []byte) {
	if w.err == nil {
		w.err = w.s.injectFault("put")
	}
	if w.err == nil {
		sealed := sealPayload(key, payload)
		w.updateSum(key, sealed)
		w.err = w.b.Put(key, sealed)
	}
}

// updateSum replaces the value under key by sealed in the sum of the bucket; nil stands for a removal. It must come
// before the change, since it reads the old value.
func (w *putter) updateSum(key, sealed []byte) {
	if w.now == "" {
		return
	}
	of, ok := w.sums[w.now]
	if !ok {
		of = readSum(w.tx, w.now)
	}
	w.sums[w.now] = of.removeValue(w.b.Get(key)).addValue(sealed)
}

// writeSums stores the sums that changed, and returns the first error of all calls before. It must be called once, at
// the end.
func (w *putter) writeSums() error {
	for name, of := range w.sums {
		if w.err == nil {
			w.err = of.writeSum(w.tx, name)
		}
	}
	return w.err
}

// putJSON stores v under key as JSON.
func (w *putter) putJSON(key string, v any) {
	payload, err := json.Marshal(v)
	if err != nil && w.err == nil {
		w.err = err
	}
	w.putSealed([]byte(key), payload)
}

// deleteKey removes a key and takes it out of the bucket's sum. A missing key is no error.
func (w *putter) deleteKey(key string) {
	if w.err == nil {
		w.err = w.s.injectFault("delete")
	}
	if w.err == nil {
		w.updateSum([]byte(key), nil)
		w.err = w.b.Delete([]byte(key))
	}
}
