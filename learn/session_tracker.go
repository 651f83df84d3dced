package learn

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"tooldex/tool"
)

// sessionTracker holds the last search of each session until its outcome is known. mu guards the map and what it holds.
type sessionTracker struct {
	mu       sync.Mutex
	sessions map[sessionKey]*openSearch
}

// sessionKey identifies one session of one client of a profile.
type sessionKey struct{ profile, client, session string }

// openSearch is a search whose outcome is not known yet.
type openSearch struct {
	at        time.Time
	needs     []need
	called    map[tool.ID]bool
	elsewhere bool // a tool was called that the search did not show
}

// need is one request of a search with the tools that were shown for it.
type need struct {
	text  string
	tools []tool.ID
	fits  bool
}

// maxTracked bounds the sessions that are followed at once; the one with the oldest search is ended for a new one.
const maxTracked = 1024

// RecordSearch records what a session searched for and was shown, and ends its search before. Without a session it does
// nothing. It does not wait for the disk or for reading requests.
func (l *Learner) RecordSearch(who tool.Asker, res *tool.Result) {
	if who.Session == "" || res == nil {
		return
	}
	v := &openSearch{at: l.o.Now(), called: map[tool.ID]bool{}}
	if len(res.Groups) == 0 {
		v.needs = []need{{res.Query, idsOf(res.Tools), res.Confident}}
	}
	for _, g := range res.Groups {
		v.needs = append(v.needs, need{g.Query, idsOf(g.Tools), g.Confident})
	}
	key := sessionKey{who.Profile, who.Client, who.Session}
	l.sessions.mu.Lock()
	defer l.sessions.mu.Unlock()
	if old := l.sessions.sessions[key]; old != nil {
		l.endSearch(key, old)
	} else if len(l.sessions.sessions) >= maxTracked {
		oldest := slices.MinFunc(slices.Collect(maps.Keys(l.sessions.sessions)), func(a, b sessionKey) int {
			return cmp.Or(l.sessions.sessions[a].at.Compare(l.sessions.sessions[b].at), cmp.Compare(a.session, b.session))
		})
		l.endSearch(oldest, l.sessions.sessions[oldest])
		delete(l.sessions.sessions, oldest)
	}
	l.sessions.sessions[key] = v
}

// idsOf returns the IDs of hits, and after them those of their duplicates on other servers.
func idsOf(hits []tool.Hit) []tool.ID {
	out := make([]tool.ID, len(hits))
	for i := range hits {
		out[i] = hits[i].ID
	}
	for i := range hits {
		out = append(out, hits[i].Duplicates...)
	}
	return out
}

// RecordCall records that a session called a tool, and that the tool ran. It counts if a search of the session within
// Options.Window came before, once for each tool. It does not wait for the disk.
func (l *Learner) RecordCall(who tool.Asker, id tool.ID) {
	key := sessionKey{who.Profile, who.Client, who.Session}
	l.sessions.mu.Lock()
	defer l.sessions.mu.Unlock()
	v := l.sessions.sessions[key]
	if v == nil || l.o.Now().Sub(v.at) > l.o.Window || v.called[id] {
		return
	}
	for _, n := range v.needs {
		if slices.Contains(n.tools, id) {
			v.called[id] = true
			l.enqueueJob(job{who: who, text: n.text, tool: id, kind: Called})
			return
		}
	}
	// What is called later, or after several requests at once, may have to do with something else.
	if len(v.needs) == 1 && len(v.called) == 0 && !v.elsewhere {
		v.elsewhere = true
		l.enqueueJob(job{who: who, text: v.needs[0].text, tool: id, kind: elsewhere, shown: v.needs[0].tools})
	}
}

// RecordFeedback records what a client reports about a tool. It does not wait for the disk. The error is Invalid for
// feedback without a request or a tool.
func (l *Learner) RecordFeedback(who tool.Asker, f tool.Feedback) error {
	if f.Request == "" || f.Tool == "" {
		return &tool.Error{
			Code: tool.Invalid, Op: "feedback", Msg: "feedback needs a request and a tool",
			Hint: "give the text that was searched for, and the ID of the tool",
		}
	}
	kind := chosen
	if f.Wrong {
		kind = Wrong
	}
	l.enqueueJob(job{who: who, text: f.Request, tool: f.Tool, kind: kind})
	return nil
}

// endSearch records each need of a search as missed, unless a call followed. The caller holds the lock.
func (l *Learner) endSearch(key sessionKey, v *openSearch) {
	if len(v.called) > 0 || v.elsewhere {
		return
	}
	for _, n := range v.needs {
		l.enqueueJob(job{
			who: tool.Asker{Profile: key.profile, Client: key.client, Session: key.session}, text: n.text,
			shown: n.tools, nothing: !n.fits,
		})
	}
}

// endOldSearches ends the searches that are older than Options.Window, or all of them.
func (l *Learner) endOldSearches(all bool) {
	now := l.o.Now()
	l.sessions.mu.Lock()
	defer l.sessions.mu.Unlock()
	for key, v := range l.sessions.sessions {
		if all || now.Sub(v.at) > l.o.Window {
			l.endSearch(key, v)
			delete(l.sessions.sessions, key)
		}
	}
}
