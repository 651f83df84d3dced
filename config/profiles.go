package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"tooldex/internal/sanitize"
	"tooldex/tool"
)

// Profile is a named subset of the tools, with an endpoint of its own. The zero value has all tools and the settings of
// serve.
type Profile struct {
	Mode    string   `yaml:"mode,omitempty"`    // one of Modes; "" for that of serve.mode
	Servers []string `yaml:"servers,omitempty"` // whose tools the profile has; empty for all
	// Tools holds patterns such as "github/get_*": of a server that one of them names, the profile has only the tools
	// that match one. Hidden holds patterns of tools that the profile does not have.
	Tools   []string `yaml:"tools,omitempty"`
	Hidden  []string `yaml:"hidden,omitempty"`
	Always  []string `yaml:"always,omitempty"`  // tools that are always listed
	Summary string   `yaml:"summary,omitempty"` // how search_tools describes it; "" for that of the catalogue
	// Confirm is one of ConfirmModes, "" for serve.confirm. The two lists add to those of serve.
	Confirm       string   `yaml:"confirm,omitempty"`
	ConfirmTools  []string `yaml:"confirmTools,omitempty"`
	ConfirmExcept []string `yaml:"confirmExcept,omitempty"`
	// Tenant is the tenant of the database whose tools the profile has; "" for the home tenant.
	Tenant string `yaml:"tenant,omitempty"`
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

// ClientProfilesPath returns the path of the profiles that "tooldex connect" makes of clients' filters of tools, in a
// data directory.
func ClientProfilesPath(dataDir string) string {
	return filepath.Join(dataDir, "connect", "profiles.yaml")
}

// ReadClientProfiles reads the profiles of ClientProfilesPath, of which there may be none. The errors are Invalid.
func ReadClientProfiles(dataDir string) (map[string]Profile, error) {
	if dataDir == "" {
		return nil, nil
	}
	path := ClientProfilesPath(dataDir)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return readProfiles(path)
}

// EncodeProfiles returns the text of a file of profiles.
func EncodeProfiles(profiles map[string]Profile) ([]byte, error) {
	return yaml.Marshal(map[string]any{"profiles": profiles})
}

// collectProfiles returns the profiles of all files: those of clients, of the configuration file and of
// serve.profilesFile. Of one name, the last counts. After an error it returns the others.
func collectProfiles(c *Config, f *file) (map[string]Profile, error) {
	all, first := ReadClientProfiles(c.DataDir)
	if len(all) == 0 {
		all = f.profiles
	} else {
		maps.Copy(all, f.profiles)
	}
	if path := c.Serve.ProfilesFile; path != "" {
		more, err := readProfiles(path)
		first = cmp.Or(first, err)
		joined := map[string]Profile{}
		maps.Copy(joined, all)
		maps.Copy(joined, more)
		all = joined
	}
	return all, first
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
			Hint: "a profile has mode, servers, tools, hidden, always, summary, confirm, confirmTools, confirmExcept and tenant",
		}
	}
	for _, name := range slices.Sorted(maps.Keys(file.Profiles)) {
		p := file.Profiles[name]
		msg, hint := "", ""
		switch {
		case !profileName.MatchString(name):
			msg = fmt.Sprintf("%q cannot be the name of a profile", name)
			hint = "use letters, digits, dots, hyphens and underscores, 64 at most"
		case slices.ContainsFunc(p.Tools, lacksServer):
			msg = fmt.Sprintf("profile %s: tools has a pattern without a server", name)
			hint = "write server/tool; a star stands for any characters: */read_* for all servers"
		case p.Confirm != "" && !slices.Contains(ConfirmModes(), p.Confirm):
			msg = fmt.Sprintf("profile %s: confirm cannot be %q", name, p.Confirm)
			hint = "use " + joinChoices(ConfirmModes())
		case p.Tenant != "" && !tenantName.MatchString(p.Tenant):
			msg = fmt.Sprintf("profile %s: a tenant cannot be named %q", name, p.Tenant)
			hint = tenantHint
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

// lacksServer reports whether a pattern of a tool names no server.
func lacksServer(pattern string) bool { return !strings.Contains(pattern, "/") }

// IsMode reports whether a name is that of a mode.
func IsMode(name string) bool { return slices.Contains(Modes(), name) }
