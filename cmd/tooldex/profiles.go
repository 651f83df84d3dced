package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"tooldex/confirm"
	"tooldex/mcpsrv"
	"tooldex/tool"
)

// profile is a named subset of tools, with an endpoint of its own.
type profile struct {
	Mode    mcpsrv.Mode `yaml:"mode"`    // "" means that of the whole
	Servers []string    `yaml:"servers"` // whose tools there are; empty means all
	Always  []string    `yaml:"always"`  // tools that are always listed
	Summary string      `yaml:"summary"` // in place of that of the catalogue; "" means none
	// Confirm says which tools need confirmation, "" as the whole does; the names add to those of the whole.
	Confirm       confirm.Mode `yaml:"confirm"`
	ConfirmTools  []string     `yaml:"confirmTools"`
	ConfirmExcept []string     `yaml:"confirmExcept"`
}

// profileName is what a part of a URL may be without any escape.
var profileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// readProfiles reads a file of profiles.
func readProfiles(path string) (map[string]profile, error) {
	b, err := readSmall(path)
	if err != nil {
		return nil, fileError("read profiles", path, err)
	}
	profiles, err := parseProfiles(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return profiles, nil
}

// parseProfiles reads YAML or JSON: {"profiles": {"name": {"mode": …, "servers": […], "always": […], "summary": …,
// "confirm": …}}}. Its errors are of code Invalid.
func parseProfiles(b []byte) (map[string]profile, error) {
	var file struct {
		Profiles map[string]profile `yaml:"profiles"`
	}
	dec := yaml.NewDecoder(bytes.NewReader(b))
	dec.KnownFields(true)
	if err := dec.Decode(&file); err != nil && !errors.Is(err, io.EOF) {
		return nil, &tool.Error{Code: tool.Invalid, Op: "read profiles", Msg: "profiles cannot be read: " +
			tool.YAMLMistake(err), Hint: "a profile has mode, servers, always, summary, confirm, confirmTools and confirmExcept", Err: err}
	}
	for _, name := range slices.Sorted(maps.Keys(file.Profiles)) {
		if !profileName.MatchString(name) {
			return nil, &tool.Error{
				Code: tool.Invalid, Op: "read profiles",
				Msg:  fmt.Sprintf("%q cannot be the name of a profile", name),
				Hint: "use letters, digits, dots, hyphens and underscores, 64 at most",
			}
		}
		if err := file.Profiles[name].Confirm.Check(); err != nil {
			return nil, &tool.Error{
				Code: tool.Invalid, Op: "read profiles",
				Msg:  fmt.Sprintf("profile %s: confirm is %q", name, file.Profiles[name].Confirm),
				Hint: "use off, annotated, destructive or writes",
			}
		}
		if mode := file.Profiles[name].Mode; mode != "" {
			if err := checkMode(mode); err != nil {
				return nil, &tool.Error{
					Code: tool.Invalid, Op: "read profiles",
					Msg: fmt.Sprintf("profile %s: unknown mode %q", name, mode), Hint: modesHint(),
				}
			}
		}
	}
	return file.Profiles, nil
}

func checkMode(mode mcpsrv.Mode) error {
	if slices.Contains(mcpsrv.Modes(), mode) {
		return nil
	}
	return usageError{fmt.Sprintf("unknown mode %q", string(mode)), modesHint()}
}

func modesHint() string {
	var names []string
	for _, mode := range mcpsrv.Modes() {
		names = append(names, string(mode))
	}
	last := len(names) - 1
	return "use " + strings.Join(names[:last], ", ") + " or " + names[last]
}
