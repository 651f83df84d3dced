package redact

import "net/url"

// Address returns the address of a database, as a person wrote it, without its password and without parameters whose
// names suggest a secret, however short or odd those are. Of what is no URL it returns the Mark alone.
func Address(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme == "" || u.Opaque != "" {
		return Mark
	}
	name := u.User.Username()
	_, has := u.User.Password()
	u.User = nil
	q := u.Query()
	for key := range q {
		if Name(key) {
			q.Set(key, Mark)
		}
	}
	u.RawQuery, u.Fragment = "", ""
	out := u.Scheme + "://"
	switch {
	case has:
		out += url.User(name).String() + ":" + Mark + "@"
	case name != "":
		out += url.User(name).String() + "@"
	}
	out += u.Host + u.EscapedPath()
	if len(q) > 0 {
		text, err := url.QueryUnescape(q.Encode())
		if err != nil {
			return Mark
		}
		out += "?" + text
	}
	return out
}
