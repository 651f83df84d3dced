package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"tooldex/internal/redact"
	"tooldex/upstream"
)

// Options says where a configuration comes from.
type Options struct {
	Path   string // of the file, which must exist then; "" for that of the variable TOOLDEX_CONFIG, or the platform's
	NoFile bool   // do not look for the platform's file
	// Getenv reads the environment; nil for that of the process.
	Getenv func(string) string
	// Flags holds the values of flags that were given, a string or []string, by the keys of settings.
	Flags map[string]any
}

// Origin says where a value comes from.
type Origin struct {
	Layer  string // default, file, environment or flag; "" for a setting that nothing sets
	Source string // which flag or variable, or file:line; "" for defaults
}

// Loader reads the configuration, and reads it again when asked. It is safe for concurrent use.
type Loader struct {
	o        Options
	path     string // of the file; "" if there is none
	explicit bool   // the path was asked for, so the file must exist

	mu       sync.Mutex // guards the rest
	file     *file
	watched  []*watchedFile  // the file, and that of profiles
	reported map[string]bool // settings that Reload reported to need a restart
	origins  map[string]Origin

	now atomic.Pointer[Config] // searches read it, so it needs no lock
}

// Getenv reads the environment of the process. It is the only way to it, so that tests can put another in its place.
func Getenv(name string) string { return os.Getenv(name) }

// LookupEnv is Getenv that also reports whether the variable is set.
func LookupEnv(name string) (string, bool) { return os.LookupEnv(name) }

