package learn

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"tooldex/tool"
)

// Approve makes the evidence for a tool count, however little it is: all of it, or that of one request if request is
// the name of one. It is on the disk when the error is nil. The error is NotFound where there is no such evidence, or
// that of the Disk.
func (l *Learner) Approve(ctx context.Context, profile string, id tool.ID, request string) error {
	a := &approval{profile: profile, tool: id, at: l.o.Now().UnixMilli()}
	l.mu.Lock()
	found := false
	for _, u := range l.evidence.uses {
		if u.profile == profile && u.tool == id && (request == "" || requestName(u.request) == request) {
			found = true
			if request != "" {
				a.request = u.request
			}
			break
		}
	}
	if !found {
		l.mu.Unlock()
		return &tool.Error{
			Code: tool.NotFound, Op: "approve",
			Msg:  strings.TrimSpace(fmt.Sprintf("nothing was learned about %s %s", id, request)),
			Hint: "tooldex learn list shows what was",
		}
	}
	l.evidence.approved[a.key()], l.pending.approved[a.key()] = a, a
	l.dirty = true
	l.mu.Unlock()
	if err := l.Flush(ctx); err != nil {
		return err
	}
	l.rebuildModels()
	return nil
}

// Forget removes what scope matches, here and in all processes, including what they have not written yet. It returns
// how many entries were stored, and is done on the disk when the error, which is that of the Disk, is nil.
func (l *Learner) Forget(ctx context.Context, scope Scope) (int, error) {
	l.disk.Lock()
	defer l.disk.Unlock()
	order := forgetOrder{Scope: scope, At: l.o.Now().UnixMilli()}
	entries, _, err := l.o.Disk.Learned(ctx, noVersion)
	if err != nil {
		return 0, err
	}
	stored := newEvidenceStore()
	for k, v := range entries {
		stored.addEntry(k, v)
	}
	keys := stored.matchingKeys(scope, order.At)
	_, _, err = l.o.Disk.ChangeLearned(ctx, []string{keyForgotten}, func(now map[string][]byte) map[string][]byte {
		put := map[string][]byte{keyForgotten: appendForgotten(now[keyForgotten], order)}
		for _, k := range keys {
			put[k] = nil
		}
		return put
	})
	if err != nil {
		return 0, err
	}
	l.mu.Lock()
	for _, b := range []*evidenceStore{l.evidence, l.pending} {
		b.applyForgotten([]forgetOrder{order})
	}
	l.dirty = true
	l.mu.Unlock()
	l.rebuildModels()
	return len(keys), nil
}

// noVersion is a version that no disk reaches, so that all entries are read.
const noVersion = 1<<64 - 1

// exported is one line of an export.
type exported struct {
	Profile string  `json:"profile,omitempty"`
	Tool    tool.ID `json:"tool"`
	Request string  `json:"request"`
	Text    string  `json:"text,omitempty"`
	Kind    string  `json:"kind"`
	Client  string  `json:"client,omitempty"`
	Count   uint32  `json:"count"`
	First   int64   `json:"first"` // milliseconds since 1970
	Last    int64   `json:"last"`
}

// Export writes all evidence as lines of JSON, sorted by profile, tool and request. The error joins those of w.
func (l *Learner) Export(w io.Writer) error {
	l.mu.Lock()
	uses := slices.Collect(maps.Values(l.evidence.uses))
	l.mu.Unlock()
	slices.SortFunc(uses, func(x, y *use) int {
		return cmp.Or(cmp.Compare(x.profile, y.profile), cmp.Compare(x.tool, y.tool), cmp.Compare(x.request, y.request),
			cmp.Compare(x.kind, y.kind), cmp.Compare(x.client, y.client))
	})
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	var errs error
	for _, u := range uses {
		errs = errors.Join(errs, enc.Encode(exported{
			u.profile, u.tool, requestName(u.request), u.text, u.kind.String(),
			u.client, u.count, u.first, u.last,
		}))
	}
	return errs
}

// ApprovedTexts returns, for each tool and over all profiles, the texts of approved requests that are kept and that
// were more often right than wrong, sorted.
func (l *Learner) ApprovedTexts() map[tool.ID][]string {
	out := map[tool.ID][]string{}
	for _, t := range l.Report().Tools {
		for _, u := range t.Requests {
			if u.State == approved && u.Text != "" && u.Wrong < u.Uses && !slices.Contains(out[t.Tool], u.Text) {
				out[t.Tool] = append(out[t.Tool], u.Text)
			}
		}
	}
	for _, texts := range out {
		slices.Sort(texts)
	}
	return out
}
