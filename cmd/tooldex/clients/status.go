package clients

import (
	"path/filepath"

	"tooldex/config"
	"tooldex/tool"
)

// The states of a client.
const (
	Connected    = "connected"
	NotConnected = "not connected"
	NoFile       = "no file"    // the client is not installed, or has no servers yet
	Unreadable   = "unreadable" // Status.Why says why
)

// Status reports whether a client uses tooldex.
type Status struct {
	Client  string `json:"client"`
	Title   string `json:"title"`
	State   string `json:"state"`
	Servers int    `json:"servers"` // those beside tooldex in its file
	File    string `json:"file,omitempty"`
	Why     string `json:"why,omitempty"`
	Undo    bool   `json:"undo"` // a change of one of its files can be taken back
}

// States returns the status of all clients, by the user's own files. The changes are those that k keeps.
func States(p Place, k Keeper) []Status {
	var out []Status
	for _, c := range Known() {
		s := Status{Client: c.Name, Title: c.Title, State: NoFile}
		_, _, err := k.Last(c.Name, "")
		s.Undo = err == nil
		d, err := c.Document(p, false, "")
		if d != nil {
			s.File = d.Path
		}
		if err == nil && d.Exists {
			err = s.count(d)
		}
		if err != nil && d != nil {
			s.State, s.Why = Unreadable, err.Error()
		}
		out = append(out, s)
	}
	return out
}

// count sets the state and the number of servers from a document that exists.
func (s *Status) count(d *Document) error {
	entries, err := d.Servers()
	s.State = NotConnected
	for _, e := range entries {
		if e.Err == nil && config.IsTooldex(e.Server) {
			s.State = Connected
		} else {
			s.Servers++
		}
	}
	return err
}

// Document reads the file of a client that is to be changed: the first that exists, or an empty document for the first
// of all. Project chooses the files of this folder; a path that is not "" takes the place of theirs. The error is
// Invalid for a file that cannot be read, which the document then names, and NotFound if there is no such file here.
func (c Client) Document(p Place, project bool, path string) (*Document, error) {
	var out *Document
	for _, file := range c.Files(p) {
		if file.Project != project {
			continue
		}
		if path != "" {
			full, err := filepath.Abs(path)
			if err != nil {
				return nil, readError(path, err)
			}
			file.Path = full
		}
		d, err := Read(file)
		if err != nil {
			return &Document{File: file}, err
		}
		if d.Exists {
			return d, nil
		}
		if out == nil {
			out = d
		}
	}
	if out == nil {
		return nil, &tool.Error{
			Code: tool.NotFound, Op: "find client", Msg: c.Title + " has no such file here", Hint: "give --file",
		}
	}
	return out, nil
}
