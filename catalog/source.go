package catalog

import (
	"context"
	"crypto/sha256"

	"tooldex/tool"
)

// Source offers tools. A source that also has a method Digest() [32]byte, which changes whenever its tools do, is not
// asked for them as long as the digest is the one that was stored with them.
type Source interface {
	// Name names the source, and the server of tools that name none themselves. It stays the same from run to run.
	Name() string
	// Tools returns what the source offers now. The catalogue takes the tools over and may change them.
	Tools(ctx context.Context) ([]*tool.Tool, error)
}

type digester interface{ Digest() [32]byte }

// reader is a source that also tells what was wrong with what it read.
type reader interface {
	read(ctx context.Context) ([]*tool.Tool, []tool.Finding, error)
}

// located is a source that lies in a file.
type located interface{ location() string }

// cleaning is part of each digest: raise it whenever reading or cleaning gives other tools than before for the same
// input, so that stored tools are read anew.
const cleaning = "2"

// fileSource is one server of a file. Its tools are read when they are asked for, since mostly nothing has changed.
type fileSource struct {
	name  string
	path  string // of the file, absolute; "" for one that is only in memory
	data  []byte // of the whole file
	parse func() ([]*tool.Tool, []tool.Finding, error)
}

// Name returns the server's name.
func (f *fileSource) Name() string { return f.name }

func (f *fileSource) location() string { return f.path }

// Tools reads the tools out of the file.
func (f *fileSource) Tools(ctx context.Context) ([]*tool.Tool, error) {
	tools, _, err := f.read(ctx)
	return tools, err
}

func (f *fileSource) read(ctx context.Context) ([]*tool.Tool, []tool.Finding, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	return f.parse()
}

// Digest is that of the whole file: a change to one of its servers makes all be looked at.
func (f *fileSource) Digest() [32]byte {
	h := sha256.New()
	h.Write([]byte(cleaning + "\x00" + f.name + "\x00"))
	h.Write(f.data)
	return [32]byte(h.Sum(nil))
}
