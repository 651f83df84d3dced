package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"unicode/utf8"

	"tooldex/catalog/sources"
	"tooldex/tool"
	"tooldex/upstream"
)

// Document is a client's file as it was read. Its methods do not change it, and return texts of their own.
type Document struct {
	File
	Text   []byte // nil for a file that does not exist
	Exists bool
	Denied []string // rules of the client's permissions that forbid tools
}

// Own is the server that is written into a client's file: tooldex itself.
type Own struct {
	Name    string
	Command string
	Args    []string
}

// Entry is one server of a document. Servers of one name in several sections are several entries.
type Entry struct {
	Name    string
	Section []string
	Server  upstream.Server
	Err     error    // why it cannot be used; Server then has only a name
	Lost    []string // keys that have a meaning for the client only
	Filter  Filter   // which of its tools the client shows
	Stays   string   // why it has to stay with the client; "" if it need not
}

// Read reads a client's file without parsing it. A missing file is an empty document. The error is Invalid for a file
// that cannot be read.
func Read(f File) (*Document, error) {
	text, err := os.ReadFile(f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Document{File: f}, nil
	case err != nil:
		return nil, readError(f.Path, err)
	}
	denied, err := readDenied(f.Permissions)
	return &Document{File: f, Text: text, Exists: true, Denied: denied}, err
}

// Servers lists the servers of the document, by section and then in the order of their names. The error is Invalid for
// a text that is not in the client's format; a single server that cannot be used says so in its entry.
func (d *Document) Servers() ([]Entry, error) {
	tree, err := d.parseTree(d.Text)
	if err != nil {
		return nil, err
	}
	var out []Entry
	for _, section := range d.Sections {
		servers, _ := followPath(tree, section).(map[string]any)
		for _, name := range sortedKeys(servers) {
			value, ok := d.Dialect.standardEntry(servers[name])
			if !ok {
				continue
			}
			e := Entry{Name: name, Section: section, Server: upstream.Server{Name: name}}
			var err error
			if e.Filter, err = d.Dialect.entryFilter(value); err == nil {
				err = d.separateFilter(tree, name, &e.Filter)
			}
			if err != nil {
				e.Stays = err.Error()
			}
			e.Lost = lostKeys(value, d.Format, e.Filter)
			if server, err := d.parseServer(name, value); err != nil {
				e.Err = err
			} else {
				e.Server = server
			}
			out = append(out, e)
		}
	}
	return out, nil
}

// parseServer parses one server by the parser of package sources, so that both accept the same.
func (d *Document) parseServer(name string, value any) (upstream.Server, error) {
	var list []upstream.Server
	var err error
	if d.Format == TOML {
		var b bytes.Buffer
		if err := encodeTOML(&b, map[string]any{"mcp_servers": map[string]any{name: value}}); err != nil {
			return upstream.Server{}, d.invalidFile("server "+name+" cannot be read", err)
		}
		list, err = sources.ParseCodex(b.Bytes())
	} else {
		list, err = sources.ParseServers([]byte(encodeJSON(map[string]any{"mcpServers": map[string]any{name: value}},
			"", "")))
	}
	if err != nil {
		return upstream.Server{}, err
	}
	return list[0], nil
}

// Replace returns the text with own added to the first section, and without the servers of gone and any other server of
// own's name. If the document says so already, its text is returned byte for byte. The error is Invalid for a file that
// cannot be edited safely: its servers must then be moved by hand.
func (d *Document) Replace(own Own, gone []Entry) ([]byte, error) {
	if _, err := d.parseTree(d.Text); err != nil {
		return nil, err
	}
	gone = slices.DeleteFunc(slices.Clone(gone), func(e Entry) bool { return e.Name == own.Name })
	// The formats differ in the order of removing and adding, since an edit must not lose the place where the servers
	// are: TOML adds where the first one was, YAML must not empty its section, and JSON adds at the head.
	text := d.Text
	names := []string{own.Name}
	for _, e := range gone {
		names = append(names, e.Name)
	}
	switch d.Format {
	case TOML:
		var at int
		text, at = tomlRemove(text, d.Sections[0], names)
		text = tomlInsert(text, at, d.Sections[0], own)
	case YAML:
		// first insert: the section must not become empty in between
		with, ok := yamlInsert(text, d.Sections[0][0], d.ownLines(own), d.Dialect == Continue)
		if !ok {
			return nil, d.invalidFile("its servers are not where they are expected", nil)
		}
		text = yamlRemove(with, d.Sections[0][0], names, 1)
	case JSON:
		for _, section := range d.Sections {
			text = jsonRemove(text, section, own.Name)
		}
		var ok bool
		if text, ok = jsonInsert(text, d.Sections[0], own.Name, d.ownEntry(own)); !ok {
			return nil, d.invalidFile("its servers are not where they are expected", nil)
		}
		for _, e := range gone {
			text = jsonRemove(text, e.Section, e.Name)
		}
	}
	// The same change on the parsed values must give the same result as the edit of the text.
	err := d.verifyEdit(text, func(tree map[string]any) {
		for _, section := range d.Sections {
			removeMember(tree, section, own.Name)
		}
		for _, e := range gone {
			removeMember(tree, e.Section, e.Name)
		}
		putMember(tree, d.Sections[0], own.Name, d.decodedEntry(own))
	})
	// If the values did not change, the file keeps its layout to the byte.
	if err == nil && d.verifyEdit(text, func(map[string]any) {}) == nil { // it says that already
		return d.Text, nil
	}
	return text, err
}

