package store

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"tooldex/embed"
	"tooldex/internal/faultfs"
	"tooldex/tool"
	"tooldex/upstream"
)

var (
	modelRuns = flag.Int("runs", 300, "how many times TestModel runs; -short divides it by ten")
	modelSeed = flag.Uint64("seed", 0, "the seed of the first run of TestModel, those after it have the next ones; 0 chooses one")
)

// model is what a store should hold. A step changes it as it changes the store.
type model struct {
	records  map[tool.ID]Record
	servers  map[string]upstream.Server
	sources  map[string]SourceState
	overlays map[string][]byte
	trust    map[tool.ID][]byte
	vectors  map[TextHash]Vector
	analyses map[tool.Hash][]byte
	profiles map[string][]byte // preferences without their versions
	learned  map[string][]byte
	counts   map[string][]byte
	backup   *model // what the backup holds; nil if there is none
}

func newModel() *model {
	return &model{
		records: map[tool.ID]Record{}, servers: map[string]upstream.Server{}, sources: map[string]SourceState{},
		overlays: map[string][]byte{}, trust: map[tool.ID][]byte{}, vectors: map[TextHash]Vector{},
		analyses: map[tool.Hash][]byte{}, profiles: map[string][]byte{}, learned: map[string][]byte{},
		counts: map[string][]byte{},
	}
}

func (m *model) clone() *model {
	return &model{
		maps.Clone(m.records), maps.Clone(m.servers), maps.Clone(m.sources), maps.Clone(m.overlays), maps.Clone(m.trust),
		maps.Clone(m.vectors), maps.Clone(m.analyses), maps.Clone(m.profiles), maps.Clone(m.learned),
		maps.Clone(m.counts), m.backup,
	}
}

// everything returns what readEverything should. It leaves out the versions of preferences, as check does.
func (m *model) everything() everything {
	out := everything{
		Snapshot: &Snapshot{
			Vectors: m.vectors, Analyses: m.analyses, Sources: m.sources, Overlays: m.overlays, Trust: m.trust,
		},
		Preferences: map[string]Preference{}, Learned: m.learned, Counts: m.counts,
	}
	for _, id := range slices.Sorted(maps.Keys(m.records)) {
		out.Snapshot.Records = append(out.Snapshot.Records, m.records[id])
	}
	for _, name := range slices.Sorted(maps.Keys(m.servers)) {
		out.Snapshot.Servers = append(out.Snapshot.Servers, m.servers[name])
	}
	for name, value := range m.profiles {
		out.Preferences[name] = Preference{Value: value}
	}
	return out
}

// step is one operation: on a store, in this process or another, and on the model.
type step struct {
	name  string
	do    func(s *Store) error
	model func(m *model)
}

// backupOf returns the path of the backup of a store.
func backupOf(s *Store) string { return filepath.Join(filepath.Dir(s.Location()), "kept.zip") }

// stepOf returns step n of a run, which the seed of the run decides.
func stepOf(seed uint64, n int) step {
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	steps := []func(*rand.Rand) step{
		stepWrite, stepWrite, stepWrite, stepWrite, stepPreferences, stepLearned, stepCounts, stepBackup, stepRestore,
		stepCompact, stepRecover, stepRefused,
	}
	return steps[r.IntN(len(steps))](r)
}

// some returns about a third of some numbers.
func some(r *rand.Rand, most int) []int {
	var out []int
	for i := range most {
		if r.IntN(3) == 0 {
			out = append(out, i)
		}
	}
	return out
}

