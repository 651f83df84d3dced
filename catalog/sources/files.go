package sources

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"tooldex/internal/sanitize"
	"tooldex/tool"
)

// Files are the files that an import reads, some at a time, so that memory does not grow with their number. Close them
// after use. Archives stay open until Close.
type Files struct {
	// Known returns the digest that is stored of a source whose tools need not be read again while that is its digest;
	// false if they must be read. A file is not parsed if the source that is named after it is known and the file still
	// has nothing but what that digest is of. Nil knows no source. It is called on several goroutines.
	Known func(source string) (digest [32]byte, ok bool)

	list []input
	zips []*zip.ReadCloser
}

// input is a file, or an entry of an archive.
type input struct {
	path  string // of the file or the archive
	entry *zip.File
}

// OpenFiles lists the files that paths stand for: a folder for those in it and in its folders that have the extension
// of a file that ReadFile or this package reads, a .zip archive for its entries of these kinds, and any other path for
// itself. Hidden files in folders are left out. The order is that of paths, and by name within each. The error is
// Invalid for a folder or an archive that cannot be read, and for one in which nothing is to be read; then nothing
// stays open.
func OpenFiles(paths []string) (*Files, error) {
	f := &Files{}
	for _, path := range paths {
		if err := f.add(path); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return f, nil
}

// add adds what one path of the caller stands for.
func (f *Files) add(path string) error {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return f.addFile(path) // Read reports a file that is missing
	}
	before := len(f.list)
	// A link within a folder is listed as a file; WalkDir does not follow links to folders, so that cycles do no harm.
	err = filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != path && strings.HasPrefix(e.Name(), "."):
			if e.IsDir() {
				return fs.SkipDir
			}
		case !e.IsDir() && (isImportable(name) || isZip(name)):
			return f.addFile(name)
		}
		return nil
	})
	var own *tool.Error
	switch {
	case errors.As(err, &own):
		return err
	case err != nil:
		return &tool.Error{
			Code: tool.Invalid, Op: "read folder", Msg: "cannot read " + path,
			Hint: "see that it is a readable folder", Err: err,
		}
	case len(f.list) == before:
		return &tool.Error{
			Code: tool.Invalid, Op: "read folder", Msg: path + " holds no file to import",
			Hint: "files that end in .json, .jsonl, .yaml, .yml or .zip are looked for",
		}
	}
	return nil
}

// addFile adds a file, or the entries of an archive.
func (f *Files) addFile(path string) error {
	if !isZip(path) {
		f.list = append(f.list, input{path: path})
		return nil
	}
	r, err := zip.OpenReader(path)
	if err != nil {
		return &tool.Error{
			Code: tool.Invalid, Op: "read archive", Msg: "cannot read " + path,
			Hint: "see that it is a whole .zip archive",
			Err:  err,
		}
	}
	f.zips = append(f.zips, r)
	before := len(f.list)
	for _, e := range r.File {
		if !e.FileInfo().IsDir() && isImportable(e.Name) {
			f.list = append(f.list, input{path: path, entry: e})
		}
	}
	// The order of entries in an archive depends on the program that packed it; names give the same order everywhere.
	slices.SortStableFunc(f.list[before:], func(a, b input) int { return strings.Compare(a.entry.Name, b.entry.Name) })
	if len(f.list) == before {
		return &tool.Error{
			Code: tool.Invalid, Op: "read archive", Msg: path + " holds no file to import",
			Hint: "entries that end in .json, .jsonl, .yaml or .yml are looked for",
		}
	}
	return nil
}

// isImportable reports whether files of this name in folders and archives are read.
func isImportable(name string) bool {
	return slices.Contains([]string{".json", ".jsonl", ".yaml", ".yml"}, strings.ToLower(filepath.Ext(name)))
}

func isZip(name string) bool { return strings.EqualFold(filepath.Ext(name), ".zip") }

// Len returns the number of files.
func (f *Files) Len() int { return len(f.list) }

// FileContent is what a file holds, or why it cannot be read.
type FileContent struct {
	*Content
	Err error
}

// Batches reads all files as ReadFile does, in their order, and those of one batch on all processors. A batch ends with
// the file that reaches most bytes, or so many files. With each batch comes how many files are read by then.
func (f *Files) Batches(most int64, files int) iter.Seq2[int, []FileContent] {
	return func(yield func(int, []FileContent) bool) {
		for start := 0; start < len(f.list); {
			end, size := start, int64(0)
			for end < len(f.list) && size < most && end-start < files {
				size += f.list[end].size()
				end++
			}
			if !yield(end, f.readBatch(f.list[start:end])) {
				return
			}
			start = end
		}
	}
}

