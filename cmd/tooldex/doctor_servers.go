package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"tooldex/cmd/tooldex/clients"
	"tooldex/config"
	"tooldex/gateway"
	"tooldex/internal/sanitize"
	"tooldex/service"
	"tooldex/tool"
	"tooldex/upstream"
)

// slowStart is from when on a server is told to be slow: its first call waits that long.
const slowStart = 10 * time.Second

// visit is what one server showed.
type visit struct {
	server upstream.Server
	tools  []*tool.Tool
	took   time.Duration
	err    error
}

// servers starts each server, and looks at what it lists.
func (d *doctor) servers(ctx context.Context, s *service.Service) {
	all := s.Servers()
	gw := s.NewGateway(gateway.Options{StartTimeout: d.patience})
	defer func() { _ = gw.Close() }() // it always returns nil
	if len(all) == 0 {
		d.tell(isNote, "server", "", "tooldex servers import finds those of your clients", "none is configured")
	}
	for _, v := range d.visits(ctx, gw, all) {
		d.visited(ctx, s, gw, v)
	}
}

// visits asks the servers, several at a time.
func (d *doctor) visits(ctx context.Context, gw *gateway.Gateway, all []upstream.Server) []visit {
	out := make([]visit, len(all))
	slots := make(chan struct{}, atOnce)
	p := d.newProgress()
	defer p.end()
	var asked sync.WaitGroup
	for i, server := range all {
		out[i].server = server
		up, ok := gw.Upstream(server.Name)
		if !ok { // disabled
			continue
		}
		asked.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			ctx, cancel := context.WithTimeout(ctx, d.patience)
			defer cancel()
			start := time.Now()
			out[i].tools, out[i].err = up.Tools(ctx)
			out[i].took = time.Since(start)
			p.update("asking servers", i, len(all))
		})
	}
	asked.Wait()
	return out
}

// visited tells what a visit has shown.
func (d *doctor) visited(ctx context.Context, s *service.Service, gw *gateway.Gateway, v visit) {
	name := v.server.Name
	switch {
	case v.server.Disabled:
		d.tell(isNote, "server", name, "", "is disabled")
		return
	case v.err != nil:
		d.fail("server", name, v.err)
		return
	case len(v.tools) == 0:
		d.tell(isWarn, "server", name, "see its documentation: some list tools only once they are logged in to",
			"lists no tools")
		return
	}
	tokens := 0
	var faults []string
	for _, t := range v.tools {
		tokens += t.Tokens()
		faults = append(faults, schemaFaults(t)...)
	}
	d.fine("server", name, "%d tools in %s, %d tokens in a plain list", len(v.tools), rounded(v.took), tokens)
	if v.took > slowStart {
		d.tell(isWarn, "server", name, `"start": "eager" in its configuration starts it with tooldex serve`,
			"takes %s to start", rounded(v.took))
	}
	d.group(isWarn, "server "+name, "tell its makers; calls are passed on all the same", faults,
		"%d faults in what it lists")
	d.compare(ctx, s, gw, v)
}

// schemaFaults tells what is wrong with a tool as its server lists it.
func schemaFaults(t *tool.Tool) []string {
	var out []string
	id := string(t.ID())
	var s jsonschema.Schema
	if err := json.Unmarshal(t.InputSchema, &s); err != nil {
		out = append(out, fmt.Sprintf("%s: its inputSchema is no JSON Schema: %v", id, err))
	} else if _, err := s.Resolve(nil); err != nil {
		out = append(out, fmt.Sprintf("%s: its inputSchema cannot be used: %v", id, err))
	}
	copied := *t
	found, err := sanitize.Tool(&copied)
	if err != nil {
		return append(out, fmt.Sprintf("%s: %v", id, err))
	}
	for _, f := range found {
		out = append(out, fmt.Sprintf("%s: %s", id, f.Problem))
	}
	return out
}

// compare looks whether what is stored of a server is what it lists.
func (d *doctor) compare(ctx context.Context, s *service.Service, gw *gateway.Gateway, v visit) {
	stored := map[string]bool{}
	for _, t := range s.Catalog.Set().All() {
		if t.Server == v.server.Name {
			stored[t.Name] = true
		}
	}
	var fresh int
	for _, t := range v.tools {
		if !stored[t.Name] {
			fresh++
		}
		delete(stored, t.Name)
	}
	if fresh+len(stored) == 0 {
		return
	}
	status, remedy := isWarn, "tooldex import, or tooldex doctor --fix"
	if up, ok := gw.Upstream(v.server.Name); ok && d.mend {
		if _, err := s.Catalog.Sync(ctx, up); err != nil {
			d.fail("server", v.server.Name, err)
			return
		}
		status, remedy = isFixed, ""
	}
	d.tell(status, "server", v.server.Name, remedy,
		"%d of its tools are not stored, and %d that are stored it has no more", fresh, len(stored))
}

// clients looks at the files of the clients on this machine.
func (d *doctor) clients() {
	for _, c := range clients.Known() {
		for _, f := range c.Files(d.place()) {
			doc, err := clients.Read(f)
			if err != nil {
				d.fail("client", c.Name, err)
				continue
			}
			if !doc.Exists {
				continue
			}
			entries, err := doc.Servers()
			if err != nil {
				d.fail("client", c.Name, err)
				continue
			}
			d.client(c, f, entries)
		}
	}
}

func (d *doctor) client(c clients.Client, f clients.File, entries []clients.Entry) {
	connect := "tooldex connect " + c.Name
	if f.Project {
		connect += " --project"
	}
	var others []string
	ours := -1
	for i, e := range entries {
		switch {
		case e.Err == nil && config.IsTooldex(e.Server):
			ours = i
		case !e.Server.Disabled:
			others = append(others, e.Name)
		}
	}
	slices.Sort(others)
	switch {
	case ours < 0 && len(others) == 0:
		d.tell(isNote, "client", c.Name, connect, "%s has no servers", f.Path)
	case ours < 0:
		d.tell(isNote, "client", c.Name, connect+" takes them over", "%s has %d servers and does not use tooldex",
			f.Path, len(others))
	case !starts(entries[ours].Server):
		d.tell(isBroken, "client", c.Name, connect, "%s starts %s, which is not there", f.Path,
			entries[ours].Server.Command)
	case len(others) > 0:
		d.tell(isWarn, "client", c.Name, connect+" takes them over", "%s uses tooldex, and %d servers beside it",
			f.Path, len(others))
		d.found[len(d.found)-1].Examples = others
	default:
		d.fine("client", c.Name, "%s uses tooldex", f.Path)
	}
}

// starts reports whether the command of a server is there.
func starts(s upstream.Server) bool {
	if _, err := exec.LookPath(s.Command); err == nil {
		return true
	}
	_, err := os.Stat(s.Command)
	return err == nil
}