func stepWrite(r *rand.Rand) step {
	b := &Batch{
		Model: fixtureModel, Knowledge: "7", Vectors: map[TextHash]Vector{}, Analyses: map[tool.Hash][]byte{},
		Overlays: map[string][]byte{}, Trust: map[tool.ID][]byte{},
	}
	text := func() []byte { return []byte(strings.Repeat(fmt.Sprint(r.IntN(1000)), r.IntN(200))) }
	at, far := time.Unix(r.Int64N(1e9), 0).UTC(), r.IntN(20) // one batch in twenty is large
	for _, i := range some(r, 12+60*(1-min(far, 1))) {
		one := record(i)
		one.Tool.Description = string(text())
		one.Hash, one.Changed = one.Tool.Hash(), at
		b.Records = append(b.Records, one)
	}
	for _, i := range some(r, 12) {
		id := record(i).Tool.ID()
		b.Remove = append(b.Remove, id)
		if b.Trust[id] = nil; i%2 == 0 {
			b.Trust[id] = append([]byte("held"), text()...)
		}
	}
	for _, i := range some(r, 4) {
		name := fmt.Sprint("s", i)
		switch r.IntN(3) {
		case 0:
			b.RemoveServers, b.RemoveSources = append(b.RemoveServers, name), append(b.RemoveSources, name)
			b.RemoveOverlays = append(b.RemoveOverlays, name)
		case 1:
			b.Servers = append(b.Servers, upstream.Server{Name: name, Command: "run", Args: []string{string(text())}})
		default:
			b.Sources = append(b.Sources, SourceState{Name: name, Synced: at, Note: []byte("n"), Rules: i})
			b.Overlays[name] = text()
		}
	}
	for _, i := range some(r, 6) {
		if r.IntN(3) == 0 {
			b.DropVectors, b.DropAnalyses = append(b.DropVectors, TextHash{byte(i)}), append(b.DropAnalyses, tool.Hash{byte(i)})
			continue
		}
		b.Vectors[TextHash{byte(i)}] = Quantize([]float32{float32(r.IntN(9)), 1, 0, -1})
		b.Analyses[tool.Hash{byte(i)}] = text()
	}
	return step{"write", func(s *Store) error {
		before, err := s.Generation(context.Background())
		if err != nil {
			return err
		}
		b.Base = before
		after, err := s.Write(context.Background(), b)
		if want := before + 1; err == nil && after != want && !b.Empty() {
			return fmt.Errorf("generation %d after %d", after, before)
		}
		return err
	}, func(m *model) { m.apply(b) }}
}

// apply makes the changes of a batch.
func (m *model) apply(b *Batch) {
	if b.Empty() {
		return
	}
	removeAll(m.records, b.Remove)
	removeAll(m.servers, b.RemoveServers)
	removeAll(m.sources, b.RemoveSources)
	removeAll(m.overlays, b.RemoveOverlays)
	removeAll(m.vectors, b.DropVectors)
	removeAll(m.analyses, b.DropAnalyses)
	for _, one := range b.Records {
		m.records[one.Tool.ID()] = one
	}
	for _, one := range b.Servers {
		m.servers[one.Name] = one
	}
	for _, one := range b.Sources {
		m.sources[one.Name] = one
	}
	maps.Copy(m.overlays, b.Overlays)
	maps.Copy(m.vectors, b.Vectors)
	maps.Copy(m.analyses, b.Analyses)
	putAll(m.trust, b.Trust)
}

func removeAll[K cmp.Ordered | TextHash | tool.Hash, V any](from map[K]V, keys []K) {
	for _, k := range keys {
		delete(from, k)
	}
}

// putAll puts entries; a nil one is removed.
func putAll[K comparable](into, entries map[K][]byte) {
	for k, v := range entries {
		if into[k] = v; v == nil {
			delete(into, k)
		}
	}
}

func stepPreferences(r *rand.Rand) step {
	profile, value := fmt.Sprint("p", r.IntN(3)), []byte(fmt.Sprint(r.Uint64()))
	return step{"preferences", func(s *Store) error {
		all, last, err := s.Preferences(context.Background(), 0)
		if err != nil {
			return err
		}
		base := all[profile].Version
		if _, err := s.SetPreferences(context.Background(), profile, base+1, value); !errors.Is(err, ErrChanged) {
			return fmt.Errorf("preferences over version %d of %d: %w", base+1, base, err)
		}
		version, err := s.SetPreferences(context.Background(), profile, base, value)
		if err == nil && version <= last {
			return fmt.Errorf("version %d after %d", version, last)
		}
		return err
	}, func(m *model) { m.profiles[profile] = value }}
}

// stepEntries changes entries by one of the two methods for that.
func stepEntries(r *rand.Rand, name string, of func(m *model) map[string][]byte,
	change func(s *Store, keys []string, fn func(map[string][]byte) map[string][]byte) error,
) step {
	now := map[string][]byte{}
	for _, i := range some(r, 5) {
		if now[fmt.Sprint("k", i)] = nil; r.IntN(3) > 0 {
			now[fmt.Sprint("k", i)] = []byte(strings.Repeat("v", r.IntN(300)))
		}
	}
	return step{name, func(s *Store) error {
		return change(s, nil, func(map[string][]byte) map[string][]byte { return now })
	}, func(m *model) { putAll(of(m), now) }}
}

