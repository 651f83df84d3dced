package knowledge

import (
	"os"
	"slices"
	"testing"
)

// TestCategories requires that each domain belongs to one category, that the kinds that are named exist, and that the
// compiled base gives each archetype the category that its folder and kind have in the data.
func TestCategories(t *testing.T) {
	all, err := readCategories(categoryData)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 35 || len(all) > 45 {
		t.Errorf("%d categories, want about 40", len(all))
	}
	if !slices.IsSortedFunc(all, func(a, b category) int { return slices.Compare([]string{a.Name}, []string{b.Name}) }) {
		t.Error("the categories are not sorted")
	}
	of := map[string]string{}
	for _, c := range all {
		for _, name := range slices.Concat(c.Domains, c.Kinds) {
			if of[name] != "" {
				t.Errorf("%s belongs to %s and %s", name, of[name], c.Name)
			}
			of[name] = c.Name
		}
	}
	src, err := ReadSource(os.DirFS("data"))
	if err != nil {
		t.Fatal(err)
	}
	base, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	want, found := map[string]string{}, map[string]bool{}
	for _, a := range src.Archetypes {
		found[a.Domain], found[a.Server] = true, true
		if want[a.Server] = of[a.Server]; want[a.Server] == "" {
			want[a.Server] = of[a.Domain]
		}
		if want[a.Server] == "" {
			t.Fatalf("%s belongs to no category", a.Domain)
		}
	}
	for name := range of {
		if !found[name] {
			t.Errorf("there is no domain and no kind %q", name)
		}
	}
	for i := range base.Len() {
		if kind := base.Kind(i); base.Category(i) != want[kind] {
			t.Fatalf("%s is compiled as %q, want %q", kind, base.Category(i), want[kind])
		}
	}
}

// TestCategoryMistakes requires an error for lines that are no categories.
func TestCategoryMistakes(t *testing.T) {
	for _, data := range []string{`{"category":"a","domain":["x"]}`, `a`, "", "{}\n\n{}"} {
		if all, err := readCategories([]byte(data)); err == nil {
			t.Errorf("%q gives %v", data, all)
		}
	}
}
