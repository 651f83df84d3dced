package sanitize

import "strings"

// YAMLMistake says in one line what is wrong with a YAML text: what the decoder's error says first, without its list of
// all lines.
func YAMLMistake(err error) string {
	line, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "yaml: unmarshal errors:\n  "), "\n")
	return strings.TrimPrefix(line, "yaml: ")
}
