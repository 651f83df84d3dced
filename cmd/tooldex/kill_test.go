package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"tooldex/internal/faultfs"
	"tooldex/store"
)

// kills is how often the command is killed by TestKilled, and an eighth as often its disk is spoiled.
var kills = flag.Int("kills", 200, "how often TestKilled kills the command")

// killedVerb is a command that changes what is stored, over a folder of its own that is made once.
type killedVerb struct {
	args    func(dir string) []string
	ready   string            // the folder before it
	before  map[string]string // what is stored there
	next    map[string]string // and what is after it
	ops     int               // operations on files that it makes
	took    time.Duration     // that it takes without a trace
	steps   bool              // it stores each source by itself
	damaged bool              // what is there before cannot be read
	once    bool              // it refuses to be run again
	beside  func(t *testing.T, dir string)
}

// TestKilled kills the built command at random moments and at random operations on files, and spoils such operations:
// what it acknowledged is stored, the rest is wholly absent, everything is sound, and the same command can be run
// again.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("kills the command many times")
	}
	traced := faultfs.Supported()
	verbs := killedVerbs(t)
	names := slices.Sorted(maps.Keys(verbs))
	for _, name := range names {
		verbs[name].measure(t, name, traced)
	}
	const workers = 4
	killed, spoiled := make([]int, workers), make([]int, workers)
	t.Run("each", func(t *testing.T) {
		for w := range workers {
			t.Run(fmt.Sprint(w), func(t *testing.T) {
				t.Parallel()
				seed := rand.Uint64()
				random := rand.New(rand.NewPCG(seed, 0))
				for n := 0; killed[w] < (*kills+workers-1)/workers && !t.Failed(); n++ {
					name := names[random.IntN(len(names))]
					v := verbs[name]
					dir := copyOf(t, v.ready)
					at, acknowledged, wasKilled := "", false, false
					if traced != nil || n%4 > 0 {
						at, acknowledged, wasKilled = v.killSometime(t, dir, random)
					} else {
						fault := []faultfs.Fault{
							faultfs.Kill, faultfs.Tear, faultfs.Fail,
							faultfs.Short,
						}[random.IntN(4)]
						at, acknowledged, wasKilled = v.spoil(t, dir, fault, random)
						if !wasKilled {
							spoiled[w]++
						}
					}
					if wasKilled {
						killed[w]++
					}
					v.check(t, dir, fmt.Sprintf("seed %d, round %d, %s %s", seed, n, name, at), acknowledged)
					if n%6 == 0 && !acknowledged && !t.Failed() {
						v.goOn(t, dir, n%24 == 0)
					}
					if err := os.RemoveAll(dir); err != nil {
						t.Error(err)
					}
				}
			})
		}
	})
	all := func(list []int) (sum int) {
		for _, n := range list {
			sum += n
		}
		return sum
	}
	t.Logf("killed %d times, spoiled %d times", all(killed), all(spoiled))
}

// command is the built command on a folder, quiet about everything but errors.
func (v *killedVerb) command(t *testing.T, dir string) *exec.Cmd {
	cmd := exec.Command(builtCommand(t), v.args(dir)...)
	cmd.Env = append(os.Environ(), "TOOLDEX_DATA_DIR="+filepath.Join(dir, "data"))
	return cmd
}

// measure runs the command undisturbed.
func (v *killedVerb) measure(t *testing.T, name string, traced error) {
	t.Helper()
	var err error
	if v.before, err = stored(copyOf(t, v.ready)); (err != nil) != v.damaged {
		t.Fatalf("%s: %v", name, err)
	}
	dir, start := copyOf(t, v.ready), time.Now()
	if out, err := v.command(t, dir).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	v.took = time.Since(start)
	if v.next, err = stored(dir); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if traced == nil {
		dir := copyOf(t, v.ready)
		out, err := faultfs.Run(v.command(t, dir), faultfs.Plan{Dir: dir})
		if err != nil || len(out.Ops) < 8 {
			t.Fatalf("%s: %d operations, %v", name, len(out.Ops), err)
		}
		v.ops = len(out.Ops)
		t.Logf("%s: %v, %d operations", name, v.took, v.ops)
	}
}

// acknowledgement is a line that says what was stored of one source.
var acknowledgement = regexp.MustCompile(`(?m)^(kind\d\d): `)

// killSometime kills the command after a random time.
func (v *killedVerb) killSometime(t *testing.T, dir string, random *rand.Rand) (at string, acknowledged, killed bool) {
	cmd := v.command(t, dir)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return "", false, false
	}
	after := time.Duration(random.Int64N(int64(v.took) + 1))
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	timer.Stop()
	var exit *exec.ExitError
	killed = errors.As(err, &exit) && !exit.Exited()
	v.acknowledged(t, dir, out.String())
	return fmt.Sprintf("killed after %v", after), err == nil, killed
}

// spoil has one operation on files fail, or be the last.
func (v *killedVerb) spoil(t *testing.T, dir string, fault faultfs.Fault, random *rand.Rand) (at string, acknowledged,
	killed bool,
) {
	p := faultfs.Plan{Dir: dir, N: 1 + random.IntN(v.ops), Fault: fault}
	if random.IntN(2) == 0 {
		p.Errno = syscall.EIO
	}
	out, err := faultfs.Run(v.command(t, dir), p)
	if err != nil {
		t.Error(err)
		return "", false, false
	}
	at = fmt.Sprintf("%s at operation %d, %s", fault, p.N, out.Op(p))
	if bytes.Contains(out.Stderr, []byte("panic:")) || bytes.Contains(out.Stderr, []byte("goroutine ")) {
		t.Errorf("%s: %s", at, out.Stderr)
	}
	v.acknowledged(t, dir, string(out.Stdout))
	return at, out.Code == 0 && !out.Killed, out.Killed
}

