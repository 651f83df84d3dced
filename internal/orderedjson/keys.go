package orderedjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"tooldex/tool"
)

// CheckKeys returns an Invalid error if an object in b has a key twice: readers disagree on which value counts, so that
// one would check what another does not use. In the outermost object, keys that differ by case alone are the same, as
// they are to encoding/json. For text that is not JSON it returns nil: decoding it will return an error. The depth of b
// must have been checked.
func CheckKeys(b []byte) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	return checkKeys(dec, strings.ToLower)
}

// checkKeys reads the next value. same returns what two keys have in common that are the same.
func checkKeys(dec *json.Decoder, same func(string) string) error {
	open, err := dec.Token()
	if delim, ok := open.(json.Delim); err != nil || !ok || delim != '{' && delim != '[' {
		return nil
	}
	seen := map[string]bool{}
	for dec.More() {
		if open == json.Delim('{') {
			key, err := dec.Token()
			name, ok := key.(string)
			if err != nil || !ok {
				return nil
			}
			if seen[same(name)] {
				return &tool.Error{
					Code: tool.Invalid, Op: "read json", Msg: fmt.Sprintf("the JSON has the key %.80q twice in one object", name),
					Hint: "give each key once",
				}
			}
			seen[same(name)] = true
		}
		before := dec.InputOffset()
		if err := checkKeys(dec, strings.Clone); err != nil {
			return err
		}
		if dec.InputOffset() == before { // it is not JSON from here on
			return nil
		}
	}
	_, _ = dec.Token() // the end of the object or list, unless it is not JSON
	return nil
}
