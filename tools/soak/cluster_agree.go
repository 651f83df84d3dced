package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// agreeWithin is how long replicas have after the load to agree on everything.
const agreeWithin = 30 * time.Second

// agree waits until all replicas give the same answers, compares these with what was acknowledged, and looks for marks
// of other tenants in them.
func (c *cluster) agree(ctx context.Context) {
	for _, r := range c.replicas {
		if err := r.ready(ctx); err != nil {
			c.events.fail(err.Error())
		}
	}
	begin := time.Now()
	var all []map[string]string
	wrong := len(c.events.wrong)
	for {
		c.events.wrong = c.events.wrong[:wrong] // what went wrong in the last turn counts
		all = make([]map[string]string, len(c.replicas))
		var reads sync.WaitGroup
		for i, r := range c.replicas {
			reads.Go(func() { all[i] = c.readAll(ctx, r.base) })
		}
		reads.Wait()
		c.differ = differences(all)
		if len(c.differ) == 0 || time.Since(begin) > agreeWithin || !pause(ctx, 200*time.Millisecond) {
			break
		}
	}
	c.agreed, c.compared = time.Since(begin), len(all[0])
	says("%d answers compared, %d differ", c.compared, len(c.differ))
	for _, k := range c.keys {
		for i, r := range c.replicas {
			if k.read == nil {
				continue
			}
			got, err := k.read(ctx, r.base)
			if err != nil {
				c.events.fail(fmt.Sprintf("replica %d: %v", i, err))
			} else if why := k.lost(got); why != "" {
				c.losses = append(c.losses, fmt.Sprintf("replica %d: %s", i, why))
			}
		}
	}
}

// differences lists the answers that not all replicas give.
func differences(all []map[string]string) []string {
	var out []string
	for i, one := range all[1:] {
		for path, want := range all[0] {
			if got, there := one[path]; got != want {
				out = append(out, fmt.Sprintf("%s: replica 0 says %.300s, replica %d (%v) %.300s",
					path, want, i+1, there, got))
			}
		}
		for path := range one {
			if _, there := all[0][path]; !there {
				out = append(out, fmt.Sprintf("%s: replica 0 has none, replica %d has it", path, i+1))
			}
		}
	}
	return out
}

// readAll reads all that a replica has: every tool with its page and its overlay, decisions, preferences and servers,
// of each tenant. It returns the answers by tenant and path.
func (c *cluster) readAll(ctx context.Context, base string) map[string]string {
	out := map[string]string{}
	for _, h := range c.people {
		r := &reader{c: c, h: h, base: base, out: out}
		r.readTools(ctx)
		r.get(ctx, "/api/quarantine", h.token)
		for _, p := range h.profiles {
			r.get(ctx, p.preferences(), p.token)
		}
		r.readServers(ctx)
	}
	return out
}

// reader reads what a replica has of one tenant. It notes answers that are no good, and marks of other tenants.
type reader struct {
	c    *cluster
	h    *holder
	base string
	out  map[string]string // where get puts answers
}

// get reads one answer.
func (r *reader) get(ctx context.Context, path, token string) []byte {
	e := r.c.events
	status, body, err := fetch(ctx, http.MethodGet, r.base+path, token, nil)
	if err != nil {
		e.fail(fmt.Sprintf("%s: %v", path, err))
	}
	if leak := r.h.foreign(body); leak != "" {
		e.mu.Lock()
		e.leaks = append(e.leaks, fmt.Sprintf("%s of %s shows %s", path, r.h.tenant, leak))
		e.mu.Unlock()
	}
	if status != http.StatusOK {
		e.fail(fmt.Sprintf("%s of %s: %d %.300s", path, r.h.tenant, status, body))
	}
	r.out[r.h.tenant+" "+path] = string(body)
	return body
}

// isHome reports whether the tenant is the one whose token may read overlays and servers.
func (r *reader) isHome() bool { return r.h == r.c.people[0] }

// readTools reads the list of tools, and the page and the overlay of each.
func (r *reader) readTools(ctx context.Context) {
	for cursor := ""; ; {
		var page struct {
			Tools []struct {
				ID     string `json:"id"`
				Name   string `json:"name"`
				Server string `json:"server"`
			}
			NextCursor string
		}
		path := "/api/tools?include_disabled=true&limit=1000&cursor=" + url.QueryEscape(cursor)
		if err := json.Unmarshal(r.get(ctx, path, r.h.token), &page); err != nil {
			r.c.events.fail(fmt.Sprintf("tools of %s: %v", r.h.tenant, err))
		}
		for _, one := range page.Tools {
			id := one.ID
			if id == "" {
				id = one.Server + "/" + one.Name
			}
			r.get(ctx, "/api/tools/"+url.PathEscape(id), r.h.token)
			if r.isHome() {
				r.get(ctx, "/api/overlays/"+url.PathEscape(id), r.h.token)
			}
		}
		if cursor = page.NextCursor; cursor == "" {
			return
		}
	}
}

// readServers reads which servers there are. Their states are left out, since they are those of this replica.
func (r *reader) readServers(ctx context.Context) {
	const path = "/api/servers"
	var list struct{ Servers []struct{ Server string } }
	if err := json.Unmarshal(r.get(ctx, path, r.h.token), &list); err != nil {
		r.c.events.fail(fmt.Sprintf("servers of %s: %v", r.h.tenant, err))
	}
	delete(r.out, r.h.tenant+" "+path)
	var names []string
	for _, one := range list.Servers {
		names = append(names, one.Server)
		if r.isHome() && strings.HasPrefix(one.Server, "there") { // the others were imported as listings
			r.get(ctx, path+"/"+one.Server, r.h.token)
		}
	}
	r.out[r.h.tenant+" servers"] = strings.Join(names, " ")
}
