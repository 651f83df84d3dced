package sanitize

import "strings"

// YAMLMistake returns the first line of a YAML decoder's error, without its prefixes. The error must not be nil.
func YAMLMistake(err error) string {
	line, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "yaml: unmarshal errors:\n  "), "\n")
	return strings.TrimPrefix(line, "yaml: ")
}
