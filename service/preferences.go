package service

import (
	"context"
	"maps"
	"slices"
	"strings"

	"tooldex/access"
	"tooldex/config"
	"tooldex/selection"
	"tooldex/tool"
)

// Preferences returns what a profile prefers, and its version, which SetPreferences takes as base. The error is
// NotFound for a profile that does not exist.
func (x *Views) Preferences(ctx context.Context, profile string) (selection.Preferences, uint64, error) {
	if err := x.CheckProfile(profile); err != nil {
		return selection.Preferences{}, 0, err
	}
	if _, err := x.RefreshPreferences(ctx); err != nil { // another process may have changed them a moment ago
		return selection.Preferences{}, 0, err
	}
	now := x.preferences.Preferred(profile)
	return now.Preferences, now.Version, nil
}

// SetPreferences replaces what a profile prefers, if it is still of version base, and returns it in its canonical form
// with the new version. The error is NotFound for a profile that does not exist, Invalid for names of no tool, and
// wraps tool.ErrConflict when the version is another.
func (x *Views) SetPreferences(ctx context.Context, profile string, base uint64,
	p selection.Preferences,
) (selection.Preferences, uint64, error) {
	if err := x.CheckProfile(profile); err != nil {
		return p, 0, err
	}
	// Names are checked against the tools of the profile: an error about another would reveal that it exists.
	policy := x.policyOf(access.View{Profile: profile})
	policy.Preferred = nil // what is hidden now may be shown again
	p, err := selection.Check(p, policy.Catalog(x.Service.Catalog).Set())
	if err != nil {
		return p, 0, err
	}
	version, err := x.preferences.Set(ctx, profile, base, p)
	return p, version, err
}

// RefreshPreferences reads the preferences that other processes stored, and reports whether any have changed.
func (x *Views) RefreshPreferences(ctx context.Context) (changed bool, err error) {
	return x.preferences.Refresh(ctx)
}

// CheckProfile returns a NotFound error for a name that is not that of a profile. Modes have no preferences of their
// own.
func (x *Views) CheckProfile(name string) error {
	if _, ok := x.profileNamed(name); ok || name == WholeProfile {
		return nil
	}
	return &tool.Error{
		Code: tool.NotFound, Op: "find profile", Msg: `there is no profile "` + name + `"`,
		Hint: "tooldex serve --profiles names a file of profiles",
	}
}

// profileHint lists the names that CheckName accepts.
func (x *Views) profileHint() string {
	names := slices.Sorted(maps.Keys(x.Service.Config().Profiles))
	return "there are " + strings.Join(append(names, config.Modes()...), ", ")
}
