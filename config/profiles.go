package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"

	"tooldex/internal/sanitize"
	"tooldex/tool"
)

// Profile is a named subset of the tools, with an endpoint of its own. The zero value has all tools and the settings of
// serve.
type Profile struct {
	Mode    string   `yaml:"mode"`    // one of Modes; "" for that of serve.mode
	Servers []string `yaml:"servers"` // whose tools the profile has; empty for all
	Always  []string `yaml:"always"`  // tools that are always listed
	Summary string   `yaml:"summary"` // how search_tools describes it; "" for that of the catalogue
	// Confirm is one of ConfirmModes, "" for serve.confirm. The two lists add to those of serve.
	Confirm       string   `yaml:"confirm"`
	ConfirmTools  []string `yaml:"confirmTools"`
	ConfirmExcept []string `yaml:"confirmExcept"`
}

// profileName matches what can be a part of a URL without any escape.
var profileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// readProfiles reads a file of profiles. It must exist.
func readProfiles(path string) (map[string]Profile, error) {
	b, err := readBounded(path)
	if err != nil {
		return nil, unreadableFile("read profiles", path, err)
	}
	profiles, err := parseProfiles(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return profiles, nil
}

// parseProfiles reads YAML or JSON: {"profiles": {"name": {"mode": …, "servers": […], "always": […], "summary":
// …, "confirm": …}}}. Its errors are of code Invalid.
func parseProfiles(b []byte) (map[string]Profile, error) {
	var file struct {
		Profiles map[string]Profile `yaml:"profiles"`
	}
	dec := yaml.NewDecoder(bytes.NewReader(b))
	dec.KnownFields(true)
	if err := dec.Decode(&file); err != nil && !errors.Is(err, io.EOF) {
		return nil, &tool.Error{
			Code: tool.Invalid, Op: "read profiles", Msg: "profiles cannot be read: " + sanitize.YAMLMistake(err),
			Err:  err,
			Hint: "a profile has mode, servers, always, summary, confirm, confirmTools and confirmExcept",
		}
	}
	for _, name := range slices.Sorted(maps.Keys(file.Profiles)) {
		p := file.Profiles[name]
		msg, hint := "", ""
		switch {
		case !profileName.MatchString(name):
			msg = fmt.Sprintf("%q cannot be the name of a profile", name)
			hint = "use letters, digits, dots, hyphens and underscores, 64 at most"
		case p.Confirm != "" && !slices.Contains(ConfirmModes(), p.Confirm):
			msg = fmt.Sprintf("profile %s: confirm cannot be %q", name, p.Confirm)
			hint = "use " + joinChoices(ConfirmModes())
		case p.Mode != "" && !IsMode(p.Mode):
			msg = fmt.Sprintf("profile %s: unknown mode %q", name, p.Mode)
			hint = "use " + joinChoices(Modes())
		default:
			continue
		}
		return nil, &tool.Error{Code: tool.Invalid, Op: "read profiles", Msg: msg, Hint: hint}
	}
	return file.Profiles, nil
}

// IsMode reports whether a name is that of a mode.
func IsMode(name string) bool { return slices.Contains(Modes(), name) }