func stepLearned(r *rand.Rand) step {
	return stepEntries(r, "learned", func(m *model) map[string][]byte { return m.learned },
		func(s *Store, keys []string, fn func(map[string][]byte) map[string][]byte) error {
			_, _, err := s.ChangeLearned(context.Background(), keys, fn)
			return err
		})
}

func stepCounts(r *rand.Rand) step {
	return stepEntries(r, "counts", func(m *model) map[string][]byte { return m.counts },
		func(s *Store, keys []string, fn func(map[string][]byte) map[string][]byte) error {
			_, _, err := s.ChangeCounts(context.Background(), keys, fn)
			return err
		})
}

func stepBackup(*rand.Rand) step {
	return step{"backup", func(s *Store) error {
		_, err := s.Backup(context.Background(), backupOf(s), "v1")
		return err
	}, func(m *model) { m.backup = m.clone() }}
}

func stepRestore(*rand.Rand) step {
	return step{"restore", func(s *Store) error {
		if _, err := os.Stat(backupOf(s)); errors.Is(err, os.ErrNotExist) {
			return nil
		}
		before, err := s.Generation(context.Background())
		if err != nil {
			return err
		}
		if _, _, err = Restore(context.Background(), filepath.Dir(s.Location()), backupOf(s), Options{}); err != nil {
			return err
		}
		return raised(s, before)
	}, func(m *model) {
		if m.backup != nil {
			backup := m.backup
			*m = *backup.clone()
			m.backup = backup
		}
	}}
}

// raised requires that a store has a higher generation than before.
func raised(s *Store, before uint64) error {
	after, err := s.Generation(context.Background())
	if err == nil && after <= before {
		err = fmt.Errorf("generation %d after %d", after, before)
	}
	return err
}

func stepCompact(r *rand.Rand) step {
	u := Used{
		Models: []embed.Model{fixtureModel}, Texts: map[TextHash]bool{}, Knowledge: []string{"7"},
		Analyses: map[tool.Hash]bool{},
	}
	for _, i := range some(r, 6) {
		u.Texts[TextHash{byte(i)}] = true
	}
	for _, i := range some(r, 6) {
		u.Analyses[tool.Hash{byte(i)}] = true
	}
	return step{"compact", func(s *Store) error {
		gen, err := s.Generation(context.Background())
		if err != nil {
			return err
		}
		u.Generation = gen + 1
		if _, err := s.Compact(context.Background(), u); !errors.Is(err, ErrChanged) {
			return fmt.Errorf("compacted for another generation: %w", err)
		}
		u.Generation = gen
		_, err = s.Compact(context.Background(), u)
		return err
	}, func(m *model) {
		maps.DeleteFunc(m.vectors, func(h TextHash, _ Vector) bool { return !u.Texts[h] })
		maps.DeleteFunc(m.analyses, func(h tool.Hash, _ []byte) bool { return !u.Analyses[h] })
	}}
}

func stepRecover(*rand.Rand) step {
	return step{"recover", func(s *Store) error {
		before, err := s.Generation(context.Background())
		if err != nil {
			return err
		}
		out, err := Recover(context.Background(), filepath.Dir(s.Location()), Options{})
		if err == nil && (len(out.Damaged) > 0 || out.Err != nil) {
			return fmt.Errorf("a sound file is said to be damaged: %+v", out)
		}
		return errors.Join(err, raised(s, before))
	}, func(m *model) {
		clear(m.vectors)
		clear(m.analyses)
	}}
}

func stepRefused(r *rand.Rand) step {
	b := &Batch{Base: 1 << 60, Records: records(0, 3), Overlays: map[string][]byte{"x": nil}}
	want := error(ErrChanged)
	if r.IntN(2) == 0 {
		b.Base, b.Overlays, want = 0, map[string][]byte{"": nil}, nil
	}
	return step{"refused write", func(s *Store) error {
		_, err := s.Write(context.Background(), b)
		if err == nil || want != nil && !errors.Is(err, want) {
			return fmt.Errorf("it was written, or refused for another reason: %w", err)
		}
		return nil
	}, func(*model) {}}
}

// life is a part of a run: the steps from one number to another, which one process makes.
type life struct{ seed, from, to uint64 }

// makeSteps is a life as another process: it prints a line for each step that is done.
func makeSteps(dir string, _ int) error {
	var l life
	if _, err := fmt.Sscan(os.Getenv(envLife), &l.seed, &l.from, &l.to); err != nil {
		return err
	}
	s, err := Open(dir, Options{})
	for n := l.from; err == nil && n < l.to; n++ {
		if err = stepOf(l.seed, int(n)).do(s); err == nil {
			fmt.Println(n)
		}
	}
	return err
}

