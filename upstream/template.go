package upstream

import "strings"

// FitsTemplate reports whether a URI may come from a template: whether the texts between the template's expressions
// occur in it, in order. The server checks the expressions itself.
func FitsTemplate(template, uri string) bool {
	if template == uri { // a client that completes an argument names the template itself
		return true
	}
	text, rest, found := strings.Cut(template, "{")
	if !found {
		return false
	}
	if text == "" || !strings.HasPrefix(uri, text) { // a template that fits every URI identifies no server
		return false
	}
	uri = uri[len(text):]
	for found {
		_, rest, _ = strings.Cut(rest, "}")
		text, rest, found = strings.Cut(rest, "{")
		at := strings.Index(uri, text)
		if !found && text != "" {
			return strings.HasSuffix(uri, text)
		}
		if at < 0 {
			return false
		}
		uri = uri[at+len(text):]
	}
	return true
}
