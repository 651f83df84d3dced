package catalog

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"tooldex/internal/flatfile"
	"tooldex/tool"
	"tooldex/trust"
)

// withImage fills a folder with the image of some servers.
func withImage(t testing.TB, dir string, o trust.Options, servers []*fake) {
	t.Helper()
	c := layeredCatalogue(t, dir, o)
	syncAll(t, c, servers)
	if err := c.SaveImage(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// listing opens what is stored in a folder as a program does that only lists.
func listing(t testing.TB, dir string, o trust.Options) *Catalog {
	t.Helper()
	m, err := BuiltinModel()
	if err != nil {
		t.Fatal(err)
	}
	c, err := Open(context.Background(), Options{Store: openStore(t, dir), Model: m, ListOnly: true, Images: true, Trust: o})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// sameReview compares what is to be reviewed. A catalogue with an image does not read the whole store for it.
func sameReview(t *testing.T, want, got *Catalog) {
	t.Helper()
	before := got.st.Load()
	if d := diff(want.Review(), got.Review()); d != "" {
		t.Errorf("what is to be reviewed (-want +got):\n%s", d)
	}
	if before.partial && got.st.Load() != before {
		t.Error("the whole store was read to list what is to be reviewed")
	}
}

// mustBeFew fails unless a catalogue has its index in layers and did not read the whole store.
func mustBeFew(t *testing.T, what string, c *Catalog) {
	t.Helper()
	if st := c.st.Load(); !st.partial || !c.o.Index.Current().IsLayered() {
		t.Fatalf("%s: partial %v, in layers %v", what, st.partial, c.o.Index.Current().IsLayered())
	}
}

// TestSegments makes random changes in a process that has opened an image. After each, that process, one that follows
// it and one that begins have what is stored, and none of them has read the whole store.
func TestSegments(t *testing.T) {
	if testing.Short() {
		t.Skip("compares for long what one process does after another; TestFewTogether has them change together")
	}
	const steps = 12
	kinds, copied := map[bool]bool{}, false // of what is to be reviewed
	for _, o := range []trust.Options{{Policy: trust.Quarantine}, {}} {
		v, dir := invented{rand.New(rand.NewPCG(11, 12))}, t.TempDir()
		w := newChanging(v, 260)
		withImage(t, dir, o, w.servers)
		first, second := layeredCatalogue(t, dir, o), layeredCatalogue(t, dir, o)
		for step := range steps {
			s, changing := w.servers[v.r.IntN(len(w.servers))], first
			switch step % 8 {
			case 5: // the process that followed makes a change
				changing = second
				s.tools = append(s.tools, v.tool(s.name, 300+step))
			case 7: // what was first changed changes again
				s = w.servers[step%3]
				s.tools[0].Description += " It is slow."
			default:
				s = w.change(step%8, step, s)
			}
			mustSync(t, changing, s)
			whole := wholeCatalogue(t, dir, o)
			listed := listing(t, dir, o)
			if !listed.st.Load().partial {
				t.Fatal("a program that lists has read the whole store")
			}
			sameReview(t, whole, listed)
			for _, r := range whole.Review() {
				kinds[r.Held] = true
				for _, f := range r.Suspicions {
					copied = copied || f.Rule == "copy"
				}
			}
			for name, c := range map[string]*Catalog{"first": first, "second": second, "third": layeredCatalogue(t, dir, o)} {
				if changed, err := c.Refresh(context.Background()); err != nil || changed && c == changing {
					t.Fatal(name, changed, err)
				}
				mustBeFew(t, fmt.Sprintf("the %s at step %d", name, step), c)
				sameAnswers(t, whole, c)
				sameReview(t, whole, c)
				if t.Failed() {
					t.Fatalf("the %s at step %d of policy %q", name, step, o.Policy)
				}
			}
		}
		// What else is asked for is read then, and is what the others have.
		if d := diff(wholeCatalogue(t, dir, o).View().Tools(), first.View().Tools()); d != "" {
			t.Errorf("after reading the store (-want +got):\n%s", d)
		}
		if d := diff(wholeCatalogue(t, dir, o).Review(), second.Review()); d != "" {
			t.Errorf("what is to be reviewed (-want +got):\n%s", d)
		}
		for _, c := range []*Catalog{first, second} {
			if _, err := c.Remove(context.Background(), w.servers[3].name); err != nil && c == first {
				t.Fatal(err)
			}
			sameAnswers(t, wholeCatalogue(t, dir, o), c)
		}
	}
	if !kinds[true] || !kinds[false] || !copied {
		t.Error("to be reviewed were not held tools, suspicious ones and copies:", kinds, copied)
	}
}

// TestSegmentSpoiled damages the segment in many ways: each time the catalogue is what is stored, and the file is made
// again.
func TestSegmentSpoiled(t *testing.T) {
	v, dir := invented{rand.New(rand.NewPCG(13, 14))}, t.TempDir()
	servers := v.servers(30)
	withImage(t, dir, trust.Options{}, servers)
	c := layeredCatalogue(t, dir, trust.Options{})
	change := func(n int) {
		servers[n].tools = append(servers[n].tools, v.tool(servers[n].name, 100+n))
		mustSync(t, c, servers[n])
	}
	change(1)
	path := segments(t, dir)[0]
	read := func(path string) []byte {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	older := read(path)
	change(2)
	whole, image := read(path), read(images(t, dir)[0])
	spoil := map[string][]byte{
		"empty": {}, "cut": whole[:len(whole)/2], "head only": whole[:100], "of another program": []byte("no flat file"),
		"of an older state": older, "an image": image,
	}
	for i := 0; i < len(whole); i += 1 + len(whole)/30 {
		b := slices.Clone(whole)
		b[i] ^= 0xff
		spoil[fmt.Sprintf("byte %d", i)] = b
	}
	want := wholeCatalogue(t, dir, trust.Options{})
	for name, b := range spoil {
		// The image was made again, too, in place of the segment.
		if err := errors.Join(os.WriteFile(path, b, 0o600), os.WriteFile(images(t, dir)[0], image, 0o600)); err != nil {
			t.Fatal(err)
		}
		got := layeredCatalogue(t, dir, trust.Options{})
		sameAnswers(t, want, got)
		if got.st.Load().partial && !strings.HasPrefix(name, "byte") { // some bytes only fill
			t.Errorf("%s: it was used", name)
		}
		if err := got.SaveImage(context.Background()); err != nil {
			t.Fatal(err)
		}
		if again := layeredCatalogue(t, dir, trust.Options{}); !again.st.Load().partial {
			t.Errorf("%s: neither the segment nor the image was made again", name)
		}
	}
}

// TestSegmentOfOtherImage puts another image below a segment, and another segment beside an image: neither is used.
func TestSegmentOfOtherImage(t *testing.T) {
	v := invented{rand.New(rand.NewPCG(15, 16))}
	dir, other := t.TempDir(), t.TempDir()
	servers := v.servers(30)
	for _, d := range []string{dir, other} {
		withImage(t, d, trust.Options{}, servers)
	}
	c := layeredCatalogue(t, dir, trust.Options{})
	servers[0].tools = servers[0].tools[1:]
	mustSync(t, c, servers[0])
	want := wholeCatalogue(t, dir, trust.Options{})
	move := func(from, to string) {
		b, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(to, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	move(images(t, other)[0], images(t, dir)[0])
	got := layeredCatalogue(t, dir, trust.Options{})
	if got.st.Load().partial {
		t.Error("the segment of another image was used")
	}
	sameAnswers(t, want, got)
	path := layeredCatalogue(t, other, trust.Options{}).imageKey(1, [16]byte{}).segmentPath(other)
	move(segments(t, dir)[0], path)
	if got := layeredCatalogue(t, other, trust.Options{}); got.o.Index.Current().IsLayered() || got.Set().Len() != want.Set().Len()+1 {
		t.Errorf("a segment of another store was used: %d tools", got.Set().Len())
	}
}

// TestSegmentOfOtherVersion opens a segment that another version wrote: nothing is made of it.
func TestSegmentOfOtherVersion(t *testing.T) {
	v, dir := invented{rand.New(rand.NewPCG(17, 18))}, t.TempDir()
	servers := v.servers(30)
	withImage(t, dir, trust.Options{}, servers)
	c := layeredCatalogue(t, dir, trust.Options{})
	mustSync(t, c, &fake{name: "new", tools: []*tool.Tool{aTool("new", "tide", "Tells the tide at a harbour.")}})
	path := segments(t, dir)[0]
	key, err := flatfile.ReadKey(path)
	if err != nil {
		t.Fatal(err)
	}
	sections, err := flatfile.Open(path, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	for name, key := range map[string]string{
		"layout": strings.ReplaceAll(string(key), fmt.Sprintf(`"Layout":%d`, imageLayout), fmt.Sprintf(`"Layout":%d`, imageLayout+1)),
		"view":   strings.ReplaceAll(string(key), `"View":"`, `"View":"other `),
	} {
		if err := flatfile.Write(path, []byte(key), flatfile.Parts(sections...)); err != nil {
			t.Fatal(err)
		}
		got := layeredCatalogue(t, dir, trust.Options{})
		if got.st.Load().partial {
			t.Errorf("a segment of another %s was used", name)
		}
		sameAnswers(t, wholeCatalogue(t, dir, trust.Options{}), got)
	}
}

// TestFewOfMixedSource changes a source that has tools of several servers: those of the other servers are not
// forgotten.
func TestFewOfMixedSource(t *testing.T) {
	v, dir := invented{rand.New(rand.NewPCG(19, 20))}, t.TempDir()
	servers := v.servers(30)
	bundle := &fake{name: "bundle", tools: []*tool.Tool{
		aTool("bundle", "x", "Tells the tide at a harbour."), aTool("elsewhere", "y", "Tells the wind at a harbour."),
	}}
	withImage(t, dir, trust.Options{}, append(servers, bundle))
	c := layeredCatalogue(t, dir, trust.Options{})
	bundle.tools = bundle.tools[:1]
	if r := mustSync(t, c, bundle)[0]; len(r.Removed) != 1 {
		t.Errorf("removed %v, want the tool of the other server", r.Removed)
	}
	sameAnswers(t, wholeCatalogue(t, dir, trust.Options{}), c)
	c = layeredCatalogue(t, dir, trust.Options{})
	servers[0].tools = servers[0].tools[1:]
	mustSync(t, c, servers[0])
	sameAnswers(t, wholeCatalogue(t, dir, trust.Options{}), c)
}

// TestFewKeepLittle makes many changes of a few servers: afterwards the process has no more in memory than one that has
// just opened the same catalogue and made one change.
func TestFewKeepLittle(t *testing.T) {
	if testing.Short() {
		t.Skip("makes many changes, one after another")
	}
	v, dir := invented{rand.New(rand.NewPCG(25, 26))}, t.TempDir()
	servers := v.servers(200)
	withImage(t, dir, trust.Options{}, servers)
	heap := func() float64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	change := func(c *Catalog, n int) {
		s := servers[n%2] // too few for another image
		s.tools[0].Description = fmt.Sprintf("Tells the tide at harbour number %d, with the wind and the waves.", n)
		mustSync(t, c, s)
		if n%10 == 0 {
			if err := c.SaveImage(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
	}
	used := func(changes int) float64 {
		before := heap()
		c := layeredCatalogue(t, dir, trust.Options{})
		for n := range changes {
			change(c, n)
		}
		after := heap() - before
		mustBeFew(t, "in the end", c)
		return after
	}
	used(4) // what is made once in a process
	few := used(4)
	if many := used(60); many > 1.2*few {
		t.Errorf("%.1f MB after 60 changes, %.1f MB after 4", many/1e6, few/1e6)
	} else {
		t.Logf("%.1f MB after 60 changes, %.1f MB after 4", many/1e6, few/1e6)
	}
}
