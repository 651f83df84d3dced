package catalog

import (
	"log/slog"

	"tooldex/internal/flatfile"
	"tooldex/store"
)

// textMover moves the texts and schemas of tools out of memory, into a file that is read where one of them is needed. A
// program that imports much needs few of them again.
type textMover struct {
	path string // beside which the file is made
	off  bool   // nothing is moved
	log  *slog.Logger
	kept *flatfile.Backing // nil before the first tool
}

// moveTools replaces the tools of records by equal ones that have no texts in memory. If it cannot, they stay.
func (m *textMover) moveTools(records []store.Record) {
	if m.off || len(records) == 0 {
		return
	}
	var rows []toolRow
	var texts []byte
	for _, r := range records {
		rows, texts = appendTool(rows, texts, r.Tool, toolNotes{})
	}
	err := m.open()
	if err == nil {
		texts, err = m.kept.Put(texts)
	}
	if err != nil {
		m.log.Warn("tools stay in memory", "error", err)
		m.off = true
		return
	}
	moved, ok := openTools(rows, texts, nil)
	for i := range records {
		if ok {
			records[i].Tool = moved.tools[i]
		}
	}
}

func (m *textMover) open() (err error) {
	if m.kept == nil {
		m.kept, err = flatfile.NewBacking(m.path)
	}
	return err
}
