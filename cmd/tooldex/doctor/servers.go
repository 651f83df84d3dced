package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"tooldex/cmd/tooldex/clients"
	"tooldex/config"
	"tooldex/gateway"
	"tooldex/internal/redact"
	"tooldex/internal/sanitize"
	"tooldex/service"
	"tooldex/tool"
	"tooldex/upstream"
)

// serversAtOnce bounds the servers that are asked at the same time: no more than the gateway starts at once, so that
// the time that a server takes does not include that of others.
const serversAtOnce = 3

// slowStart is the start time from which on a server counts as slow. The first call of a client waits that long.
const slowStart = 10 * time.Second

// visit is the answer of one server. All of tools, took and err are zero for a disabled one. The goroutine of a visit
// writes only to its own element, so that no lock is needed.
type visit struct {
	server upstream.Server
	tools  []*tool.Tool
	took   time.Duration
	err    error
}

// checkServers starts each server and checks the tools that it lists.
func (d *doctor) checkServers(ctx context.Context, s *service.Service) {
	all := s.Servers()
	// Servers are started anew even if tooldex serves now: the check must show what a fresh start does.
	gw := s.NewGateway(gateway.Options{StartTimeout: d.o.ServerTimeout, CallTimeout: d.o.ServerTimeout})
	defer func() { _ = gw.Close() }() // it always returns nil
	if len(all) == 0 {
		d.addFinding(Note, "server", "", "tooldex servers import finds those of your clients", "no server is configured")
	}
	for _, server := range all {
		if places := redact.Places(server.Args, server.URL, server.Env, server.Headers); len(places) > 0 {
			d.addFinding(Warn, "server", server.Name,
				"set each as an environment variable, and write ${NAME} in its place",
				"secrets stand in its configuration: %s", strings.Join(places, ", "))
		}
	}
	// Only this goroutine adds findings, in the order of the configuration.
	for _, v := range d.askServers(ctx, gw, all) {
		d.checkServer(ctx, s, gw, v)
	}
}

// askServers lists the tools of the servers, several at a time. The result is in the order of all.
func (d *doctor) askServers(ctx context.Context, gw *gateway.Gateway, all []upstream.Server) []visit {
	out := make([]visit, len(all))
	slots := make(chan struct{}, serversAtOnce)
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
			start := time.Now()
			out[i].tools, out[i].err = up.Tools(ctx)
			out[i].took = time.Since(start)
			d.o.Progress("asking servers", i, len(all))
		})
	}
	asked.Wait()
	return out
}

// checkServer adds the findings of one visit.
func (d *doctor) checkServer(ctx context.Context, s *service.Service, gw *gateway.Gateway, v visit) {
	name := v.server.Name
	switch {
	case v.server.Disabled:
		d.addFinding(Note, "server", name, "", "is disabled")
		return
	case v.err != nil:
		d.addError("server", name, v.err)
		return
	case len(v.tools) == 0:
		d.addFinding(Warn, "server", name, "see its documentation: some list tools only once they are logged in to",
			"lists no tools")
		return
	}
	// The faults of the definitions are grouped into one finding, since a server tends to repeat them.
	tokens := 0
	var faults []string
	for _, t := range v.tools {
		tokens += t.Tokens()
		faults = append(faults, schemaFaults(t)...)
	}
	d.addFine("server", name, "lists %s in %s; their definitions take %d tokens", Count(len(v.tools), "tool"),
		roundDuration(v.took), tokens)
	if v.server.Isolate != nil {
		d.addFine("server", name, "runs isolated (%s)", v.server.Isolate)
	}
	if v.took > slowStart {
		d.addFinding(Warn, "server", name, `"start": "eager" in its configuration starts it with tooldex serve`,
			"takes %s to start", roundDuration(v.took))
	}
	d.addGroup(Warn, "server "+name, "report them to its makers; calls are still passed on", faults,
		"1 fault in what it lists", "%d faults in what it lists")
	d.compareWithStored(ctx, s, gw, v)
}

// schemaFaults lists what is wrong with a tool as its server lists it. t is not changed: sanitize repairs a copy.
func schemaFaults(t *tool.Tool) []string {
	var out []string
	id := string(t.ID())
	var s jsonschema.Schema
	if err := json.Unmarshal(t.InputSchema, &s); err != nil {
		out = append(out, fmt.Sprintf("%s: its inputSchema is no JSON Schema: %v", id, err))
	} else if _, err := s.Resolve(nil); err != nil {
		out = append(out, fmt.Sprintf("%s: its inputSchema cannot be used: %v", id, err))
	}
	// What cleaning would repair is a fault of the server, even though the repaired tool works.
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

// compareWithStored compares the names of the stored tools of a server with those that it lists. With Fix it imports
// the server again.
func (d *doctor) compareWithStored(ctx context.Context, s *service.Service, gw *gateway.Gateway, v visit) {
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
	status, remedy := Warn, "tooldex import, or tooldex doctor --fix"
	// The gateway still holds the connection, so this import does not start the server again.
	if up, ok := gw.Upstream(v.server.Name); ok && d.o.Fix {
		if _, err := s.Catalog.Sync(ctx, up); err != nil {
			d.addError("server", v.server.Name, err)
			return
		}
		status, remedy = Fixed, ""
	}
	d.addFinding(status, "server", v.server.Name, remedy,
		"%d of its tools are not stored, and it no longer has %d of the stored ones", fresh, len(stored))
}

// checkClients checks the files of all clients on this machine. Files that do not exist are no finding.
func (d *doctor) checkClients() {
	for _, c := range clients.Known() {
		for _, f := range c.Files(d.o.Clients) {
			doc, err := clients.Read(f)
			if err != nil {
				d.addError("client", c.Name, err)
				continue
			}
			if !doc.Exists {
				continue
			}
			entries, err := doc.Servers()
			if err != nil {
				d.addError("client", c.Name, err)
				continue
			}
			d.checkClient(c, f, entries)
		}
	}
}

// checkClient checks whether a client uses tooldex, whether the command for it exists, and which servers it has beside
// it.
func (d *doctor) checkClient(c clients.Client, f clients.File, entries []clients.Entry) {
	connect := "tooldex connect " + c.Name
	if f.Project {
		connect += " --project"
	}
	var others []string
	// the index of the entry that starts tooldex
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
		d.addFinding(Note, "client", c.Name, connect, "%s has no servers", f.Path)
	case ours < 0:
		d.addFinding(Note, "client", c.Name, connect+" takes them over", "%s has %s and does not use tooldex",
			f.Path, Count(len(others), "server"))
	case !commandExists(entries[ours].Server):
		d.addFinding(Broken, "client", c.Name, connect, "%s starts %s, which is not there", f.Path,
			entries[ours].Server.Command)
	case len(others) > 0:
		d.addFinding(Warn, "client", c.Name, connect+" takes them over", "%s uses tooldex, and %s beside it",
			f.Path, Count(len(others), "server"))
		d.found[len(d.found)-1].Examples = others
	default:
		d.addFine("client", c.Name, "%s uses tooldex", f.Path)
	}
}

// commandExists reports whether the command of a server exists, on PATH or as a path.
func commandExists(s upstream.Server) bool {
	if _, err := exec.LookPath(s.Command); err == nil {
		return true
	}
	_, err := os.Stat(s.Command)
	return err == nil
}
