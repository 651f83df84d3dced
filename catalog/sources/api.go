package sources

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"tooldex/upstream"
)

// NewAPI completes a server that has a description by what a person typed: a name, and the address of the API if need
// be. A file becomes its whole path, so that a process in another folder finds it. The error is Invalid.
func NewAPI(v upstream.Server, transport string, typed []string) (upstream.Server, error) {
	v.Name, v.Transport = typed[0], upstream.Transport(transport)
	if len(typed) > 2 || transport != "" && v.Transport != upstream.OpenAPI {
		return v, badServers(fmt.Sprintf("API %q has arguments or another transport", v.Name),
			"give a name, and the address of the API if need be", nil)
	}
	if len(typed) == 2 {
		v.URL = typed[1]
	}
	if !strings.Contains(v.OpenAPI, "://") && !strings.Contains(v.OpenAPI, "${") {
		if whole, err := filepath.Abs(v.OpenAPI); err == nil {
			v.OpenAPI = whole
		}
	}
	return v, nil
}

// checkAPI returns the error of CheckServer for an API with an OpenAPI description. Credentials are only taken as
// references, so that none is stored.
func checkAPI(v upstream.Server, bad func(msg, hint string) error) error {
	switch {
	case v.OpenAPI == "":
		return bad("uses openapi but names no description", "give its file or address as openapi")
	case v.Command != "":
		return bad("has both a description and a command", "leave one out")
	case v.Isolate != nil:
		return bad("has an isolate but no command", "leave isolate out: an API is not a process of this machine")
	}
	for _, name := range slices.Sorted(maps.Keys(v.Auth)) {
		if !strings.Contains(v.Auth[name], "${") {
			return bad(fmt.Sprintf("has the secret itself as auth.%.60s", name),
				"give it as ${VAR}, which is read from the environment")
		}
	}
	return nil
}
