package service

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tooldex/catalog"
	"tooldex/index"
	"tooldex/search"
	"tooldex/skills"
	"tooldex/tool"
	"tooldex/trust"
)

// Skills are the skills of the configured folders. They have an index of their own, so that no search of tools ranks
// differently because of them. Its methods are safe for concurrent use; a nil Skills has none.
type Skills struct {
	folders []string
	trust   func(server string) trust.Policy
	logger  *slog.Logger
	model   catalog.Model
	index   *index.Index // nil: skills are listed only
	engine  *search.Engine

	mu   sync.Mutex                     // held while they are read again
	now  atomic.Pointer[skills.Library] // nil before they were read
	read chan struct{}                  // closed once they were
	once sync.Once                      // closes read
}

// openSkills returns the skills of the configuration, which are not read yet; nil if it names no folder, and for tools
// that are made for this run alone.
func (s *Service) openSkills(model catalog.Model) *Skills {
	folders := s.Config().Skills
	if len(folders) == 0 || s.scratch != "" {
		return nil
	}
	k := &Skills{
		folders: folders, model: model, logger: s.o.Logger, read: make(chan struct{}),
		trust: func(server string) trust.Policy { return s.Catalog.TrustPolicy(server) },
	}
	if s.o.Use == ToSearch {
		k.index = &index.Index{}
		k.engine = search.New(search.Options{
			Lookup: k.index, Embedder: model.Embedder, Base: model.Base, Map: model.Encoder,
		})
	}
	return k
}

// Refresh reads the skills again if a SKILL.md has changed since, and reports whether one had. It costs one stat of
// each skill if none had. The errors are those of making skills searchable; those that were read before then stay.
func (k *Skills) Refresh(ctx context.Context) (bool, error) {
	if k == nil {
		return false, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	defer k.once.Do(func() { close(k.read) })
	if k.now.Load().IsCurrent(k.folders) {
		return false, nil
	}
	library := skills.Read(k.folders)
	if k.index != nil {
		all := make([]*tool.Tool, len(library.Skills))
		for i, s := range library.Skills {
			all[i] = s.Tool()
		}
		snap, err := catalog.NewSnapshot(ctx, tool.NewSet(all, "{name}"), k.model, index.Options{})
		if err != nil {
			return false, err
		}
		k.index.Swap(snap)
	}
	k.now.Store(library)
	return true, nil
}

// firstRead is how long an answer waits until the skills were read for the first time, as a program that serves begins
// with.
const firstRead = 5 * time.Second

// library returns the skills of this moment; nil if there are none.
func (k *Skills) library() *skills.Library {
	if k == nil {
		return nil
	}
	select {
	case <-k.read:
	case <-time.After(firstRead):
	}
	return k.now.Load()
}

// trustServer returns the name by which the policy for a skill is looked up: its own, or that of all skills if these
// are trusted.
func (k *Skills) trustServer(name string) string {
	if k.trust(skills.Server) == trust.Off {
		return skills.Server
	}
	return skills.Server + "/" + name
}

// judge returns why a skill is held, or "", and the warning with which it is served, or "".
func (k *Skills) judge(s *skills.Skill) (held, warning string) {
	if len(s.Findings) == 0 {
		return "", ""
	}
	return trust.JudgeSkill(k.trust(k.trustServer(s.Name)), s.Findings)
}

// The bounds of the skills in an answer. Instructions are long, so few are offered, and none that probably do not
// serve.
const (
	mostSkills   = 3
	leastServing = .3
)

// find returns the skills that serve a query, best first. A query for certain servers or categories finds none. A
// failure is only logged: the tools are the answer.
func (k *Skills) find(ctx context.Context, q tool.Query) []tool.Skill {
	library := k.library()
	if library == nil || len(library.Skills) == 0 || len(q.Filter.Servers)+len(q.Filter.Categories) > 0 {
		return nil
	}
	detail := q.Detail
	q.Limit, q.Detail, q.Explain = mostSkills, tool.DetailName, false
	q.Filter = tool.Filter{Allow: k.allowed(library, q.Filter.Allow)}
	res, err := k.engine.Search(ctx, q)
	if err != nil {
		if ctx.Err() == nil {
			k.logger.Warn("the skills cannot be searched", "error", err)
		}
		return nil
	}
	groups := res.Groups
	if len(groups) == 0 {
		groups = []tool.Group{{Tools: res.Tools, Confident: res.Confident}}
	}
	var out []tool.Skill
	for _, g := range groups {
		for _, h := range g.Tools {
			s, ok := library.Find(h.Name)
			if !ok || !g.Confident || h.Score < leastServing ||
				slices.ContainsFunc(out, func(o tool.Skill) bool { return o.Name == h.Name }) {
				continue
			}
			one := k.describe(s, detail)
			one.Score = h.Score
			out = append(out, one)
		}
	}
	return out[:min(len(out), mostSkills)]
}

// allowed returns what decides whether a skill may be found: by the caller's permissions, and not while it is held. It
// is nil if all may be.
func (k *Skills) allowed(library *skills.Library, may func(*tool.Tool) bool) func(*tool.Tool) bool {
	held := map[string]bool{}
	for _, s := range library.Skills {
		if why, _ := k.judge(s); why != "" {
			held[s.Name] = true
		}
	}
	if len(held) == 0 {
		return may
	}
	return func(t *tool.Tool) bool { return !held[t.Name] && (may == nil || may(t)) }
}

// describe returns a skill as it is listed, with as much of it as a detail asks for.
func (k *Skills) describe(s *skills.Skill, detail tool.Detail) tool.Skill {
	out := tool.Skill{Name: s.Name, URI: skills.URI(s.Name, skills.Main)}
	if detail != tool.DetailName {
		out.Description = s.Description
		_, out.Warning = k.judge(s)
	}
	return out
}

// Search finds tools and skills, as the operator sees them. The errors are those of the engine.
func (s *Service) Search(ctx context.Context, q tool.Query) (*tool.Result, error) {
	return s.finder.Search(ctx, q)
}

// skillSearcher adds the skills that serve a query to the tools that next finds.
type skillSearcher struct {
	next   tool.Searcher
	skills *Skills
}

// Search implements tool.Searcher.
func (f skillSearcher) Search(ctx context.Context, q tool.Query) (*tool.Result, error) {
	res, err := f.next.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	if found := f.skills.find(ctx, q); len(found) > 0 {
		with := *res
		with.Skills = found
		return &with, nil
	}
	return res, nil
}
