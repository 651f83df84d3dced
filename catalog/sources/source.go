package sources

import (
	"context"
	"crypto/sha256"
	"sync"

	"tooldex/internal/sanitize"
	"tooldex/tool"
)

// Source offers tools. A source may also have a method Digest() [32]byte, whose result changes whenever its tools do.
// It is then not asked for its tools while the digest is the one that was stored with them.
type Source interface {
	// Name returns the name of the source, which is also the server of tools that name none. It stays the same from run
	// to run.
	Name() string
	// Tools returns what the source offers now. The tools then belong to the catalogue, which may change them.
	Tools(ctx context.Context) ([]*tool.Tool, error)
}

// cleaning is part of each digest. Raise it whenever reading or cleaning yields other tools than before for the same
// input, so that stored tools are read again.
const cleaning = "2"

// File is a [Source]: one server of a file. The tools of a dump are decoded only when they are asked for, since usually
// the digest has not changed.
type File struct {
	name  string
	path  string   // of the file, absolute; "" for one that is only in memory
	data  [][]byte // what its digest is of: the whole file, or its lines of it
	alone string   // of a file that has nothing else, neither another server nor an overlay: its kind, see document.kind
	parse func() ([]*tool.Tool, []sanitize.Finding, error)

	digest sync.Once
	sum    [32]byte // the digest, once it was asked for
}

// Name returns the server's name.
func (f *File) Name() string { return f.name }

// Path returns the absolute path of the file, or "" for content that was parsed from memory.
func (f *File) Path() string { return f.path }

// Tools decodes the tools. The caller may change them.
func (f *File) Tools(ctx context.Context) ([]*tool.Tool, error) {
	tools, _, err := f.Read(ctx)
	return tools, err
}

// Read decodes the tools as Tools does, and also returns what was wrong with single ones.
func (f *File) Read(ctx context.Context) ([]*tool.Tool, []sanitize.Finding, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	return f.parse()
}

// Digest returns a digest of the server's name and the whole file, or its lines of a .jsonl file. A change to one
// server of a file therefore makes the catalogue compare all of them. The digest of a file that has nothing else says
// so: where it is stored, what the file holds is known without parsing it.
func (f *File) Digest() [32]byte {
	f.digest.Do(func() {
		h := sha256.New()
		h.Write([]byte(cleaning + "\x00" + f.name + "\x00"))
		h.Write([]byte(f.alone))
		for _, part := range f.data {
			h.Write(part)
		}
		h.Sum(f.sum[:0])
	})
	return f.sum
}
