package index

import (
	"encoding/json"
	"fmt"
	"sync"

	"tooldex/internal/flatfile"
	"tooldex/tool"
)

// imageVersion is the version of the form of Image, and of what Build computes. Raise it when either changes.
const imageVersion = 6

// The sections of an image.
const (
	imageMeta = iota
	imageTermAt
	imageTerms
	imageSlots
	imageListAt
	imagePosts
	imageIDF
	imageRows
	imageMarkAt
	imageMarks
	imagePoints
	imageNearAt
	imageNear
	imageClasses
	imageGroupAt
	imageGroups
	imageFamily
	imageMean
	imageSquares
	imageBits
	imageScales
	imageSections
)

// imageHead describes an image.
type imageHead struct {
	Version, Documents, Dims int
	Model                    string
	Lengths                  [NumFields]float64 // Lengths.sums
	Weighed                  int                // Lengths.documents
}

// Image returns the memory of the snapshot in sections, for a flat file. It shares that memory. A snapshot that Layer
// made has no image; the error is then Invalid.
func (s *Snapshot) Image() ([][]byte, error) {
	if s.layers != nil {
		return nil, &tool.Error{Code: tool.Invalid, Op: "describe the index", Msg: "it has several layers"}
	}
	head, err := json.Marshal(imageHead{
		imageVersion, s.Len(), s.dims, s.model, s.lengths.sums, s.lengths.documents,
	})
	if err != nil {
		return nil, fmt.Errorf("describe the index: %w", err)
	}
	return [][]byte{
		imageMeta: head, imageTermAt: flatfile.Bytes(s.words.at), imageTerms: s.words.text,
		imageSlots: flatfile.Bytes(s.words.slots), imageListAt: flatfile.Bytes(s.listAt),
		imagePosts: flatfile.Bytes(s.posts), imageIDF: flatfile.Bytes(s.idf), imageRows: flatfile.Bytes(s.rows),
		imageMarkAt: flatfile.Bytes(s.markAt), imageMarks: flatfile.Bytes(s.marks),
		imagePoints: flatfile.Bytes(s.points), imageNearAt: flatfile.Bytes(s.nearAt),
		imageNear: flatfile.Bytes(s.near), imageClasses: s.classes, imageGroupAt: flatfile.Bytes(s.groupAt),
		imageGroups: flatfile.Bytes(s.groupDocs), imageFamily: flatfile.Bytes(s.family),
		imageMean: flatfile.Bytes(s.coarse.mean), imageSquares: flatfile.Bytes(s.coarse.squares),
		imageBits: flatfile.Bytes(s.coarse.bits), imageScales: flatfile.Bytes(s.coarse.scales),
	}, nil
}

// Restore returns the snapshot of set whose Image has these sections, which it keeps and which must not change. It
// reads nothing of the lists themselves. The error wraps flatfile.ErrForeign if the sections are not those of a
// snapshot of as many tools, by this version.
func Restore(set *tool.Set, sections [][]byte) (*Snapshot, error) {
	if len(sections) != imageSections {
		return nil, fmt.Errorf("%d sections: %w", len(sections), flatfile.ErrForeign)
	}
	var head imageHead
	if err := json.Unmarshal(sections[imageMeta], &head); err != nil || head.Version != imageVersion ||
		head.Documents != set.Len() {
		return nil, fmt.Errorf("an index of %d tools: %w", head.Documents, flatfile.ErrForeign)
	}
	s := &Snapshot{
		set: set, dims: head.Dims, model: head.Model, classes: sections[imageClasses],
		words: dictionary{text: sections[imageTerms]}, lengths: Lengths{sums: head.Lengths, documents: head.Weighed},
	}
	r := restorer{sections: sections}
	s.words.at, s.words.slots = list[uint32](&r, imageTermAt), list[uint32](&r, imageSlots)
	s.listAt, s.posts, s.idf = list[uint32](&r, imageListAt), list[posting](&r, imagePosts), list[float32](&r, imageIDF)
	s.rows = list[float32](&r, imageRows)
	s.markAt, s.marks = list[uint32](&r, imageMarkAt), list[Landmark](&r, imageMarks)
	s.points, s.nearAt = list[int32](&r, imagePoints), list[uint32](&r, imageNearAt)
	s.near = list[landmarkTool](&r, imageNear)
	s.groupAt, s.groupDocs = list[uint32](&r, imageGroupAt), list[int32](&r, imageGroups)
	s.family = list[int32](&r, imageFamily)
	s.coarse = coarse{
		mean: list[float32](&r, imageMean), squares: list[float32](&r, imageSquares), bits: list[uint64](&r, imageBits),
		scales: list[float32](&r, imageScales),
	}
	if r.err == nil {
		r.err = s.checkLengths()
	}
	if r.err != nil {
		return nil, r.err
	}
	if len(s.family) == 0 {
		s.family = nil
	}
	s.sliceGroups()
	s.cluster = sync.OnceValues(s.fillCollection)
	return s, nil
}

// restorer converts sections, and keeps the first error.
type restorer struct {
	sections [][]byte
	err      error
}

func list[T any](r *restorer, section int) []T {
	out, err := flatfile.List[T](r.sections[section])
	if err != nil && r.err == nil {
		r.err = err
	}
	return out
}

// checkLengths checks that the arrays of a restored snapshot fit together.
func (s *Snapshot) checkLengths() error {
	n, slots := s.Len(), len(s.words.slots)
	fits := func(at []uint32, lists, most int) bool { return len(at) == lists+1 && int(at[lists]) == most }
	if !fits(s.words.at, len(s.idf), len(s.words.text)) || !fits(s.listAt, len(s.idf), len(s.posts)) ||
		!fits(s.markAt, n, len(s.marks)) || !fits(s.nearAt, len(s.points), len(s.near)) || len(s.classes) != n ||
		slots <= len(s.idf) || slots&(slots-1) != 0 || len(s.rows) != n*s.dims ||
		len(s.groupAt) > 0 && int(s.groupAt[len(s.groupAt)-1]) != len(s.groupDocs) ||
		len(s.family) != 0 && len(s.family) != n || !s.coarse.fits(n, s.dims) {
		return fmt.Errorf("the lists of an index do not fit together: %w", flatfile.ErrForeign)
	}
	for k := range s.groupAt[:max(0, len(s.groupAt)-1)] {
		if s.groupAt[k] > s.groupAt[k+1] {
			return fmt.Errorf("the groups of an index overlap: %w", flatfile.ErrForeign)
		}
	}
	return nil
}

// fits reports whether the arrays have the lengths that n documents need, or are empty.
func (c *coarse) fits(n, dims int) bool {
	if len(c.bits) == 0 {
		return len(c.mean)+len(c.squares)+len(c.scales) == 0
	}
	return len(c.bits) == n*(dims/64) && len(c.mean) == dims && len(c.squares) == dims*dims && len(c.scales) == n
}