// EnvNames returns the names of all variables of the environment, in no order. The caller owns the slice.
func EnvNames() []string {
	var names []string
	for _, entry := range os.Environ() {
		if name, _, ok := strings.Cut(entry, "="); ok && name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Load reads the configuration. The Loader is never nil: after an error it holds what could be read, for commands that
// work without a configuration. An error of the file comes before those of values.
func Load(o Options) (*Loader, error) {
	if o.Getenv == nil {
		o.Getenv = Getenv
	}
	// The variable stands for --config, so a file that it names must exist, too.
	l := &Loader{o: o, reported: map[string]bool{}, file: &file{}}
	l.path, l.explicit = cmp.Or(o.Path, o.Getenv(Variable)), true
	if l.path == "" {
		l.explicit = false
		if !o.NoFile {
			l.path = DefaultPath(o.Getenv)
		}
	}
	if l.path != "" {
		l.watchFile(&watchedFile{path: l.path, optional: !l.explicit})
	}
	f, err := l.readFile()
	if err == nil {
		l.file = f
	}
	// Even after an error the defaults, the environment and the flags apply, so that commands such as doctor work.
	now, origins, buildErr := l.applyLayers(l.file)
	l.origins = origins
	l.now.Store(now)
	// The path of this file is itself a setting, so it is known only now.
	if path := now.Serve.ProfilesFile; path != "" {
		l.watchFile(&watchedFile{path: path})
	}
	if now.DataDir != "" {
		l.watchFile(&watchedFile{path: ClientProfilesPath(now.DataDir), optional: true})
	}
	return l, cmp.Or(err, buildErr)
}

// Config returns the configuration of this moment. It must not be changed.
func (l *Loader) Config() *Config { return l.now.Load() }

// Path returns the path of the file and whether it was asked for rather than found; "" if no file is read.
func (l *Loader) Path() (path string, explicit bool) { return l.path, l.explicit }

// FileFound reports whether a configuration file was read.
func (l *Loader) FileFound() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.lines != nil || l.file.servers != nil
}

// Origin returns where the value of a setting comes from.
func (l *Loader) Origin(key string) Origin {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.origins[key]
}

// Value is one line of what is configured.
type Value struct {
	Key    string
	Value  any // a value of the setting's kind; "(set)" for a secret; an address without its password
	Origin Origin
}

// Values lists every setting that has a value, then the servers and profiles of the file, with a short text each.
func (l *Loader) Values() []Value {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []Value
	for _, s := range Settings() {
		origin := l.origins[s.Key]
		if origin.Layer == "" {
			continue
		}
		v := fieldOf(l.Config(), s.Key).Interface()
		if s.Secret {
			v = "(set)"
		}
		if text, ok := v.(string); ok && s.address {
			v = redact.Address(text)
		}
		out = append(out, Value{s.Key, v, origin})
	}
	for _, s := range l.file.servers {
		out = append(out, Value{
			"servers." + s.Name, ServerTarget(s), l.fileOrigin("servers."+s.Name, "mcpServers."+s.Name),
		})
	}
	for _, name := range slices.Sorted(maps.Keys(l.file.profiles)) {
		servers := "all servers"
		if p := l.file.profiles[name]; len(p.Servers) > 0 {
			servers = strings.Join(p.Servers, ",")
		}
		out = append(out, Value{"profiles." + name, servers, l.fileOrigin("profiles." + name)})
	}
	return out
}

// ServerTarget returns what a server is, without values that may be secret: its command line or its URL.
func ServerTarget(s upstream.Server) string {
	if s.Command != "" {
		return strings.Join(append([]string{s.Command}, redact.Args(s.Args)...), " ")
	}
	return redact.URL(cmp.Or(s.OpenAPI, s.URL))
}

// fileOrigin returns the place of the first of some keys that the file has, or the file alone. l.mu must be held.
func (l *Loader) fileOrigin(keys ...string) Origin {
	for _, key := range keys {
		if n := l.file.lines[key]; n > 0 {
			return Origin{"file", fmt.Sprintf("%s:%d", l.path, n)}
		}
	}
	return Origin{"file", l.path}
}

// applyLayers applies the layers: default, file, environment, flag. A value that cannot be used is an error unless a
// later layer replaces it. The error is of the first such setting; all others are set all the same.
func (l *Loader) applyLayers(f *file) (*Config, map[string]Origin, error) {
	c, origins := &Config{}, map[string]Origin{}
	var first error
	if dir := DefaultDataDir(l.o.Getenv); dir != "" {
		c.DataDir, origins["dataDir"] = dir, Origin{Layer: "default"}
	}
	for _, s := range Settings() {
		field := fieldOf(c, s.Key)
		var bad error // of the layer that decides
		// A later layer that is valid clears the error of an earlier one: its value decides.
		use := func(v any, o Origin) {
			if err := s.assignValue(field, v); err != nil {
				bad = UsageError{fmt.Sprintf("%s cannot be %q", o.Source, TextOf(v)), err.Error()}
				return
			}
			bad, origins[s.Key] = nil, o
		}
		if s.Default != nil {
			use(s.Default, Origin{Layer: "default"})
		}
		if v, ok := f.values[s.Key]; ok {
			use(v, Origin{"file", fmt.Sprintf("%s:%d", l.path, f.lines[s.Key])})
		}
		// an empty variable counts as unset
		if v := l.o.Getenv(s.Env); v != "" {
			use(v, Origin{"environment", s.Env})
		}
		if v, ok := l.o.Flags[s.Key]; ok {
			below, _ := field.Interface().([]string)
			use(v, Origin{"flag", "--" + s.Flag})
			// Flags come first, so that they have precedence where the order counts.
			if given, ok := v.([]string); ok && s.adds {
				field.Set(reflect.ValueOf(slices.Concat(given, below)))
			}
		}
		first = cmp.Or(first, bad)
	}
	c.OpenAIBaseURL, c.OpenAIKey = l.o.Getenv(openAIURLVariable), l.o.Getenv(openAIKeyVariable)
	if c.Select.CacheSize == 0 && origins["select.cacheSize"].Layer != "" {
		c.Select.CacheSize = -1 // an explicit 0 means no cache; package selection takes 0 for the default
	}
	c.Servers = f.servers
	profiles, err := collectProfiles(c, f)
	c.Profiles, first = profiles, cmp.Or(first, err)
	if first == nil && c.Audit.Required && !c.Audit.On {
		first = UsageError{
			"the audit log is required, and turned off", "set TOOLDEX_AUDIT=true, or TOOLDEX_AUDIT_REQUIRED=false",
		}
	}
	if bad := c.checkTenants(); bad != nil {
		return c, origins, cmp.Or(first, bad)
	}
	if c.Tenant != "" {
		c = c.ForTenant(c.Tenant)
	}
	return c, origins, first
}

// assignValue sets a field to a value of the field's type, or to a text in the form of the environment. The error is
// the remedy, for use as a hint. After an error the field is unchanged.
func (s Setting) assignValue(field reflect.Value, v any) error {
	text, isText := v.(string)
	switch s.Kind() {
	case "string":
		text = TextOf(v)
		if s.Choices != nil && !slices.Contains(s.Choices, text) {
			return errors.New("use " + joinChoices(s.Choices))
		}
		field.SetString(text)
	case "boolean":
		b, ok := v.(bool)
		if isText {
			b, ok = ParseBool(text)
		}
		if !ok {
			return errors.New("use true or false")
		}
		field.SetBool(b)
	case "integer":
		n, ok := v.(int)
		if isText {
			parsed, err := strconv.Atoi(text)
			n, ok = parsed, err == nil
		}
		if !ok || s.Max != 0 && (n < s.Min || n > s.Max) {
			return errors.New(s.wantedNumber())
		}
		field.SetInt(int64(n))
	case "number":
		x, err := strconv.ParseFloat(TextOf(v), 64)
		if err != nil {
			return errors.New("give a number")
		}
		field.SetFloat(x)
	case "array":
		list, ok := v.([]string)
		if isText {
			list, ok = SplitList(text), true
		}
		if !ok {
			return errors.New("give a list")
		}
		field.Set(reflect.ValueOf(list))
	}
	return nil
}

// wantedNumber returns the remedy for a bad number. Bounds that no sensible value reaches are not named.
func (s Setting) wantedNumber() string {
	switch {
	case s.Max == 0:
		return "give a whole number"
	case s.Max >= 1_000_000 || s.Max == 36_500:
		return fmt.Sprintf("give a whole number from %d", s.Min)
	}
	return fmt.Sprintf("give a whole number from %d to %d", s.Min, s.Max)
}

// joinChoices joins words as people write a choice: "a, b or c".
func joinChoices(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// ParseBool reads a truth value as YAML and Go write it, in any case: true, false, yes, no, on, off, t, f, y, n, 1, 0.
func ParseBool(text string) (value, ok bool) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "yes", "on", "t", "y", "1":
		return true, true
	case "false", "no", "off", "f", "n", "0":
		return false, true
	}
	return false, false
}

// TextOf returns a value as the environment has it; lists are joined by commas.
func TextOf(v any) string {
	if texts, ok := v.([]string); ok {
		return strings.Join(texts, ",")
	}
	return fmt.Sprint(v)
}

// SplitList reads a list that is separated by commas. Blanks around its items and empty items do not count.
func SplitList(text string) []string {
	var out []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}