// Raw returns a server as it is written in the text: the value in JSON, the lines of its tables in TOML. It returns
// false if there is none, or if it cannot be separated from the rest.
func (d *Document) Raw(section []string, name string) (string, bool) {
	switch d.Format {
	case TOML:
		return tomlRaw(d.Text, section, name)
	case YAML:
		return yamlRaw(d.Text, section[0], name)
	case JSON:
	}
	o, depth, ok := jsonFind(jsonPlain(d.Text), section)
	i := o.Last(name)
	if !ok || depth < len(section) || i < 0 {
		return "", false
	}
	m := o.Members[i]
	return string(d.Text[m.Value:m.End]), true
}

// Restore is the inverse of Replace, for a file that the client has changed since: it removes own, and adds the servers
// of gone as they are written in before. Servers that the file has again are left alone. The error is Invalid if that
// cannot be done safely.
func (d *Document) Restore(own string, before *Document, gone []Entry) ([]byte, error) {
	tree, err := d.parseTree(d.Text)
	if err != nil {
		return nil, err
	}
	old, err := d.parseTree(before.Text)
	if err != nil {
		return nil, err
	}
	// a server that the user added again since has precedence
	back := slices.DeleteFunc(slices.Clone(gone), func(e Entry) bool {
		return childOf(followPath(tree, e.Section), e.Name) != nil
	})
	text := d.Text
	if d.Format == TOML {
		text, _ = tomlRemove(text, d.Sections[0], []string{own})
	}
	// Insertion is at the head, so the last one goes first.
	for _, e := range slices.Backward(back) {
		raw, ok := before.Raw(e.Section, e.Name)
		if ok && d.Format == TOML {
			text = slices.Concat(bytes.TrimRight(text, "\r\n"), []byte("\n\n"+raw))
		} else if ok && d.Format == YAML {
			text, ok = yamlInsert(text, e.Section[0], raw, d.Dialect == Continue)
		} else if ok {
			text, ok = jsonInsert(text, e.Section, e.Name, json.RawMessage(raw))
		}
		if !ok {
			return nil, d.invalidFile("server "+e.Name+" cannot be put back", nil)
		}
	}
	for _, section := range d.Sections {
		if d.Format == JSON {
			text = jsonRemove(text, section, own)
		}
	}
	if d.Format == YAML {
		text = yamlRemove(text, d.Sections[0][0], []string{own}, 0)
	}
	return text, d.verifyEdit(text, func(tree map[string]any) {
		for _, section := range d.Sections {
			removeMember(tree, section, own)
		}
		for _, e := range back {
			putMember(tree, e.Section, e.Name, childOf(followPath(old, e.Section), e.Name))
		}
	})
}

// verifyEdit parses an edited text and compares it with the values of the document after change. It is what makes edits
// safe: the editing functions may misjudge unusual layouts, and verify rejects the result then.
func (d *Document) verifyEdit(text []byte, change func(map[string]any)) error {
	// Empty objects are ignored in the comparison: removing the last server may leave one.
	want, err := d.parseTree(d.Text)
	if err != nil {
		return err
	}
	change(want)
	got, err := d.parseTree(text)
	if err != nil || !reflect.DeepEqual(withoutEmpty(got), withoutEmpty(want)) {
		return d.invalidFile("it is written in a way that cannot be edited safely", err)
	}
	return nil
}

// parseTree parses a text. Numbers in JSON keep their spelling; an empty text is an empty object. The error is Invalid.
func (d *Document) parseTree(text []byte) (map[string]any, error) {
	if len(bytes.TrimSpace(bytes.TrimPrefix(text, bom))) == 0 {
		return map[string]any{}, nil
	}
	if d.Format == TOML {
		out, err := tomlTree(text)
		if err != nil {
			return nil, d.invalidFile("it is not TOML", err)
		}
		return out, nil
	}
	if d.Format == YAML {
		out, err := yamlTree(text, d.Sections)
		if err != nil {
			return nil, d.invalidFile("it is not YAML as expected", err)
		}
		return out, nil
	}
	dec := json.NewDecoder(bytes.NewReader(jsonPlain(text)))
	// so that large numbers and their spelling survive the comparison
	dec.UseNumber()
	var out map[string]any
	err := dec.Decode(&out)
	if err == nil && dec.More() {
		err = errors.New("something follows the object")
	}
	if err == nil && out == nil {
		err = errors.New("null")
	}
	var other *json.UnmarshalTypeError
	switch {
	case errors.As(err, &other):
		return nil, d.invalidFile("it holds a JSON "+other.Value+", and no object", nil)
	case bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")):
		return nil, &tool.Error{
			Code: tool.Invalid, Op: "edit client", Msg: d.Path + " is written in UTF-16",
			Hint: "save it as UTF-8",
		}
	case err != nil:
		return nil, d.invalidFile("it is not a JSON object"+placeOf(text, err), err)
	}
	return out, nil
}

// placeOf says where in a text an error of its JSON is: " at line 3, column 7"; "" if that is not known. Columns count
// characters from 1.
func placeOf(text []byte, err error) string {
	var syntax *json.SyntaxError
	at := int64(len(text))
	switch {
	case errors.As(err, &syntax):
		at = min(max(syntax.Offset-1, 0), at)
	case !errors.Is(err, io.ErrUnexpectedEOF):
		return ""
	}
	before := text[:at]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf(" at line %d, column %d", line, column)
}

// invalidFile returns the Invalid error for a document, whose path it names. err may be nil.
func (d *Document) invalidFile(why string, err error) error {
	return &tool.Error{
		Code: tool.Invalid, Op: "edit client", Msg: d.Path + ": " + why,
		Hint: "correct the file, or edit it by hand", Err: err,
	}
}