// envLife tells the other process its life.
const envLife = "TOOLDEX_STORE_LIFE"

// TestModel makes random changes to a store and to a model of it in memory, in this process and in others, which are
// killed or lose power at a random operation. The store must hold what the model holds after each change that was
// acknowledged, and after the death of a process that or what the change at hand makes of it. The seed of a run is in
// its name: go test ./store -run TestModel -seed N -runs 1 repeats it.
func TestModel(t *testing.T) {
	crashes := faultfs.Supported() == nil
	first, runs := *modelSeed, *modelRuns
	if first == 0 {
		first = rand.Uint64() >> 32
	}
	if testing.Short() {
		runs = (runs + 9) / 10
	}
	t.Logf("%d runs, the first has seed %d", runs, first)
	for seed := first; seed < first+uint64(runs); seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			runModel(t, seed, crashes)
		})
	}
}

// runModel is one run of 24 steps or a few more.
func runModel(t *testing.T, seed uint64, crashes bool) {
	dir, m := folder(t), newModel()
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(seed, 1<<63))
	for n := uint64(0); n < 24; {
		if crashes && r.IntN(12) == 0 {
			l := life{seed, n, n + 1 + r.Uint64N(4)}
			m = l.crash(t, dir, m, r)
			n = l.to
		} else {
			one := stepOf(seed, int(n))
			if err := one.do(s); err != nil {
				t.Fatalf("step %d, %s: %v", n, one.name, err)
			}
			one.model(m)
			n++
		}
		if r.IntN(4) == 0 {
			if s, err = Open(dir, Options{}); err != nil {
				t.Fatalf("before step %d: %v", n, err)
			}
		}
		if r.IntN(3) == 0 || n >= 24 {
			if d := compare(t, s, m); d != "" {
				t.Fatalf("before step %d (-want +got)\n%s", n, d)
			}
		}
	}
	if err := s.Check(context.Background()); err != nil {
		t.Error(err)
	}
}

// crash has another process make the steps of a life, spoils one of its operations, and returns the model of what is
// there then.
func (l life) crash(t *testing.T, dir string, m *model, r *rand.Rand) *model {
	t.Helper()
	faults := []faultfs.Fault{faultfs.Kill, faultfs.Tear, faultfs.Power, faultfs.PowerPart}
	p := faultfs.Plan{Dir: dir, N: 1 + r.IntN(80), Fault: faults[r.IntN(len(faults))], Seed: l.seed}
	cmd := child(t, "steps", dir, 0)
	cmd.Env = append(cmd.Env, "GOMAXPROCS=1", "GOGC=off", fmt.Sprintf("%s=%d %d %d", envLife, l.seed, l.from, l.to))
	out, err := faultfs.Run(cmd, p)
	if err != nil {
		t.Fatal(err)
	}
	done := l.from + uint64(strings.Count(string(out.Stdout), "\n"))
	at := fmt.Sprintf("%s before operation %d, %s, after steps %d to %d", p.Fault, p.N, out.Op(p), l.from, done)
	if !out.Killed && (out.Code != 0 || done != l.to) {
		t.Fatalf("%s: it failed: %s", at, out.Stderr)
	}
	for n := l.from; n < done; n++ {
		stepOf(l.seed, int(n)).model(m)
	}
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatalf("%s: %v", at, err)
	}
	missing := compare(t, s, m)
	if done < l.to && missing != "" {
		next := m.clone()
		stepOf(l.seed, int(done)).model(next)
		if compare(t, s, next) == "" {
			m, missing = next, ""
		}
	}
	if missing != "" {
		t.Fatalf("%s, neither these nor one more are there (-want +got)\n%s", at, missing)
	}
	// Which backup is there is not known: it may be the one before.
	if err := errors.Join(s.Check(context.Background()), removeFile(backupOf(s))); err != nil {
		t.Fatalf("%s: %v", at, err)
	}
	m.backup = nil
	return m
}

// compare returns how what a store holds differs from the model, "" if it does not.
func compare(t *testing.T, s *Store, m *model) string {
	t.Helper()
	got, want := readEverything(t, s), m.everything()
	for name, p := range got.Preferences {
		got.Preferences[name] = Preference{Value: p.Value}
	}
	if reflect.DeepEqual(got, want) {
		return ""
	}
	return diff(want, got)
}
