package clients

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tooldex/config"
	"tooldex/internal/atomicfile"
	"tooldex/tool"
)

// Edit is the change that connects a client: servers leave its file, and tooldex comes into it.
type Edit struct {
	Text    []byte // of the file afterwards
	Profile string // that keeps the client's filters of tools; "" if it has none

	document *Document
	own      Own
	gone     []Entry
	change   *ProfileChange // nil if the profile stays as it is
	profile  config.Profile // afterwards
}

// Changes reports whether anything is to be written.
func (e *Edit) Changes() bool { return !bytes.Equal(e.Text, e.document.Text) }

// PlanEdit returns the edit that puts own in the place of the servers of list that move. If the client has filters of
// tools, they are kept in a profile with the client's name, which own is to serve. C is the configuration of this
// moment. The error is Invalid for a file that cannot be edited safely, and for a client with filters whose own would
// serve another profile.
func (k Keeper) PlanEdit(d *Document, own Own, list []Found, c *config.Config) (*Edit, error) {
	made, err := k.profiles()
	if err != nil {
		return nil, err
	}
	e := &Edit{document: d, own: own, gone: Movable(list)}
	name := d.Client
	for _, taken := c.Profiles[name]; taken; _, taken = c.Profiles[name] {
		if _, ours := made[name]; ours {
			break
		}
		name += "-tools"
	}
	before, exists := made[name]
	e.profile = before
	for _, entry := range e.gone {
		if !entry.Filter.none() {
			e.profile = addFilter(e.profile, entry.Server.Name, entry.Filter)
			e.change = &ProfileChange{Name: name}
		}
	}
	if exists || e.change != nil {
		other := cmp.Or(servedProfile(own.Args), c.Serve.Profile)
		if other != "" && other != name {
			return nil, &tool.Error{
				Code: tool.Invalid, Op: "connect",
				Msg:  fmt.Sprintf("the lists of tools of %s belong into its profile %s, and it would serve %s", d.Client, name, other),
				Hint: "serve no profile, or take the lists out of the client's file and into tools and hidden of that profile",
			}
		}
		e.Profile = name
		if servedProfile(own.Args) == "" {
			e.own.Args = append(append([]string{}, own.Args...), "--profile", name)
		}
	}
	if exists && e.change != nil {
		e.change.Before = &before
	}
	e.Text, err = d.Replace(e.own, e.gone)
	return e, err
}

// servedProfile returns the profile that the arguments of serve name, "" if they name none.
func servedProfile(args []string) string {
	for i, arg := range args {
		if value, ok := strings.CutPrefix(arg, "--profile="); ok {
			return value
		}
		if arg == "--profile" && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}

// Write keeps what the edited file holds, writes the profile and the new text, and returns the path of the backup. If
// the write fails without effect, the backup is removed again and the profile is as it was.
func (k Keeper) Write(e *Edit) (string, error) {
	const private = 0o600
	d := e.document
	c := Change{
		Client: d.Client, Path: d.Path, Existed: d.Exists, Mode: private, Time: time.Now().UTC(),
		Own: e.own.Name, Written: Sum(e.Text), Profile: e.change,
	}
	for _, one := range e.gone {
		c.Gone = append(c.Gone, Taken{Section: one.Section, Name: one.Name})
	}
	was := d.Text
	if info, err := os.Stat(d.Path); err == nil {
		c.Mode = info.Mode().Perm()
	}
	if !d.Exists { // Write distinguishes a missing file, nil, from an empty one
		was = nil
	} else if was == nil {
		was = []byte{}
	}
	if err := k.Keep(c, d.Text); err != nil {
		return "", err
	}
	kept, _, err := k.Last(d.Client, d.Path)
	if err == nil && e.change != nil {
		err = k.setProfile(e.change.Name, &e.profile)
	}
	if err != nil {
		return "", err
	}
	if err := Write(d.Path, was, e.Text, c.Mode); err != nil {
		if now, readErr := os.ReadFile(d.Path); readErr == nil && bytes.Equal(now, d.Text) ||
			errors.Is(readErr, fs.ErrNotExist) && !d.Exists {
			_ = k.Forget(kept) // the failed write matters more
		}
		return "", err
	}
	return kept.Before(), nil
}

// profiles returns the profiles that keep clients' filters.
func (k Keeper) profiles() (map[string]config.Profile, error) {
	return config.ReadClientProfiles(filepath.Dir(k.Dir))
}

// setProfile stores a profile; nil removes it. The file goes with the last one.
func (k Keeper) setProfile(name string, p *config.Profile) error {
	all, err := k.profiles()
	if err != nil {
		return err
	}
	path := config.ClientProfilesPath(filepath.Dir(k.Dir))
	all = maps.Clone(all)
	if all == nil {
		all = map[string]config.Profile{}
	}
	if delete(all, name); p != nil {
		all[name] = *p
	}
	if len(all) == 0 {
		err = os.Remove(path)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	} else if text, encodeErr := config.EncodeProfiles(all); encodeErr != nil {
		err = encodeErr
	} else {
		err = atomicfile.Write(path, text, 0o600)
	}
	if err != nil {
		return backupError(k.Dir, err)
	}
	return nil
}
