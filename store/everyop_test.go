package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"tooldex/embed"
	"tooldex/internal/faultfs"
	"tooldex/tool"
)

// change is one of all the ways in which something durable comes to be, as another process makes it.
type change struct {
	before func(t *testing.T, dir string) // puts there what is changed
	do     func(dir string) error
	least  int // of operations on files
	// beside looks at what else must hold afterwards; nil if nothing does
	beside func(t *testing.T, dir string, done bool)
}

// changes lists them all.
func changes() map[string]change {
	some := func(t *testing.T, dir string) {
		s, err := Open(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		writeFixture(t, s)
	}
	with := func(fn func(ctx context.Context, s *Store) error) func(dir string) error {
		return func(dir string) error {
			s, err := Open(dir, Options{})
			if err != nil {
				return err
			}
			return fn(context.Background(), s)
		}
	}
	put := func(key, value string) func(map[string][]byte) map[string][]byte {
		return func(map[string][]byte) map[string][]byte { return map[string][]byte{key: []byte(value)} }
	}
	return map[string]change{
		"make": {func(*testing.T, string) {}, with(func(context.Context, *Store) error { return nil }), 8, nil},
		"batch": {some, with(func(ctx context.Context, s *Store) error {
			_, err := s.Write(ctx, &Batch{
				Records: records(3, 40), Remove: []tool.ID{record(0).Tool.ID()}, RemoveServers: []string{"far"},
				Overlays: map[string][]byte{"mine": []byte("x")},
				Model:    fixtureModel, Vectors: map[TextHash]Vector{{1}: Quantize(make([]float32, 4))}, Knowledge: "7",
				Analyses:    map[tool.Hash][]byte{{1}: []byte("x")},
				DropVectors: []TextHash{HashText("text")}, DropAnalyses: []tool.Hash{{9}},
			})
			return err
		}), 8, nil},
		"preferences": {some, with(func(ctx context.Context, s *Store) error {
			_, err := s.SetPreferences(ctx, "", 1, []byte(`{"hide":["b"]}`))
			return err
		}), 8, nil},
		"learned": {some, with(func(ctx context.Context, s *Store) error {
			_, _, err := s.ChangeLearned(ctx, []string{"use/1"}, put("use/1", "more"))
			return err
		}), 8, nil},
		"counts": {some, with(func(ctx context.Context, s *Store) error {
			_, _, err := s.ChangeCounts(ctx, []string{"m/1"}, put("m/2", "more"))
			return err
		}), 8, nil},
		"recover": {func(t *testing.T, dir string) { some(t, dir); spoil(t, dir) }, func(dir string) error {
			_, err := Recover(context.Background(), dir, Options{})
			return err
		}, 12, func(t *testing.T, dir string, done bool) {
			if kept, _ := filepath.Glob(filepath.Join(dir, "*.damaged-*")); done && len(kept) != 1 {
				t.Errorf("the damaged file is not kept: %v", kept)
			}
		}},
		"recover without the tree": {func(t *testing.T, dir string) {
			some(t, dir)
			b := image(t, dir)
			clear(b[:2*os.Getpagesize()])
			lay(t, dir, b)
		}, func(dir string) error {
			_, err := Recover(context.Background(), dir, Options{})
			return err
		}, 12, nil},
		"backup": {some, with(func(ctx context.Context, s *Store) error {
			_, err := s.Backup(ctx, filepath.Join(filepath.Dir(s.Location()), "backup.zip"), "v1")
			return err
		}), 12, func(t *testing.T, dir string, done bool) {
			file := filepath.Join(dir, "backup.zip")
			if _, err := os.Stat(file); err != nil && !done {
				return
			}
			if m, err := VerifyBackup(context.Background(), file); err != nil || m.Tools != 5 || m.Servers != 2 {
				t.Errorf("%+v, %v", m, err)
			}
		}},
		"restore": {func(t *testing.T, dir string) {
			s := open(t, dir)
			writeFixture(t, s)
			if _, err := s.Backup(context.Background(), filepath.Join(dir, "backup.zip"), "v1"); err != nil {
				t.Fatal(err)
			}
			write(t, s, &Batch{Records: records(10, 12), RemoveServers: []string{"far"}})
		}, func(dir string) error {
			_, _, err := Restore(context.Background(), dir, filepath.Join(dir, "backup.zip"), Options{})
			return err
		}, 12, func(t *testing.T, dir string, done bool) {
			if kept, _ := filepath.Glob(filepath.Join(dir, "*.before-restore-*")); done && len(kept) != 1 {
				t.Errorf("the file that was there is not kept: %v", kept)
			}
		}},
		"copy": {some, with(func(ctx context.Context, s *Store) error {
			return s.Fill(ctx, true, func(put func(Entry) error) error {
				r := record(10)
				return put(Entry{Kind: KindTool, Key: []byte(r.Tool.ID()), Value: EncodeRecord(&r)})
			})
		}), 12, func(t *testing.T, dir string, done bool) {
			if kept, _ := filepath.Glob(filepath.Join(dir, "*.before-copy-*")); done && len(kept) != 1 {
				t.Errorf("the file that was there is not kept: %v", kept)
			}
		}},
		"compact": {func(t *testing.T, dir string) {
			s := open(t, dir)
			write(t, s, &Batch{Records: records(100, 160)})
			var gone []tool.ID
			for _, r := range records(100, 160) {
				gone = append(gone, r.Tool.ID())
			}
			write(t, s, &Batch{Remove: gone})
			writeFixture(t, s)
		}, with(func(ctx context.Context, s *Store) error {
			gen, err := s.Generation(ctx)
			if err != nil {
				return err
			}
			_, err = s.Compact(ctx, Used{
				Generation: gen, Models: []embed.Model{fixtureModel}, Texts: map[TextHash]bool{HashText("text"): true},
				Knowledge: []string{"7"}, Analyses: map[tool.Hash]bool{{9}: true},
			})
			return err
		}), 12, nil},
	}
}

// spoil damages a tool's value, wherever a copy of it lies.
func spoil(t *testing.T, dir string) {
	t.Helper()
	lay(t, dir, bytes.ReplaceAll(image(t, dir), []byte("Read file number 4."), []byte("Read file number 5.")))
}

func lay(t *testing.T, dir string, b []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, FileName), b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestEveryOperationOfEveryChange spoils each file operation of each durable change of another process: there is the
// old state or the new one, the new one where the change was acknowledged, and the file is sound.
func TestEveryOperationOfEveryChange(t *testing.T) {
	if err := faultfs.Supported(); err != nil {
		t.Skip(err)
	}
	if testing.Short() {
		t.Skip("runs hundreds of processes")
	}
	for name, c := range changes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ready := folder(t)
			c.before(t, ready)
			old, _ := stateOf(t, ready)
			done := copied(t, ready)
			all := c.run(t, name, faultfs.Plan{Dir: done})
			if all.Code != 0 || all.Killed {
				t.Fatalf("it fails by itself: %s%s", all.Stdout, all.Stderr)
			}
			if len(all.Ops) < c.least {
				t.Errorf("only %d operations: %v", len(all.Ops), all.Ops)
			}
			next, err := stateOf(t, done)
			if err != nil {
				t.Fatal(err)
			}
			for n, op := range append(all.Ops, "") { // with nothing spoiled, power is lost after the end
				for _, fault := range []faultfs.Fault{
					faultfs.Fail, faultfs.Short, faultfs.Tear, faultfs.Power, faultfs.PowerPart,
				} {
					what, _, _ := strings.Cut(op, " ")
					if fault == faultfs.Short && what != "write" || fault == faultfs.Tear &&
						!slices.Contains([]string{"write", "truncate", "rename", "link", "remove"}, what) ||
						fault < faultfs.Power && op == "" {
						continue // a death before one of the others leaves what a death before the next of these does
					}
					p := faultfs.Plan{Dir: copied(t, ready), N: n + 1, Fault: fault, Errno: syscall.ENOSPC, Seed: 1}
					if strings.HasPrefix(op, "sync") || strings.HasPrefix(op, "map") {
						p.Errno = syscall.EIO
					}
					out := c.run(t, name, p)
					at := fmt.Sprintf("%s at operation %d, %s", fault, n+1, out.Op(p))
					acknowledged := !out.Killed && out.Code == 0
					now, err := stateOf(t, p.Dir)
					switch {
					case reflect.DeepEqual(now, next) && err == nil:
					case acknowledged:
						t.Fatalf("%s: it was acknowledged, and is not there: %v (-want +got)\n%s", at, err,
							diff(next, now))
					case !reflect.DeepEqual(now, old):
						t.Fatalf("%s: there is neither the old state nor the new one: %v (-old +got)\n%s", at, err,
							diff(old, now))
					}
					if c.beside != nil {
						c.beside(t, p.Dir, acknowledged)
					}
					if strays, _ := filepath.Glob(filepath.Join(p.Dir, ".*")); len(strays) > 2 || len(strays) > 0 &&
						!out.Killed && fault < faultfs.Power && !strings.HasPrefix(op, "remove") {
						t.Errorf("%s: left %v", at, strays)
					}
					if err := os.RemoveAll(p.Dir); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
}

// run makes the change in another process, under a plan.
func (c change) run(t *testing.T, name string, p faultfs.Plan) *faultfs.Outcome {
	t.Helper()
	cmd := child(t, name, p.Dir, 0)
	cmd.Env = append(cmd.Env, "GOMAXPROCS=1", "GOGC=off") // fewer threads to trace
	out, err := faultfs.Run(cmd, p)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// stateOf reads all there is, and whether it is sound; with nothing that only a running process needs. What is damaged
// stays.
func stateOf(t *testing.T, dir string) (everything, error) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, FileName)); errors.Is(err, os.ErrNotExist) {
		return everything{}, err
	}
	scratch := copied(t, dir) // so that nothing is migrated
	s, err := Open(scratch, Options{})
	if err != nil {
		return everything{}, err
	}
	out := readEverything(t, s)
	return out, errors.Join(s.Check(context.Background()), os.RemoveAll(scratch))
}

func copied(t *testing.T, dir string) string {
	t.Helper()
	to := folder(t)
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

func folder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
