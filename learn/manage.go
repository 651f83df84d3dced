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

// Approve makes the evidence for a tool count, however little it is: all of it or, where request names one as reports
// do, that of one request. It is on the disk when the error is nil. The error is NotFound where there is no such
// evidence, or that of the Disk.
func (l *Learner) Approve(ctx context.Context, profile string, id tool.ID, request string) error {
	a := &approval{profile: profile, tool: id, at: l.o.Now().UnixMilli()}
	l.mu.Lock()
	found := false
	for _, u := range l.book.uses {
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
	l.book.approved[a.key()], l.pending.approved[a.key()] = a, a
	l.dirty = true
	l.mu.Unlock()
	if err := l.Flush(ctx); err != nil {
		return err
	}
	l.rebuild()
	return nil
}

// Forget removes what scope matches, here and for all processes, also what they have not written yet, and returns how
// many entries were stored. It is done on the disk when the error, which is that of the Disk, is nil.
func (l *Learner) Forget(ctx context.Context, scope Scope) (int, error) {
	l.disk.Lock()
	defer l.disk.Unlock()
	order := forgotten{Scope: scope, At: l.o.Now().UnixMilli()}
	entries, _, err := l.o.Disk.Learned(ctx, noVersion)
	if err != nil {
		return 0, err
	}
	stored := newBook()
	for k, v := range entries {
		stored.read(k, v)
	}
	keys := stored.matching(scope, order.At)
	_, _, err = l.o.Disk.ChangeLearned(ctx, []string{keyForgotten}, func(now map[string][]byte) map[string][]byte {
		put := map[string][]byte{keyForgotten: withOrder(now[keyForgotten], order)}
		for _, k := range keys {
			put[k] = nil
		}
		return put
	})
	if err != nil {
		return 0, err
	}
	l.mu.Lock()
	for _, b := range []*book{l.book, l.pending} {
		b.forget([]forgotten{order})
	}
	l.dirty = true
	l.mu.Unlock()
	l.rebuild()
	return len(keys), nil
}

// noVersion is one that no disk reaches, so that all entries are read.
const noVersion = 1<<64 - 1

// exported is a line of an export.
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

// Export writes all evidence as lines of JSON, by profile, tool and request.
func (l *Learner) Export(w io.Writer) error {
	l.mu.Lock()
	uses := slices.Collect(maps.Values(l.book.uses))
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

// ApprovedTexts returns the approved requests of each tool whose texts are kept, in order, those of all profiles
// together.
func (l *Learner) ApprovedTexts() map[tool.ID][]string {
	out := map[tool.ID][]string{}
	for _, t := range l.Report().Tools {
		for _, u := range t.Requests {
			if u.State == Approved && u.Text != "" && u.Wrong < u.Uses && !slices.Contains(out[t.Tool], u.Text) {
				out[t.Tool] = append(out[t.Tool], u.Text)
			}
		}
	}
	for _, texts := range out {
		slices.Sort(texts)
	}
	return out
}
