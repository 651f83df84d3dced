package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
)

// minListed is the number of operations from which on a kind of server has a row of its own.
const minListed = 20

// writeCoverage writes how many operations and requests are known of each kind of server, as a Markdown page. Kinds
// with few operations are counted together.
func writeCoverage(w io.Writer, c *corpus) error {
	by, names := c.servers()
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(by[b]), len(by[a])), cmp.Compare(a, b))
	})
	operations, requests, fewKinds, fewOperations := 0, 0, 0, 0
	rows := ""
	for _, name := range names {
		n := 0
		for _, a := range by[name] {
			n += len(a.Utterances)
		}
		operations += len(by[name])
		requests += n
		if len(by[name]) < minListed {
			fewKinds++
			fewOperations += len(by[name])
			continue
		}
		rows += fmt.Sprintf("| %s | %s | %d | %d |\n", name, by[name][0].at.domain(), len(by[name]), n)
	}
	_, err := fmt.Fprintf(w, `# Coverage of the knowledge

Made by `+"`make coverage`"+`. The base holds %d operations of %d products and kinds of servers, with %d requests,
%.1f an operation. Everything was written from general knowledge of the products; no catalogue and no labelled request was read
for it. It cannot know operations that a product gained lately, private servers, or how one team names its things; for
those see [enriching](../guides/enriching.md).

%d kinds with fewer than %d operations have %d operations together. The others:

| product or kind | domain | operations | requests |
|---|---|---|---|
%s`, operations, len(names), requests, float64(requests)/float64(operations), fewKinds, minListed, fewOperations, rows)
	return err
}
