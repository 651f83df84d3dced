package knowledge

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the categories
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

// categoryData lists the categories, one on a line: the domains that belong to it, and single kinds of servers of other
// domains.
//
//go:embed data/categories.jsonl
var categoryData []byte

// category is one line of categoryData.
type category struct {
	Name    string   `json:"category"`
	Domains []string `json:"domains"`
	Kinds   []string `json:"kinds"`
}

// readCategories reads categoryData, or other bytes of its form.
func readCategories(data []byte) ([]category, error) {
	var out []category
	for n, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
		var c category
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&c); err != nil {
			return nil, fmt.Errorf("categories.jsonl line %d: %w", n+1, err)
		}
		out = append(out, c)
	}
	return out, nil
}

// CategoryVersion identifies the categories: another version may give tools other ones.
func CategoryVersion() string {
	sum := sha256.Sum256(categoryData)
	return fmt.Sprintf("%x", sum[:4])
}

// builtinCategories are the categories that the binary carries; none if they cannot be read, which a test excludes.
var builtinCategories = sync.OnceValue(func() []category {
	all, err := readCategories(categoryData)
	if err != nil {
		return nil
	}
	return all
})

// Category returns the category that archetype i belongs to, of 0 to Len-1: one of some forty names that do not change
// with the catalogue. It is "" in a base whose domains are not those of the categories.
func (b *Base) Category(i int) string { return b.categories()[b.kindNumber(i)] }

// categoriesOfKinds returns the category of each kind. Domains have numbers in the order of their names.
func (b *Base) categoriesOfKinds() []string {
	out := make([]string, b.kinds.n+1) // the last is for archetypes of no known kind
	byDomain, byKind := map[string]string{}, map[string]string{}
	var domains []string
	for _, c := range builtinCategories() {
		for _, d := range c.Domains {
			byDomain[d] = c.Name
			domains = append(domains, d)
		}
		for _, k := range c.Kinds {
			byKind[k] = c.Name
		}
	}
	slices.Sort(domains)
	if len(b.domainOf) == 0 || int(slices.Max(b.domainOf))+1 != len(domains) {
		return out
	}
	for k, d := range b.domainOf {
		if out[k] = byKind[string(b.kinds.entryAt(k))]; out[k] == "" {
			out[k] = byDomain[domains[d]]
		}
	}
	return out
}
