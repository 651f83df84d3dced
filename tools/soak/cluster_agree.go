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

// agree waits until all replicas say the same of everything, compares that with what was acknowledged, and looks for
// the marks of other tenants in it.
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

// differences lists what not all replicas say.
func differences(all []map[string]string) []string {
	var out []string
	for i, one := range all[1:] {
		for path, want := range all[0] {
			if got, there := one[path]; got != want {
				out = append(out, fmt.Sprintf("%s: replica 0 says %.300s, replica %d (%v) %.300s", path, want, i+1, there, got))
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
// of each tenant.
func (c *cluster) readAll(ctx context.Context, base string) map[string]string {
	out := map[string]string{}
	for _, h := range c.people {
		read := func(path, token string) []byte {
			status, body, err := fetch(ctx, http.MethodGet, base+path, token, nil)
			if err != nil {
				c.events.fail(fmt.Sprintf("%s: %v", path, err))
			}
			if leak := h.foreign(body); leak != "" {
				c.events.mu.Lock()
				c.events.leaks = append(c.events.leaks, fmt.Sprintf("%s of %s shows %s", path, h.tenant, leak))
				c.events.mu.Unlock()
			}
			if status != http.StatusOK {
				c.events.fail(fmt.Sprintf("%s of %s: %d %.300s", path, h.tenant, status, body))
			}
			out[h.tenant+" "+path] = string(body)
			return body
		}
		get := func(path string) []byte { return read(path, h.token) }
		for cursor := ""; ; {
			var page struct {
				Tools []struct {
					ID     string `json:"id"`
					Name   string `json:"name"`
					Server string `json:"server"`
				}
				NextCursor string
			}
			if err := json.Unmarshal(get("/api/tools?include_disabled=true&limit=1000&cursor="+url.QueryEscape(cursor)), &page); err != nil {
				c.events.fail(fmt.Sprintf("tools of %s: %v", h.tenant, err))
			}
			for _, one := range page.Tools {
				id := one.ID
				if id == "" {
					id = one.Server + "/" + one.Name
				}
				get("/api/tools/" + url.PathEscape(id))
				if h == c.people[0] {
					get("/api/overlays/" + url.PathEscape(id))
				}
			}
			if cursor = page.NextCursor; cursor == "" {
				break
			}
		}
		get("/api/quarantine")
		for _, p := range h.profiles {
			read(p.preferences(), p.token)
		}
		var list struct{ Servers []struct{ Server string } }
		path := "/api/servers"
		if err := json.Unmarshal(get(path), &list); err != nil {
			c.events.fail(fmt.Sprintf("servers of %s: %v", h.tenant, err))
		}
		delete(out, h.tenant+" "+path) // it says what state they are in, here
		var names []string
		for _, one := range list.Servers {
			names = append(names, one.Server)
			if h == c.people[0] && strings.HasPrefix(one.Server, "there") { // the others were imported as listings
				get("/api/servers/" + one.Server)
			}
		}
		out[h.tenant+" servers"] = strings.Join(names, " ")
	}
	return out
}
