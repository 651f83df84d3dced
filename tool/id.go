package tool

import "strings"

// ID names one tool of one server, as "server/name". The server part never holds a slash, the name part may.
type ID string

// MakeID joins a server's and a tool's name.
func MakeID(server, name string) ID { return ID(server + "/" + name) }

// ParseID checks that s has the form "server/name" with neither part empty. It returns an Invalid error otherwise.
func ParseID(s string) (ID, error) {
	server, name, ok := strings.Cut(s, "/")
	if !ok || server == "" || name == "" {
		return "", &Error{
			Code: Invalid, Op: "parse id", Msg: "tool id " + quoteName(s) + " is not of the form server/name",
			Hint: "give it as server/name, for example github/create_issue",
		}
	}
	return ID(s), nil
}

// Server returns the part before the first slash, or "" if there is none.
func (id ID) Server() string {
	server, _, ok := strings.Cut(string(id), "/")
	if !ok {
		return ""
	}
	return server
}

// Name returns the part after the first slash, or all of id if there is none.
func (id ID) Name() string {
	if _, name, ok := strings.Cut(string(id), "/"); ok {
		return name
	}
	return string(id)
}
