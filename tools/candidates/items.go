package main

import (
	"errors"

	"tooldex/internal/flatfile"
)

// The sections of an image of the index that are read here, in the order of index.Snapshot.Image.
const (
	termAtSection = 1
	termsSection  = 2
	listAtSection = 4
	postsSection  = 5
	rowsSection   = 7
	sections      = 21
)

// posting is a posting as it lies in an image.
type posting struct {
	doc    int32
	impact float32
	_      float32 // the part of the tool's own words, which is not used here
}

// readItems reads the tools off the index as engines take them, and its terms.
func (s *subject) readItems() error {
	image, err := s.snap.Image()
	if err != nil {
		return err
	}
	if len(image) != sections {
		return errors.New("the image of the index has other sections than this program knows")
	}
	at, err1 := flatfile.List[uint32](image[termAtSection])
	lists, err2 := flatfile.List[uint32](image[listAtSection])
	posts, err3 := flatfile.List[posting](image[postsSection])
	rows, err4 := flatfile.List[float32](image[rowsSection])
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}
	dims := s.snap.Dims()
	s.items = make([]item, s.snap.Len())
	for i := range s.items {
		s.items[i] = item{doc: int32(i), vector: rows[i*dims : (i+1)*dims]}
	}
	for id := range len(at) - 1 {
		term := string(image[termsSection][at[id]:at[id+1]])
		s.terms = append(s.terms, term)
		rarity, _ := s.snap.IDF(term)
		for _, p := range posts[lists[id]:lists[id+1]] {
			it := &s.items[p.doc]
			it.words = append(it.words, word{id: int32(id), text: term, weight: p.impact / rarity, rarity: rarity})
		}
	}
	return nil
}
