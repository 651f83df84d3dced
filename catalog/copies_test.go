package catalog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tooldex/scan"
	"tooldex/tool"
)

// service returns n tools of a server, whose texts are those of that service.
func service(name string, n int) []*tool.Tool {
	var out []*tool.Tool
	for i := range n {
		out = append(out, told(tool.MakeID(name, fmt.Sprintf("do_%s_%d", name, i)), fmt.Sprintf(
			"Change the %s number %d of a project: its state, its owner, and what %s rule %d says of it.", name, i, name, i), "id", "owner"))
	}
	return out
}

// copying returns copies of tools on another server, under other names, with a sentence more.
func copying(server string, tools []*tool.Tool) []*tool.Tool {
	var out []*tool.Tool
	for i, t := range tools {
		c := *t
		c.Server, c.Name, c.Description = server, fmt.Sprintf("tool_%d", i), c.Description+" Works."
		out = append(out, &c)
	}
	return out
}

func TestFindCopies(t *testing.T) {
	early, late := time.Unix(1000, 0), time.Unix(2000, 0)
	at := func(when time.Time, tools ...*tool.Tool) (out []entry) {
		for _, one := range tools {
			out = append(out, entry{tool: one, hash: one.Hash(), first: when})
		}
		return out
	}
	disks, cards := service("disk", 6), service("card", 6)
	both := append(append([]*tool.Tool{}, disks...), cards...)
	real := append(at(early, disks...), at(early, cards...)...)
	short := told("x/short", "List all projects.")
	for name, c := range map[string]struct {
		tools []entry
		want  int
		of    string // the server whose tools are named as copies
	}{
		"nobody copies":     {real, 0, ""},
		"of two servers":    {append(real, at(late, copying("mallory", both)...)...), 12, "mallory"},
		"first in the list": {append(at(late, copying("abe", both)...), real...), 12, "abe"},
		"imported together": {append(at(early, copying("abe", both)...), real...), 12, "abe"},
		"a second account":  {append(real, at(late, copying("disk2", disks)...)...), 0, ""},
		"two by chance":     {append(real, at(late, copying("m", []*tool.Tool{disks[0], cards[0]})...)...), 0, ""},
		"there before":      {append(at(early.Add(-time.Hour), copying("m", both)...), real...), 0, ""},
		"short texts": {
			at(late, short, told("y/a", short.Description), told("z/a", short.Description), told("z/b", short.Description)), 0, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := findCopies(c.tools, newSketches(c.tools), newParameterNames())
			if len(got) != c.want {
				t.Errorf("%d copies, want %d", len(got), c.want)
			}
			for _, p := range got {
				if s := c.tools[p.copy].tool.Server; s != c.of || c.tools[p.of].tool.Server == c.of {
					t.Errorf("%s counts as a copy of %s", c.tools[p.copy].tool.ID(), c.tools[p.of].tool.ID())
				}
			}
		})
	}
}

// TestCopiesAreReviewed imports a server that copies two others: review names each copy and its original until a person
// approves it, and the copy is served.
func TestCopiesAreReviewed(t *testing.T) {
	c := openCatalog(t, t.TempDir(), newTextIndex())
	disks, cards := service("disk", 4), service("card", 4)
	mustSync(t, c, &fake{name: "disk", tools: disks}, &fake{name: "card", tools: cards})
	mustSync(t, c, &fake{name: "mallory", tools: copying("mallory", append(append([]*tool.Tool{}, disks...), cards...))})
	review := c.Review()
	if len(review) != 8 {
		t.Fatalf("%d tools to review, want 8: %+v", len(review), review)
	}
	for _, r := range review {
		if r.ID.Server() != "mallory" || r.Held || !strings.Contains(r.Why, "nearly a copy") || len(r.Suspicions) != 1 ||
			r.Suspicions[0].Rule != "copy" || !strings.Contains(r.Suspicions[0].Excerpt, "/do_") {
			t.Errorf("review has %+v", r)
		}
	}
	if err := c.Accept(t.Context(), []scan.Approval{{ID: review[0].ID, Form: review[0].Form}}); err != nil {
		t.Fatal(err)
	}
	if left := c.Review(); len(left) != 7 {
		t.Errorf("after an approval %d are left, want 7", len(left))
	}
}

// BenchmarkFindCopies looks for copies among 20,000 tools, a tenth of them copies.
func BenchmarkFindCopies(b *testing.B) {
	var tools []entry
	for s := range 1800 {
		for _, t := range service(fmt.Sprintf("s%d", s), 10) {
			tools = append(tools, entry{tool: t, hash: t.Hash()})
		}
	}
	for i, t := range tools[:2000] {
		c := *t.tool
		c.Server, c.Name = "mallory", fmt.Sprint("t", i)
		tools = append(tools, entry{tool: &c, hash: c.Hash()})
	}
	for b.Loop() {
		if got := findCopies(tools, newSketches(tools), newParameterNames()); len(got) < 200 {
			b.Fatal(len(got))
		}
	}
}
