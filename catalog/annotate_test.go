package catalog

import (
	"context"
	"testing"

	"tooldex/catalog/sources"
	"tooldex/index"
	"tooldex/store"
	"tooldex/tool"
)

// repositoryTools are tools of a server for repositories, of which one declares a category.
func repositoryTools() []*tool.Tool {
	tools := []*tool.Tool{
		aTool("", "create_pull_request", "Open a pull request in a repository from a branch."),
		aTool("", "merge_pull_request", "Merge a pull request into its base branch."),
		aTool("", "list_commits", "List the commits of a branch in a repository."),
		aTool("", "fork_repository", "Fork a repository to your account or an organization."),
		aTool("", "declared", "Get the contents of a file in a repository."),
		aTool("", "xyzzy", "Plugh."),
	}
	tools[4].Category = "mine"
	return tools
}

// TestDerivedCategories requires that tools without a category get that of the kinds which they and the other tools of
// their server resemble, marked as derived and no part of their content; that an overlay and a source override it; and
// that an image and a catalogue that is only listed have the same categories.
func TestDerivedCategories(t *testing.T) {
	m, err := BuiltinModel()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	open := func(o Options) *Catalog {
		t.Helper()
		o.Store, o.Model = openStore(t, dir), m
		c, err := Open(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	type category struct {
		Name    string
		Derived bool
	}
	require := func(name string, c *Catalog, want map[tool.ID]category) {
		t.Helper()
		got := map[tool.ID]category{}
		for _, one := range c.Set().All() {
			got[one.ID()] = category{one.Category, one.CategoryDerived}
		}
		if d := diff(want, got); d != "" {
			t.Errorf("%s (-want +got)\n%s", name, d)
		}
	}
	hosting := category{"code hosting", true}
	want := map[tool.ID]category{
		"code/create_pull_request": hosting, "code/merge_pull_request": hosting, "code/list_commits": hosting,
		"code/fork_repository": hosting, "code/declared": {"mine", false},
		"code/xyzzy": hosting, // as most of its server are
		"odd/xyzzy":  {},
	}
	src := &fake{name: "code", tools: repositoryTools()}
	odd := &fake{name: "odd", tools: []*tool.Tool{aTool("", "xyzzy", "Plugh.")}}
	c := open(Options{Index: &index.Index{}, Images: true})
	mustSync(t, c, src, odd)
	require("synced", c, want)
	if again := mustSync(t, c, src)[0]; again.Unchanged != len(src.tools) {
		t.Errorf("the source is compared with the derived categories: %+v", again)
	}
	version := c.Set().Version()
	if err := c.SaveImage(t.Context()); err != nil {
		t.Fatal(err)
	}
	image := open(Options{Index: &index.Index{}, Images: true})
	if !image.st.Load().partial || image.Set().Version() != version {
		t.Error("the image was not used, or is another set")
	}
	require("from an image", image, want)
	require("only listed", open(Options{ListOnly: true}), want)

	overlay, err := sources.Parse("mine.yaml", []byte("overlay:\n  code/list_commits: {category: history}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.ApplyOverlay(t.Context(), overlay.Overlay); err != nil {
		t.Fatal(err)
	}
	want["code/list_commits"] = category{"history", false}
	require("with an overlay", c, want)
	if _, err := c.Remove(t.Context(), "mine"); err != nil {
		t.Fatal(err)
	}
	want["code/list_commits"] = hosting
	require("without the overlay", c, want)
	if c.Set().Version() != version {
		t.Error("what was undone left another set")
	}
}

// TestCategoryVotesOfAnotherBase requires that analyses which name archetypes that do not exist give no category.
func TestCategoryVotesOfAnotherBase(t *testing.T) {
	m, err := BuiltinModel()
	if err != nil {
		t.Fatal(err)
	}
	near := []index.Landmark{{Point: int32(m.Base.Len()), Like: .9}}
	if got := categoryVotes(m.Base, near); got != nil {
		t.Errorf("votes %v", got)
	}
	if got := landmarksOf([]byte("no analysis")); got != nil {
		t.Errorf("landmarks %v", got)
	}
	p := prepared{text: store.TextHash{1}, landmarks: []index.Landmark{{Point: 7, Like: 1, Lent: .2}}}
	p.fields[index.Lent] = []index.Term{{Text: "word", Weight: 1}}
	if d := diff([]index.Landmark{{Point: 7, Like: 1, Lent: .2}}, landmarksOf(p.encode())); d != "" {
		t.Errorf("landmarks (-want +got)\n%s", d)
	}
}