// acknowledged wants the sources stored that the command told of.
func (v *killedVerb) acknowledged(t *testing.T, dir, out string) {
	t.Helper()
	for _, m := range acknowledgement.FindAllStringSubmatch(out, -1) {
		now, err := stored(copyOf(t, dir))
		if err != nil {
			t.Error(err)
			return
		}
		if !maps.Equal(of(m[1], now), of(m[1], v.next)) {
			t.Errorf("%s was acknowledged and is not stored", m[1])
		}
	}
}

// of picks what is stored of one source.
func of(source string, all map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range all {
		if strings.HasPrefix(k, "tool "+source+"/") || k == "source "+source {
			out[k] = v
		}
	}
	return out
}

// check wants the state before, or after, or between two steps.
func (v *killedVerb) check(t *testing.T, dir, at string, acknowledged bool) {
	t.Helper()
	if v.damaged {
		was, now := fileIn(t, v.ready), fileIn(t, dir)
		if bytes.Equal(was, now) && !acknowledged {
			return
		}
	}
	now, err := stored(dir)
	if err != nil {
		t.Errorf("%s: %v", at, err)
		return
	}
	if v.beside != nil {
		v.beside(t, dir)
	}
	if strays, _ := filepath.Glob(filepath.Join(dir, "data", ".*")); len(strays) > 2 {
		t.Errorf("%s: left %v", at, strays)
	}
	switch {
	case maps.Equal(now, v.next):
	case acknowledged:
		t.Errorf("%s: it was acknowledged, and is not stored:\n%s", at, changedKeys(v.next, now))
	case maps.Equal(now, v.before):
	case v.steps:
		for _, source := range sourcesOf(v.next, v.before) {
			if part := of(source, now); !maps.Equal(part, of(source, v.next)) &&
				!maps.Equal(part, of(source, v.before)) {
				t.Errorf("%s: %s is neither what it was nor what it should be:\n%s", at, source,
					changedKeys(of(source, v.next), part))
			}
		}
	default:
		t.Errorf("%s: there is neither the old state nor the new one:\n%s", at, changedKeys(v.next, now))
	}
}

// goOn runs the command again, which must do what it was to do.
func (v *killedVerb) goOn(t *testing.T, dir string, examine bool) {
	t.Helper()
	if v.once {
		return
	}
	out, err := v.command(t, dir).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != exitNone) { // it may have been done already, so that nothing is found
		t.Errorf("again: %v\n%s", err, out)
	}
	if now, err := stored(dir); err != nil || !maps.Equal(now, v.next) {
		t.Errorf("again: %v\n%s", err, changedKeys(v.next, now))
	}
	if examine {
		runCommand(t, filepath.Join(dir, "data"), "index", "verify")
		runCommand(t, filepath.Join(dir, "data"), "doctor", "--no-servers")
	}
}

func sourcesOf(states ...map[string]string) []string {
	found := map[string]bool{}
	for _, s := range states {
		for k := range s {
			if name, ok := strings.CutPrefix(k, "source "); ok {
				found[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// stored reads all that is stored under a folder, but for numbers, times, and what can be made again. It must be sound.
func stored(dir string) (map[string]string, error) {
	s, err := store.Open(filepath.Join(dir, "data"), store.Options{})
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	if err := s.Check(ctx); err != nil {
		return nil, err
	}
	snap, err := s.Load(ctx, store.View{})
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, r := range snap.Records {
		out["tool "+string(r.Tool.ID())] = fmt.Sprint(r.Source, r.Hash)
	}
	for _, v := range snap.Servers {
		out["server "+v.Name] = fmt.Sprintf("%+v", v)
	}
	for name, v := range snap.Sources {
		out["source "+name] = fmt.Sprint(v.Stale)
	}
	for name, v := range snap.Overlays {
		out["overlay "+name] = string(v)
	}
	preferred, _, err := s.Preferences(ctx, 0)
	learned, _, err2 := s.Learned(ctx, 0)
	counted, _, err3 := s.Counts(ctx, 0)
	for k, v := range preferred {
		out["preferences "+k] = string(v.Value)
	}
	for k, v := range learned {
		if k != "f" { // what was forgotten, by its time
			out["learned "+k] = fmt.Sprint(len(v))
		}
	}
	for k, v := range counted {
		out["counts "+k] = string(v)
	}
	return out, errors.Join(err, err2, err3)
}

func changedKeys(want, got map[string]string) string {
	var b strings.Builder
	keys := slices.Sorted(maps.Keys(want))
	for k := range got {
		if _, ok := want[k]; !ok {
			keys = append(keys, k)
		}
	}
	for _, k := range keys {
		if want[k] != got[k] {
			fmt.Fprintf(&b, "%s\n - %.200q\n + %.200q\n", k, want[k], got[k])
		}
	}
	return b.String()
}

func fileIn(t *testing.T, dir string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "data", store.FileName))
	if err != nil {
		t.Error(err)
	}
	return b
}

func copyOf(t *testing.T, dir string) string {
	t.Helper()
	to := realTempDir(t)
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// realTempDir is a temporary folder by the name that the system knows it by.
func realTempDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
