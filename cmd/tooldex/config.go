package main

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/knadh/koanf/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tooldex/tool"
)

// configuration is what the file, the environment and the flags say together, the later before the earlier.
type configuration struct {
	path     string // of the file; "" if there is none
	explicit bool   // it was asked for, and must be there
	names    func(string) string

	layers []configLayer

	mu       sync.Mutex // guards the rest: a server reads the file again while it runs
	file     *configFile
	sum      [sha256.Size]byte // of the text that was read last, well or not
	seen     fs.FileInfo       // of the file as it was read last; nil if it is to be read in any case
	reported map[string]bool   // settings that were told to need a restart
}

// configLayer is what one origin says.
type configLayer struct {
	origin string // default, file, environment or flag
	*koanf.Koanf
}

// configAnnotation marks commands that must work when the configuration cannot be read.
const configAnnotation = "tooldex-configuration"

var configOptional = map[string]string{configAnnotation: "optional"}

// configure reads the configuration and gives it to the flags and to what reads the environment.
func (a *app) configure(cmd *cobra.Command) error {
	c := &configuration{names: a.getenv, reported: map[string]bool{}}
	a.conf = c
	a.confErr = c.load(a, cmd)
	if isOptional(cmd) {
		return nil
	}
	return a.confErr
}

func isOptional(cmd *cobra.Command) bool {
	completes := cmd.Name() == cobra.ShellCompRequestCmd || cmd.HasParent() && cmd.Parent().Name() == "completion"
	return completes || cmd.Annotations[configAnnotation] != ""
}

func (c *configuration) load(a *app, cmd *cobra.Command) error {
	c.path, c.explicit = cmp.Or(a.config, a.getenv(configVariable)), true
	if c.path == "" && !a.demo {
		c.path, c.explicit = defaultConfig(a.getenv), false
	}
	err := c.readFile()
	if c.layers, err = c.stack(cmd, err); err != nil {
		return err
	}
	a.getenv = c.overlay(a.getenv)
	return c.give(cmd)
}

// readFile reads the file for the first time.
func (c *configuration) readFile() error {
	c.file = &configFile{}
	if c.path == "" {
		return nil
	}
	b, err := readSmall(c.path)
	if errors.Is(err, fs.ErrNotExist) && !c.explicit {
		return nil
	}
	if err != nil {
		return fileError("read configuration", c.path, err)
	}
	c.sum = sha256.Sum256(b)
	file, err := parseConfig(c.path, b, c.names)
	if err == nil {
		c.file = file
	}
	return err
}

// stack puts the layers together. That of a file that could not be read stays empty.
func (c *configuration) stack(cmd *cobra.Command, err error) ([]configLayer, error) {
	initial, environment, flags := map[string]any{}, map[string]any{}, map[string]any{}
	if dir, err := defaultDataDir(c.names); err == nil {
		initial["dataDir"] = dir
	}
	for _, s := range settings() {
		if s.initial != nil {
			initial[s.key] = s.initial
		}
		if v := c.names(s.env); v != "" && s.env != "" {
			environment[s.key] = v
			if s.kind == "array" {
				environment[s.key] = list(v)
			}
		}
		if f := flagOf(cmd, s); f != nil && f.Changed {
			flags[s.key] = f.Value.String()
			if v, ok := f.Value.(pflag.SliceValue); ok {
				flags[s.key] = v.GetSlice()
			}
		}
	}
	var out []configLayer
	for _, l := range []struct {
		origin string
		values map[string]any
	}{{"default", initial}, {"file", c.file.values}, {"environment", environment}, {"flag", flags}} {
		k := koanf.New(".")
		if loadErr := k.Load(keyed(l.values), nil); loadErr != nil {
			err = errors.Join(err, fmt.Errorf("put the configuration together: %w", loadErr))
		}
		out = append(out, configLayer{l.origin, k})
	}
	return out, err
}

// keyed provides settings by their dotted keys, as koanf takes them.
type keyed map[string]any

// Read nests the keys.
func (v keyed) Read() (map[string]any, error) {
	out := map[string]any{}
	for key, value := range v {
		at := out
		steps := strings.Split(key, ".")
		for _, step := range steps[:len(steps)-1] {
			next, ok := at[step].(map[string]any)
			if !ok {
				next = map[string]any{}
				at[step] = next
			}
			at = next
		}
		at[steps[len(steps)-1]] = value
	}
	return out, nil
}

// ReadBytes is never called: what is read here was parsed before.
func (keyed) ReadBytes() ([]byte, error) { return nil, errors.ErrUnsupported }

// flagOf returns the flag of a command that sets s, nil if it has none. Settings of serve are flags of serve alone, and
// the others are common to all commands: one that has a flag of the same name means something else by it.
func flagOf(cmd *cobra.Command, s setting) *pflag.Flag {
	switch {
	case s.flag == "":
		return nil
	case !strings.HasPrefix(s.key, "serve."):
		return cmd.Root().PersistentFlags().Lookup(s.flag)
	case cmd.Name() == "serve":
		return cmd.Flags().Lookup(s.flag)
	}
	return nil
}

// value returns what holds for a key, and its origin, "" if nothing says anything.
func (c *configuration) value(key string) (any, string) {
	for _, l := range slices.Backward(c.layers) {
		if l.Exists(key) {
			return l.Get(key), l.origin
		}
	}
	return nil, ""
}

