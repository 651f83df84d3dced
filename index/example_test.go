package index_test

import (
	"fmt"
	"slices"

	"tooldex/index"
	"tooldex/tool"
)

// A caller analyses its tools, builds a snapshot, and adds up the scores of the words it asks for.
func Example() {
	set := tool.NewSet([]*tool.Tool{
		{Server: "github", Name: "create_issue"},
		{Server: "github", Name: "list_issues"},
		{Server: "mail", Name: "send"},
	}, "")
	word := func(list ...string) (out []index.Term) {
		for _, w := range list {
			out = append(out, index.Term{Text: w, Weight: 1})
		}
		return out
	}
	snap, err := index.Build(set, []index.Doc{ // in the order of set.All, which is by ID
		{Fields: [index.NumFields][]index.Term{index.Name: word("creat", "issu")}, Vector: []float32{1, 0}},
		{Fields: [index.NumFields][]index.Term{index.Name: word("list", "issu")}, Vector: []float32{.8, .6}},
		{Fields: [index.NumFields][]index.Term{index.Name: word("send")}, Vector: []float32{0, 1}},
	}, index.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var current index.Index
	current.Swap(snap)

	snap = current.Current()
	words, cosines := make([]float32, snap.Len()), make([]float32, snap.Len())
	for _, term := range []string{"list", "issu"} {
		snap.AddWordScores(term, 1, words, nil)
	}
	snap.Cosines([]float32{.6, .8}, cosines)
	for i, t := range snap.Set().All() {
		fmt.Printf("%s cosine %.2f, best by words %t\n", t.ID(), cosines[i], words[i] == slices.Max(words))
	}
	// Output:
	// github/create_issue cosine 0.60, best by words false
	// github/list_issues cosine 0.96, best by words true
	// mail/send cosine 0.80, best by words false
}
