package validate

import (
	"encoding/json"
	"errors"
	"testing"
)

func TestNearest(t *testing.T) {
	among := []string{"path", "limit", "head", "repository_name"}
	for name, want := range map[string]string{
		"file_path": "path", "PATH": "path", "limits": "limit", "limt": "limit", "repositoryName": "repository_name",
		"repo_name": "", "colour": "", "": "", "p": "",
	} {
		if got := Nearest(name, among); got != want {
			t.Errorf("%q is near %q, want %q", name, got, want)
		}
	}
}

// An argument that is unknown and close to one that is known is named with it, also where the schema permits others.
func TestUnknownArguments(t *testing.T) {
	for _, tt := range []struct{ name, more, args, want string }{
		{
			"forbidden", `,"additionalProperties":false`, `{"file_path":"x"}`,
			"arguments of read do not fit: file_path not known: did you mean path?; path missing, but required",
		},
		{
			"permitted", ``, `{"file_path":"x"}`,
			"arguments of read do not fit: path missing, but required; file_path not known: did you mean path?",
		},
		{"nothing like it", ``, `{"colour":"x"}`, "arguments of read do not fit: path missing, but required"},
		{"permitted beside all others", ``, `{"path":"x","file_path":"y"}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			schema := json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"head":{"type":"integer"}},` +
				`"required":["path"]` + tt.more + `}`)
			err := new(Schemas).Of("read", schema).CheckArguments("read", json.RawMessage(tt.args))
			got := ""
			if m := (*Mismatch)(nil); errors.As(err, &m) {
				got = m.Message("read")
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