// overlay returns getenv for what reads the environment: where it says nothing, the file does, as it was read last.
func (c *configuration) overlay(getenv func(string) string) func(string) string {
	keys := map[string]string{}
	for _, s := range settings() {
		if s.env != "" {
			keys[s.env] = s.key
		}
	}
	return func(name string) string {
		if v := getenv(name); v != "" {
			return v
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if v, ok := c.file.values[keys[name]]; ok {
			return configText(v)
		}
		return ""
	}
}

// give sets the flags that nothing else is read for.
func (c *configuration) give(cmd *cobra.Command) error {
	for _, s := range settings() {
		f := flagOf(cmd, s)
		if f == nil || f.Changed || !s.byFlag {
			continue
		}
		v, origin := c.value(s.key)
		if origin != "file" && origin != "environment" {
			continue
		}
		if err := f.Value.Set(configText(v)); err != nil {
			return usageError{
				fmt.Sprintf("%s cannot be %q", c.source(s, origin), configText(v)),
				fmt.Sprintf("give %s", wanted[s.kind]),
			}
		}
	}
	return nil
}

// source tells where a value comes from.
func (c *configuration) source(s setting, origin string) string {
	switch origin {
	case "file":
		return fmt.Sprintf("%s:%d", c.path, c.file.lines[s.key])
	case "environment":
		return s.env
	case "flag":
		return "--" + s.flag
	}
	return origin
}

// configText is a value as the environment would have it.
func configText(v any) string {
	if texts, ok := v.([]string); ok {
		return strings.Join(texts, ",")
	}
	return fmt.Sprint(v)
}

// servers lists the servers of the file, by name.
func (c *configuration) servers() []tool.Server {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.file.servers
}

// profiles returns those of the file, and in their place those of the same names of a file of profiles, unless that is
// "".
func (c *configuration) profiles(path string) (map[string]profile, error) {
	var out map[string]profile
	if c != nil {
		c.mu.Lock()
		out = maps.Clone(c.file.profiles)
		c.mu.Unlock()
	}
	if path == "" {
		return out, nil
	}
	more, err := readProfiles(path)
	if err != nil || out == nil {
		return more, err
	}
	maps.Copy(out, more)
	return out, nil
}

// reloaded tells what a look at the file brought.
type reloaded struct {
	servers  bool     // the servers are others
	profiles bool     // so are the profiles
	ways     bool     // and how tools are listed
	confirm  bool     // and which calls a person confirms
	trust    bool     // and which tools are trusted
	level    string   // the level to log at from now on, "" if it is as before
	restart  []string // settings that need a restart, and were not told yet
}

// reload looks whether the file says anything new. A file that cannot be read, or not understood, leaves everything as
// it was, and its error is returned once.
func (c *configuration) reload() (reloaded, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.path == "" {
		return reloaded{}, nil
	}
	info, err := os.Stat(c.path)
	if err == nil && c.rests(info) {
		return reloaded{}, nil
	}
	c.seen = info
	b, err := readSmall(c.path)
	if errors.Is(err, fs.ErrNotExist) && !c.explicit {
		b, err = nil, nil
	}
	sum := sha256.Sum256(b)
	if err != nil {
		sum = sha256.Sum256([]byte(err.Error()))
	}
	if sum == c.sum || c.sum == [sha256.Size]byte{} && b == nil && err == nil {
		return reloaded{}, nil
	}
	c.sum = sum
	if err != nil {
		return reloaded{}, fileError("read configuration", c.path, err)
	}
	file, err := parseConfig(c.path, b, c.names)
	if err != nil {
		return reloaded{}, err
	}
	out := c.compare(file)
	c.file = file
	return out, nil
}

// settled is how old a file must be for its time of change to tell that it was not changed since.
const settled = 3 * time.Second

// rests reports whether the file is the one that was read last, so that it need not be read to know.
func (c *configuration) rests(now fs.FileInfo) bool {
	return c.seen != nil && os.SameFile(c.seen, now) && c.seen.Size() == now.Size() &&
		c.seen.ModTime().Equal(now.ModTime()) && time.Since(now.ModTime()) > settled
}

// forget has the next reload read the file as if it had changed, and say again what is wrong with it.
func (c *configuration) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sum, c.seen, c.reported = [sha256.Size]byte{1}, nil, map[string]bool{}
}

// compare tells what is other in a new file than in the one that was read before.
func (c *configuration) compare(file *configFile) reloaded {
	out := reloaded{
		servers:  !slices.EqualFunc(c.file.servers, file.servers, sameServer),
		profiles: !reflect.DeepEqual(c.file.profiles, file.profiles),
	}
	for _, s := range settings() {
		before, now := c.file.values[s.key], file.values[s.key]
		if reflect.DeepEqual(before, now) {
			continue
		}
		if _, origin := c.value(s.key); origin == "environment" || origin == "flag" && s.kind != "array" {
			continue // it does not count
		}
		switch s.key {
		case "logLevel":
			out.level = configText(cmp.Or(now, s.initial))
		case "serve.mode", "serve.threshold", "serve.follows", "serve.always", "serve.summary":
			out.ways = true
		case "serve.confirm", "serve.confirmTools", "serve.confirmExcept", "serve.confirmTimeout":
			out.confirm = true
		case "trust.policy", "trust.servers":
			out.trust = true
		default:
			c.needRestart(&out, s.key)
		}
	}
	return out
}

func (c *configuration) needRestart(out *reloaded, key string) {
	if !c.reported[key] {
		c.reported[key] = true
		out.restart = append(out.restart, key)
	}
}

// defaultConfig is where the platform keeps a program's configuration, "" if that cannot be told.
func defaultConfig(getenv func(string) string) string {
	dir, err := configDir(getenv)
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "tooldex.yaml")
}
