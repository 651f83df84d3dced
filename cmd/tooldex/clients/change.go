package clients

import (
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"tooldex/tool"
)

// Diff returns what an edit of a file changes, as a unified diff.
func Diff(path string, before, after []byte) string {
	text := string(diff.Diff(path, before, path+" (new)", after))
	_, text, _ = strings.Cut(text, "\n") // the first line repeats the names that follow
	return text
}

// Restore returns the text of a file that the client has changed since, now, with the servers put back that it had
// before the change. The error is Invalid if that cannot be done safely.
func (c Client) Restore(p Place, change Change, now, before []byte) ([]byte, error) {
	// The path may have been given with --file. The format is then that of the client's first file.
	file := File{Client: c.Name, Path: change.Path}
	for _, one := range c.Files(p) {
		if one.Path == change.Path || file.Sections == nil {
			file.Format, file.Sections = one.Format, one.Sections
		}
	}
	var gone []Entry
	for _, taken := range change.Gone {
		gone = append(gone, Entry{Name: taken.Name, Section: taken.Section})
		if !slices.ContainsFunc(file.Sections, func(s []string) bool { return slices.Equal(s, taken.Section) }) {
			file.Sections = append(slices.Clone(file.Sections), taken.Section)
		}
	}
	d := &Document{File: file, Text: now, Exists: true}
	text, err := d.Restore(change.Own, &Document{File: file, Text: before, Exists: true}, gone)
	if err != nil {
		return nil, &tool.Error{
			Code: tool.Invalid, Op: "undo",
			Msg:  change.Path + " was changed since, and its servers cannot be put back",
			Hint: "it lies as it was in " + change.Before(), Err: err,
		}
	}
	return text, nil
}

// ReadAll reads the files of the named clients, or the named files; without names, those of all clients. A missing file
// is an error only if it was named itself. Documents that can be read are returned together with the errors of the
// others. A name that is neither a client nor looks like a file is an *UnknownError.
func ReadAll(p Place, names []string) ([]*Document, error) {
	if len(names) == 0 {
		names = Names()
	}
	docs := []*Document{}
	var errs error
	for _, name := range names {
		files := []File{AnyFile(name)}
		c, known := Named(name)
		if known {
			files = c.Files(p)
		} else if _, err := os.Stat(name); err != nil {
			if !strings.ContainsAny(name, `./\`) {
				return nil, &UnknownError{Name: name}
			}
			errs = errors.Join(errs, readError(name, err))
			continue
		}
		for _, f := range files {
			d, err := Read(f)
			if err != nil {
				errs = errors.Join(errs, err)
			} else if d.Exists {
				docs = append(docs, d)
			}
		}
	}
	return docs, errs
}

// UnknownError is the name of no client.
type UnknownError struct{ Name string }

// Error implements error.
func (e *UnknownError) Error() string { return "unknown client \"" + e.Name + "\"" }

// readError returns the Invalid error for a client's file that cannot be read.
func readError(path string, err error) error {
	return &tool.Error{
		Code: tool.Invalid, Op: "read client", Msg: path + " cannot be read",
		Hint: "see that it is a file that you may read", Err: err,
	}
}
