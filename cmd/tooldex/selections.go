package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"tooldex/selection"
	"tooldex/store"
	"tooldex/tool"
)

// selections choose tools and keep preferences, for each profile its own. It is a httpapi.Preferences.
type selections struct {
	stack   *stack
	book    *profileBook
	kept    *selection.Keeper
	o       selection.Options // what holds for all profiles
	changed func()            // is called when preferences were changed here; nil for nobody
	// confirms tells of which tools of a view calls have to be confirmed now; nil: of none.
	confirms func(view) func(*tool.Tool) bool

	mu     sync.Mutex
	always []string
	made   map[view]*selection.Selector
}

// newSelections reads what is preferred.
func (a *app) newSelections(ctx context.Context, s *stack, book *profileBook, always []string) (*selections, error) {
	o, err := a.selectionOptions()
	if err != nil {
		return nil, err
	}
	kept, err := selection.NewKeeper(ctx, preferenceDisk{s.store}, a.log)
	if err != nil {
		return nil, err
	}
	return &selections{stack: s, book: book, kept: kept, o: o, always: always, made: map[view]*selection.Selector{}},
		nil
}

// selectionOptions reads what the environment says of selections.
func (a *app) selectionOptions() (selection.Options, error) {
	var o selection.Options
	switch a.getenv("TOOLDEX_LAZY") {
	case "", "true", "on", "1", "yes":
	case "false", "off", "0", "no":
		o.Mode = selection.ModeAll
	default:
		return o, usageError{fmt.Sprintf("TOOLDEX_LAZY is %q", a.getenv("TOOLDEX_LAZY")), "use true or false"}
	}
	for name, into := range map[string]*int{"TOOLDEX_MAX_TOOLS": &o.MaxTools, "TOOLDEX_TOOL_CACHE_SIZE": &o.CacheSize} {
		text := a.getenv(name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > 1_000_000 || n == 0 && into == &o.MaxTools {
			return o, usageError{fmt.Sprintf("%s is %q", name, text), "give a whole number"}
		}
		if *into = n; n == 0 {
			*into = -1 // of the cache: none
		}
	}
	return o, nil
}

// preferred tells what a profile prefers at the moment when it is asked.
func (x *selections) preferred(profile string) func() *selection.Preferred {
	return func() *selection.Preferred { return x.kept.Preferred(profile) }
}

func (x *selections) check(profile string) error {
	if _, ok := x.book.get(profile); !ok && profile != wholeName {
		return &tool.Error{
			Code: tool.NotFound, Op: "find profile", Msg: fmt.Sprintf("there is no profile %q", profile),
			Hint: "tooldex serve --profiles names a file of profiles",
		}
	}
	return nil
}

// of returns the selector of a view, made when it is first needed.
func (x *selections) of(v view) (*selection.Selector, error) {
	if err := x.check(v.profile); err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if s := x.made[v]; s != nil {
		return s, nil
	}
	p, _ := x.book.get(v.profile)
	o, policy := x.o, x.book.policy(x.stack.catalog, v)
	policy.Preferred = x.preferred(v.profile)
	o.Searcher, o.Catalog = policy.Searcher(x.stack.searcher), policy.Catalog(x.stack.catalog)
	o.Embedder, o.Preferred, o.Profile = x.stack.model.Embedder, policy.Preferred, v.profile
	o.Core = slices.Concat(x.always, p.Always)
	if x.confirms != nil {
		o.Confirms = x.confirms(v)
	}
	s := selection.NewSelector(o)
	x.made[v] = s
	return s, nil
}

// reconfigure has tools always available other than before, and profiles others. What sessions were given is chosen
// anew.
func (x *selections) reconfigure(always []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.always = always
	clear(x.made)
}

// view returns a httpapi.Selector for a server that shows v.
func (x *selections) view(v view) selectView { return selectView{x, v.readOnly} }

// selectView selects for any profile, which its server has checked.
type selectView struct {
	all      *selections
	readOnly bool
}

// Select implements httpapi.Selector.
func (s selectView) Select(ctx context.Context, q selection.Query) (*selection.Selection, error) {
	one, err := s.all.of(view{q.Profile, s.readOnly})
	if err != nil {
		return nil, err
	}
	return one.Select(ctx, q)
}

// Called implements httpapi.Selector.
func (s selectView) Called(profile, session string, id tool.ID) {
	if one, err := s.all.of(view{profile, s.readOnly}); err == nil {
		one.Called(session, id)
	}
}

// Preferences implements httpapi.Preferences.
func (x *selections) Preferences(ctx context.Context, profile string) (selection.Preferences, uint64, error) {
	if err := x.check(profile); err != nil {
		return selection.Preferences{}, 0, err
	}
	if _, err := x.kept.Refresh(ctx); err != nil { // another process may have changed them a moment ago
		return selection.Preferences{}, 0, err
	}
	now := x.kept.Preferred(profile)
	return now.Preferences, now.Version, nil
}

// SetPreferences implements httpapi.Preferences.
func (x *selections) SetPreferences(ctx context.Context, profile string, base uint64,
	p selection.Preferences,
) (selection.Preferences, uint64, error) {
	if err := x.check(profile); err != nil {
		return p, 0, err
	}
	// Names are those of the profile: what an error or an answer makes of another would tell of it.
	p, err := selection.Check(p, x.book.policy(x.stack.catalog, view{profile: profile}).Catalog(x.stack.catalog).Set())
	if err != nil {
		return p, 0, err
	}
	version, err := x.kept.Set(ctx, profile, base, p)
	if err == nil && x.changed != nil {
		x.changed()
	}
	return p, version, err
}

// preferenceDisk keeps preferences in the store.
type preferenceDisk struct{ store *store.Store }

func (d preferenceDisk) Preferences(ctx context.Context, known uint64) (map[string]selection.Stored, uint64, error) {
	all, version, err := d.store.Preferences(ctx, known)
	out := make(map[string]selection.Stored, len(all))
	for name, p := range all {
		out[name] = selection.Stored(p)
	}
	return out, version, err
}

func (d preferenceDisk) SetPreferences(ctx context.Context, profile string, base uint64, value []byte) (uint64, error) {
	version, err := d.store.SetPreferences(ctx, profile, base, value)
	if errors.Is(err, store.ErrChanged) {
		err = errors.Join(tool.ErrConflict, err)
	}
	return version, err
}
