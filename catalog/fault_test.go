package catalog

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tooldex/index"
	"tooldex/internal/faultfs"
	"tooldex/store"
	"tooldex/tool"
	"tooldex/trust"
)

// The tests of this file run the test binary again as another process; these say what it does there.
const (
	envRole = "TOOLDEX_CATALOG_ROLE"
	envDir  = "TOOLDEX_CATALOG_DIR"
)

func TestMain(m *testing.M) {
	roles := map[string]func(ctx context.Context, c *Catalog) error{
		"change": func(ctx context.Context, c *Catalog) error {
			_, err := c.Sync(ctx, &fake{name: "new", tools: []*tool.Tool{aTool("new", "tide", "Tells the tide at a harbour.")}})
			return err
		},
		"merge": func(ctx context.Context, c *Catalog) error { return c.SaveImage(ctx) },
	}
	role, ok := roles[os.Getenv(envRole)]
	if !ok {
		os.Exit(m.Run())
	}
	c, err := openLayered(os.Getenv(envDir))
	if err == nil {
		err = role(context.Background(), c)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// openLayered opens a catalogue that lays changes over the index, however few tools it has.
func openLayered(dir string) (*Catalog, error) {
	m, err := BuiltinModel()
	if err != nil {
		return nil, err
	}
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		return nil, err
	}
	to := &index.Index{}
	return Open(context.Background(), Options{
		Store: s, Model: m, Index: to, Images: true, indexer: &searchable{m: m, to: to, layerFrom: 1},
	})
}

// TestEveryOperationOnImages spoils each operation on the files of images and segments, of a process that changes a
// server and of one that merges: what is opened then has what is stored, and the next process writes what is missing.
func TestEveryOperationOnImages(t *testing.T) {
	if err := faultfs.Supported(); err != nil {
		t.Skip(err)
	}
	if testing.Short() {
		t.Skip("runs a hundred processes")
	}
	v, ready := invented{rand.New(rand.NewPCG(21, 22))}, realFolder(t)
	servers := v.servers(24)
	withImage(t, ready, trust.Options{}, servers)
	c := layeredCatalogue(t, ready, trust.Options{})
	servers[0].tools = append(servers[0].tools[1:6:6], v.tool(servers[0].name, 100)) // more than a part in mergedShare
	mustSync(t, c, servers[0])
	mustBeFew(t, "before", layeredCatalogue(t, ready, trust.Options{}))
	for _, role := range []string{"change", "merge"} {
		done := copyFolder(t, ready)
		all := runRole(t, role, faultfs.Plan{Dir: done})
		if all.Code != 0 || all.Killed {
			t.Fatalf("%s fails by itself: %s%s", role, all.Stdout, all.Stderr)
		}
		want := wholeCatalogue(t, done, trust.Options{})
		spoiled, writes := 0, 0
		stored := -1 // the last operation that changes the store, whose own tests spoil these
		for n, op := range all.Ops {
			if what, file, _ := strings.Cut(op, " "); what != "map" && strings.Contains(file, store.FileName) {
				stored = n
			}
		}
		for n, op := range all.Ops {
			what, file, _ := strings.Cut(op, " ")
			if n <= stored || !strings.Contains(file, imagePrefix) && what != "fsync" {
				continue
			}
			if what == "write" {
				if writes++; writes%16 != 1 { // two for each section
					continue
				}
			}
			for _, fault := range []faultfs.Fault{faultfs.Fail, faultfs.Tear, faultfs.Power} {
				if fault == faultfs.Tear && what != "write" && what != "rename" {
					continue
				}
				spoiled++
				p := faultfs.Plan{Dir: copyFolder(t, ready), N: n + 1, Fault: fault, Errno: syscall.ENOSPC, Seed: 1}
				out := runRole(t, role, p)
				at := fmt.Sprintf("%s: %s at operation %d, %s", role, fault, n+1, out.Op(p))
				if role == "change" && !out.Killed && out.Code != 0 {
					t.Errorf("%s: the change failed: %s", at, out.Stderr)
				}
				got := layeredCatalogue(t, p.Dir, trust.Options{})
				sameAnswers(t, want, got)
				if err := got.SaveImage(context.Background()); err != nil {
					t.Errorf("%s: %v", at, err)
				}
				next := layeredCatalogue(t, p.Dir, trust.Options{})
				if !next.st.Load().partial {
					t.Errorf("%s: what is missing was not written", at)
				}
				sameAnswers(t, want, next)
				if t.Failed() {
					t.Fatal(at)
				}
			}
		}
		t.Logf("%s: %d operations on images were spoiled", role, spoiled)
		if spoiled < 10 {
			t.Errorf("%s: only %d operations were spoiled: %v", role, spoiled, all.Ops)
		}
	}
}

// runRole runs another process under a plan.
func runRole(t *testing.T, role string, p faultfs.Plan) *faultfs.Outcome {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), envRole+"="+role, envDir+"="+p.Dir, "GOMAXPROCS=1", "GOGC=off") // fewer threads to trace
	out, err := faultfs.Run(cmd, p)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func realFolder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func copyFolder(t *testing.T, dir string) string {
	t.Helper()
	to := realFolder(t)
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// TestFewTogether has several processes change servers, follow each other, and merge at once: none loses a change, and
// each has what is stored in the end.
func TestFewTogether(t *testing.T) {
	v, dir := invented{rand.New(rand.NewPCG(23, 24))}, t.TempDir()
	servers := v.servers(60)
	withImage(t, dir, trust.Options{}, servers)
	const processes, rounds = 3, 5
	done, all := make(chan error, processes), make([]*Catalog, processes)
	for p := range processes {
		all[p] = layeredCatalogue(t, dir, trust.Options{})
		own := servers[p]
		add := make([]*tool.Tool, rounds)
		for k := range add {
			add[k] = v.tool(own.name, 100*(p+1)+k)
		}
		go func() {
			for k := range rounds {
				own.tools = append(own.tools, add[k])
				_, synced := all[p].Sync(context.Background(), own)
				_, refreshed := all[p].Refresh(context.Background())
				saved := all[p].SaveImage(context.Background())
				if synced != nil || refreshed != nil || saved != nil {
					done <- fmt.Errorf("process %d: sync %w, refresh %w, save %w", p, synced, refreshed, saved)
					return
				}
			}
			done <- nil
		}()
	}
	for range processes {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	want := wholeCatalogue(t, dir, trust.Options{})
	for _, c := range append(all, layeredCatalogue(t, dir, trust.Options{})) {
		if _, err := c.Refresh(context.Background()); err != nil {
			t.Fatal(err)
		}
		sameAnswers(t, want, c)
	}
	for p := range processes {
		for k := range rounds {
			if id := servers[p].tools[len(servers[p].tools)-rounds+k].ID(); !hasTool(want, id) {
				t.Errorf("%s is lost", id)
			}
		}
	}
}

func hasTool(c *Catalog, id tool.ID) bool { _, ok := c.Set().Get(id); return ok }
