package index

// groupDuplicates collects the documents of one DuplicateGroup, which groups has by document.
func (s *Snapshot) groupDuplicates(groups []int32) {
	at := map[int32]int32{} // by number: the place of its family, plus one
	var families [][]int32
	for i, n := range groups {
		if n == 0 {
			continue
		}
		if at[n] == 0 {
			families = append(families, nil)
			at[n] = int32(len(families))
		}
		f := &families[at[n]-1]
		*f = append(*f, int32(i))
	}
	s.groupAt = []uint32{0}
	for _, f := range families {
		if len(f) < 2 {
			continue
		}
		if s.family == nil {
			s.family = make([]int32, len(groups))
		}
		s.groupDocs = append(s.groupDocs, f...)
		s.groupAt = append(s.groupAt, uint32(len(s.groupDocs)))
		for _, i := range f {
			s.family[i] = int32(len(s.groupAt) - 1)
		}
	}
	s.sliceGroups()
}

// sliceGroups makes the groups of their array.
func (s *Snapshot) sliceGroups() {
	if len(s.groupAt) < 2 {
		return
	}
	s.duplicateGroups = make([][]int32, len(s.groupAt)-1)
	for k := range s.duplicateGroups {
		s.duplicateGroups[k] = s.groupDocs[s.groupAt[k]:s.groupAt[k+1]:s.groupAt[k+1]]
	}
}

// DuplicateGroups returns the groups of documents that are one tool, offered by several servers: each has at least two,
// in order, and no document is in two. The slices are shared and must not be changed.
func (s *Snapshot) DuplicateGroups() [][]int32 { return s.duplicateGroups }

// Duplicates returns the documents that are the same tool as document i, itself among them, in order; nil if there is
// no other. The slice is shared and must not be changed.
func (s *Snapshot) Duplicates(i int) []int32 {
	if s.family == nil || s.family[i] == 0 {
		return nil
	}
	return s.duplicateGroups[s.family[i]-1]
}