// readBatch reads some files on all processors.
func (f *Files) readBatch(list []input) []FileContent {
	out := make([]FileContent, len(list))
	var (
		next  atomic.Int64
		group sync.WaitGroup
	)
	for range min(runtime.GOMAXPROCS(0), len(list)) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(list); i = int(next.Add(1)) - 1 {
				out[i].Content, out[i].Err = f.read(list[i])
			}
		})
	}
	group.Wait()
	return out
}

// size returns how many bytes a file has, as far as that is known before it is read.
func (in input) size() int64 {
	if in.entry != nil {
		return int64(min(in.entry.UncompressedSize64, MaxFile)) // what an archive says of itself may be wrong
	}
	info, err := os.Stat(in.path)
	if err != nil {
		return 0 // reading it reports the error
	}
	return info.Size()
}

// read reads one file.
func (f *Files) read(in input) (*Content, error) {
	if in.entry == nil {
		return readFile(in.path, f.parse)
	}
	name := in.path + string(filepath.Separator) + filepath.FromSlash(in.entry.Name)
	data, err := readEntry(in.entry)
	switch {
	case err != nil:
		return nil, &tool.Error{
			Code: tool.Invalid, Op: "read archive", Msg: "cannot read " + name,
			Hint: "pack the archive again", Err: err,
		}
	case len(data) > MaxFile:
		return nil, (&document{path: name}).invalidAt(0, nil, "split it", "has more than %d bytes, no more are read",
			MaxFile)
	}
	content, err := f.parse(name, data)
	if err == nil {
		content.setPath(in.path)
	}
	return content, err
}

// parse is Parse, except for a file whose only source is known: that one is parsed when it is asked for its tools.
func (f *Files) parse(path string, data []byte) (*Content, error) {
	d := newDocument(path, data)
	if src := f.knownSource(d); src != nil {
		return &Content{Sources: []Source{src}}, nil
	}
	return d.parse()
}

// knownSource returns the source that a file is known to consist of, without parsing the file; nil if it may have
// anything else.
func (f *Files) knownSource(d *document) *File {
	if f.Known == nil {
		return nil
	}
	digest, ok := f.Known(d.baseName())
	if !ok {
		return nil
	}
	src := &File{name: d.baseName(), data: [][]byte{d.data}, alone: d.kind()}
	if src.Digest() != digest {
		return nil
	}
	src.parse = func() ([]*tool.Tool, []sanitize.Finding, error) {
		content, err := d.parse()
		if err != nil {
			return nil, nil, err
		}
		return content.Sources[0].(*File).parse() // its digest says that it is the only one
	}
	return src
}

// readEntry reads at most MaxFile+1 bytes of an entry.
func readEntry(e *zip.File) ([]byte, error) {
	r, err := e.Open()
	if err != nil {
		return nil, err
	}
	// The size in the archive's directory is not trusted: reading stops after MaxFile bytes whatever it says.
	data, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
	return data, errors.Join(err, r.Close())
}

// Close closes the archives. What was read stays valid.
func (f *Files) Close() error {
	var errs []error
	for _, r := range f.zips {
		errs = append(errs, r.Close())
	}
	f.zips = nil
	return errors.Join(errs...)
}

// readLines reads a file with one tool on each line, as in a tools/list answer. The member server says whose it is; the
// base name of the file stands for those without one. Each server is a source.
func (d *document) readLines() (*Content, error) {
	// Lines are grouped by server, in the order in which servers first appear. Only the server's name is read here; the
	// tools are decoded when the source is read.
	lines := map[string][]span{}
	var order []string
	at, number := 0, 0
	for raw := range bytes.Lines(d.data) {
		v := span{raw: bytes.TrimSpace(raw), off: at}
		at += len(raw)
		number++
		if len(v.raw) == 0 {
			continue
		}
		if v.kind() != '{' || !json.Valid(v.raw) {
			return nil, d.invalidAt(number, nil, "write one JSON object on each line", "is not a tool")
		}
		server := d.baseName()
		_ = v.eachMember(func(key string, m span) error { // fn never fails
			if key == "server" && m.kind() == '"' {
				server = unquoteString(m.raw)
			}
			return nil
		})
		if _, ok := lines[server]; !ok {
			order = append(order, server)
		}
		lines[server] = append(lines[server], v)
	}
	out := &Content{}
	for _, server := range order {
		own := &File{name: server}
		for _, v := range lines[server] {
			own.data = append(own.data, v.raw)
		}
		own.parse = func() (tools []*tool.Tool, found []sanitize.Finding, err error) {
			for _, v := range lines[server] {
				t, f := dumpTool(server, v)
				tools, found = append(tools, t), append(found, f...)
			}
			return tools, found, nil
		}
		out.Sources = append(out.Sources, own)
	}
	return out, nil
}
