package sources

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"tooldex/tool"
	"tooldex/upstream"
)

// MaxFile is the largest file that ReadFile reads, in bytes.
const MaxFile = 256 << 20

// Content is what a file contains.
type Content struct {
	Sources []Source          // one for each server whose tools are in the file
	Servers []upstream.Server // of an mcpServers file, by name
	Overlay *Overlay          // nil if the file has none
}

// ReadFile reads a tools/list dump, a catalogue file in YAML or JSON, an overlay, an mcpServers file, the config.toml
// of Codex, or a .jsonl file with a tool on each line. It decides by the content which it is, and by the extension only
// for the last two. The error is Invalid, and names the file and, where one is at fault, the line.
func ReadFile(path string) (*Content, error) {
	return readFile(path, Parse)
}

// readFile is ReadFile with another function in place of Parse.
func readFile(path string, parse func(path string, data []byte) (*Content, error)) (*Content, error) {
	info, err := os.Stat(path)
	if err == nil && info.Size() > MaxFile {
		return nil, (&document{path: path}).invalidAt(0, nil, "split it", "has %d bytes, at most %d are read",
			info.Size(), MaxFile)
	}
	var data []byte
	if err == nil {
		data, err = readMost(path, info.Size())
	}
	if err == nil && len(data) > MaxFile { // a device, or a file that grows
		return nil, (&document{path: path}).invalidAt(0, nil, "split it", "has more than %d bytes, no more are read",
			MaxFile)
	}
	if err != nil {
		hint := "see that it is a readable file"
		if errors.Is(err, fs.ErrNotExist) {
			hint = "check the path"
		}
		return nil, &tool.Error{Code: tool.Invalid, Op: "read file", Msg: "cannot read " + path, Hint: hint, Err: err}
	}
	content, err := parse(path, data)
	if err == nil {
		content.setPath(path)
	}
	return content, err
}

// setPath notes which file the sources were read from.
func (c *Content) setPath(path string) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return
	}
	for _, src := range c.Sources {
		if f, ok := src.(*File); ok {
			f.path = absolute
		}
	}
}

// readMost reads at most MaxFile+1 bytes of a file, so that the caller can detect one that is too large. Size is how
// many it seems to have.
func readMost(path string, size int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var b bytes.Buffer
	b.Grow(int(size) + bytes.MinRead) // room to find the end without growing once more
	_, err = b.ReadFrom(io.LimitReader(f, MaxFile+1))
	return b.Bytes(), err
}

// Parse is ReadFile for content that is already in memory. It keeps data, which must not be changed. The base name of
// path, without its extension, is the server of tools that name none.
func Parse(path string, data []byte) (*Content, error) { return newDocument(path, data).parse() }

// newDocument returns a file that is not parsed yet.
func newDocument(path string, data []byte) *document {
	return &document{path: path, data: bytes.TrimPrefix(data, []byte("\ufeff"))}
}

// parse parses the file, and notes whether a source is all that it has.
func (d *document) parse() (*Content, error) {
	content, err := d.parseKind()
	if err != nil {
		return nil, err
	}
	if len(content.Sources) == 1 && content.Overlay == nil && len(content.Servers) == 0 {
		if f, ok := content.Sources[0].(*File); ok {
			f.alone, f.data = d.kind(), [][]byte{d.data}
		}
	}
	return content, nil
}

// kind returns what decides beside the content how a file is parsed, in the form in which it is part of digests.
func (d *document) kind() string { return "alone" + strings.ToLower(filepath.Ext(d.path)) + "\x00" }

// parseKind parses the file as what its name and its content show it to be.
func (d *document) parseKind() (*Content, error) {
	path := d.path
	if !utf8.Valid(d.data) && bytes.IndexByte(d.data[:min(len(d.data), 4)], 0) >= 0 {
		return nil, d.invalidAt(0, nil, "save it as UTF-8", "is not text in UTF-8")
	}
	start := bytes.TrimLeft(d.data, " \t\r\n")
	switch {
	case len(start) == 0:
		return nil, d.invalidAt(0, nil, kinds, "the file is empty")
	case strings.EqualFold(filepath.Ext(path), ".jsonl"):
		return d.readLines()
	case isTOMLName(path):
		list, err := ParseCodex(d.data)
		return &Content{Servers: list}, d.nameFile(err)
	case start[0] == '{' || start[0] == '[' || start[0] == '/' || isJSONName(path):
		err := d.checkJSON()
		if err == nil {
			return d.readJSON()
		}
		if isJSONName(path) || start[0] == '/' {
			return nil, err
		}
	}
	return d.readYAML()
}

// kinds is the hint for a file of another kind.
const kinds = "a tools/list dump, a catalogue file, an overlay or an mcpServers file is expected"

func isJSONName(path string) bool { return strings.EqualFold(filepath.Ext(path), ".json") }

// readJSON decides by the members of the top object, or of a JSON-RPC result in it, what the file is.
func (d *document) readJSON() (*Content, error) {
	whole := span{raw: d.data}
	if whole.kind() == '[' {
		return d.readDump(whole)
	}
	top := map[string]span{}
	if err := whole.eachMember(func(k string, v span) error { top[k] = v; return nil }); err != nil {
		return nil, err
	}
	if result, ok := top["result"]; ok { // a JSON-RPC response
		top = map[string]span{}
		if err := result.eachMember(func(k string, v span) error { top[k] = v; return nil }); err != nil {
			return nil, err
		}
	}
	_, catalogue := top["catalogue"]
	_, overlay := top["overlay"]
	_, server := top["server"]
	servers := top["servers"]
	switch {
	case top["mcpServers"].kind() == '{', top["mcp"].kind() == '{', servers.kind() == '{':
		list, err := ParseServers(d.data)
		return &Content{Servers: list}, d.nameFile(err)
	case catalogue, overlay, server, servers.kind() == '[':
		return d.readCatalogue(node{d: d, json: whole})
	case top["tools"].kind() == '[':
		return d.readDump(top["tools"])
	}
	if top["mcpServers"].kind() == 'n' {
		list, err := ParseServers(d.data) // which says that there are none
		return &Content{Servers: list}, d.nameFile(err)
	}
	if e, ok := top["error"]; ok {
		return nil, d.invalidAt(0, nil, "ask the server again", "holds an error that a server answered: %.200s", e.raw)
	}
	return nil, d.invalidAt(0, nil, kinds, "holds neither tools nor servers")
}

// nameFile adds the name of the file to an error that lacks it.
func (d *document) nameFile(err error) error {
	var e *tool.Error
	if errors.As(err, &e) {
		return d.invalidAt(0, e.Err, e.Hint, "%s", e.Msg)
	}
	return err
}
