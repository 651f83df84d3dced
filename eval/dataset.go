package eval

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"tooldex/tool"
)

// Dataset is a catalogue of tools with labelled requests for them. It is read-only once loaded, and then safe for
// concurrent use.
type Dataset struct {
	Name  string // of the folder; "" after LoadFS, for the caller to set
	Tools []*tool.Tool
	Cases []Case
	// Notes lists what was repaired in loading, one line each.
	Notes []string

	// labels has the set's name of each tool, known the names that cases may use.
	labels map[tool.ID]string
	known  map[string]bool
}

// Case is one labelled request. Its tool names are those of the set, unchanged.
type Case struct {
	ID       string
	Query    string
	Relevant []string // without repeats; empty if no tool serves
	Any      bool     // one of Relevant is enough
	// AllOf holds, for a request with several needs, the tools that meet each: one of every group is wanted.
	AllOf [][]string
	// Steps holds the request of each step of a task, in the order of AllOf, whose groups are then the tools of the
	// steps. It is nil where only the whole task is put.
	Steps    []string
	Grades   map[string]float64 // how well each tool serves, 0 or more; nil means all of Relevant equally
	Kind     string
	Lang     string
	Split    string
	NearMiss bool // no tool serves, although the catalogue knows the request's words
	// Unreviewed is set where the file has "reviewed": false: the labels were not checked yet. The request counts all
	// the same, and Report.Unreviewed is the number of these.
	Unreviewed bool
}

// NoMatch reports whether no tool of the set serves the request.
func (c *Case) NoMatch() bool { return len(c.Relevant) == 0 }

// Label returns the set's own name of a tool, or the ID itself for a tool that is not of the set.
func (d *Dataset) Label(id tool.ID) string {
	if name, ok := d.labels[id]; ok {
		return name
	}
	return string(id)
}

// IDs returns the tools that go by a name of the set. There are several where the set has several tools of one name.
func (d *Dataset) IDs(label string) []tool.ID {
	var out []tool.ID
	for _, t := range d.Tools {
		if id := t.ID(); d.Label(id) == label {
			out = append(out, id)
		}
	}
	return out
}

// toolsFile is the name of the catalogue in a set.
const toolsFile = "tools.jsonl"

// caseFiles are the names that labelled requests may have in a set.
var caseFiles = [...]string{"queries.jsonl", "queries.yaml", "queries.yml"}

// Load reads the set in folder dir: tools.jsonl, and queries.jsonl, queries.yaml or queries.yml.
//
// A tool's name in the set becomes a [tool.Tool] as follows, and Label leads back. Its server is the set's `server`, or
// "set" where there is none, with "/" as "_". Its name is the set's `name`; of one that begins with the server's name
// and "__" it is what follows, however the two spell what is neither letter nor digit. `parameters` are kept byte for
// byte. Of two tools with the same server and name the second is dropped if it is the same in everything, and is kept
// as name#2 if not; Label gives the set's own name for both, and Notes says so.
//
// Errors are NotFound for a file that is not there, and otherwise Invalid with file and line: JSON that cannot be read,
// a tool without a name, a request without text or labels, that names an unknown tool or an ID twice, a task whose
// steps name no tools or only in part have requests, a line over 16 MiB.
func Load(dir string) (*Dataset, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("locate set: %w", err)
	}
	d, err := loadSet(os.DirFS(dir), filepath.ToSlash(dir))
	if err != nil {
		return nil, err
	}
	d.Name = filepath.Base(abs)
	return d, nil
}

// LoadFS reads the set at the root of fsys, as Load does. Use fs.Sub for one that lies deeper.
func LoadFS(fsys fs.FS) (*Dataset, error) { return loadSet(fsys, "") }

// LoadCases reads labelled requests, JSON lines or YAML by the file's ending, for a catalogue that is already known.
// They may name a tool as [tool.Set.Resolve] allows. The names in the Dataset are IDs. Errors are those of Load.
func LoadCases(file string, set *tool.Set) (*Dataset, error) {
	d := NewDataset(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), set)
	resolve := func(name string) (string, error) {
		t, err := set.Resolve(name)
		if err != nil {
			return "", err
		}
		return string(t.ID()), nil
	}
	dir, base := filepath.Split(file)
	if dir == "" {
		dir = "."
	}
	var err error
	if d.Cases, err = readCases(os.DirFS(dir), base, filepath.ToSlash(file), resolve); err != nil {
		return nil, err
	}
	return d, nil
}

// NewDataset returns a set without requests: the tools of a catalogue, by their IDs.
func NewDataset(name string, set *tool.Set) *Dataset {
	d := &Dataset{Name: name, Tools: set.All()}
	d.indexLabels(func(t *tool.Tool) string { return string(t.ID()) })
	return d
}

// loadSet reads a set; prefix is the folder's name in error messages.
func loadSet(fsys fs.FS, prefix string) (*Dataset, error) {
	d := &Dataset{}
	if err := d.readTools(fsys, path.Join(prefix, toolsFile)); err != nil {
		return nil, err
	}
	file, err := findCases(fsys, prefix)
	if err != nil {
		return nil, err
	}
	resolve := func(name string) (string, error) {
		if !d.known[name] {
			return "", &tool.Error{
				Code: tool.Invalid, Msg: fmt.Sprintf("no tool of the set is named %q", name),
				Hint: "names must be those of " + toolsFile + ", letter for letter",
			}
		}
		return name, nil
	}
	d.Cases, err = readCases(fsys, file, path.Join(prefix, file), resolve)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// findCases returns the name of the one case file in fsys. Two are an error, since choosing one would be a guess.
func findCases(fsys fs.FS, prefix string) (string, error) {
	var found []string
	for _, name := range caseFiles {
		if _, err := fs.Stat(fsys, name); err == nil {
			found = append(found, name)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", missingFile(path.Join(prefix, caseFiles[0]), fs.ErrNotExist)
	}
	return "", &tool.Error{
		Code: tool.Invalid, Op: "load set",
		Msg: "set has both " + strings.Join(found, " and "), Hint: "keep one of them",
	}
}

// indexLabels fills labels and known for Tools.
func (d *Dataset) indexLabels(label func(*tool.Tool) string) {
	d.labels = make(map[tool.ID]string, len(d.Tools))
	d.known = make(map[string]bool, len(d.Tools))
	for _, t := range d.Tools {
		name := label(t)
		d.labels[t.ID()] = name
		d.known[name] = true
	}
}

// missingFile returns the error of a file that cannot be opened: NotFound if it does not exist, else Invalid.
func missingFile(file string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return &tool.Error{Code: tool.Invalid, Op: "load set", Msg: file + " cannot be read", Err: err}
	}
	return &tool.Error{
		Code: tool.NotFound, Op: "load set", Msg: file + " does not exist", Err: err,
		Hint: "a set is a folder with tools.jsonl and queries.jsonl (or queries.yaml)",
	}
}

// badLine returns the Invalid error of one line of a data set, naming file and line.
func badLine(file string, line int, msg, hint string, err error) error {
	return &tool.Error{
		Code: tool.Invalid, Op: "load set", Msg: fmt.Sprintf("%s:%d: %s", file, line, msg), Hint: hint,
		Err: err,
	}
}
