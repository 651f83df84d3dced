package knowledge

import (
	"cmp"
	"slices"
)

// Heads reads many archetypes, in the order in which they are asked for. It unpacks each block of texts once, so that a
// thousand cost little more than fifty times one Head.
func (b *Base) Heads(archetypes []int) ([]Head, error) {
	order := make([]int, len(archetypes))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(x, y int) int { return cmp.Compare(archetypes[x], archetypes[y]) })
	out := make([]Head, len(archetypes))
	var texts, names []string
	textBlock, nameBlock := -1, -1
	for _, at := range order {
		i := archetypes[at]
		if i < 0 || i >= b.count {
			_, err := b.Name(i)
			return nil, err
		}
		var err error
		if k := i / perBlock; k != textBlock {
			if texts, err = blockOf(&b.texts, k); err != nil {
				return nil, err
			}
			textBlock = k
		}
		if k := i / namesBlock; k != nameBlock {
			if names, err = blockOf(&b.names, k); err != nil {
				return nil, err
			}
			nameBlock = k
		}
		if i%namesBlock >= len(names) {
			return nil, errShort
		}
		if out[at], err = parseHead(texts, i%perBlock); err != nil {
			return nil, err
		}
		out[at].Server, out[at].Name = b.Kind(i), names[i%namesBlock]
	}
	return out, nil
}
