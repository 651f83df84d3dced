package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"tooldex/access"
)

// holder is somebody with a token of a tenant.
type holder struct {
	tenant   string
	mark     string // in every name and text of the tenant, and of no other
	token    string
	profiles []profile // each has preferences
}

// profile is one of a tenant, with a token; name is "" for all tools.
type profile struct{ name, token string }

// The tenants: the first is the home tenant, whose token is for everything of it.
var tenantNames = []string{"home", "acme", "globex", "initech"}

// dumpNouns is what their tools are about.
var dumpNouns = []string{"invoice", "customer", "parcel", "lesson", "recipe", "sensor", "ticket", "contract", "playlist", "garden"}

// profilesEach is how many profiles each tenant has.
const profilesEach = 6

// bulkServers is how many servers of 100 tools each tenant begins with.
const bulkServers = 3

// configure writes what all replicas share.
func (c *cluster) configure() error {
	var b strings.Builder
	fmt.Fprintf(&b, "trust: {policy: warn}\nserve: {rate: -1}\nprofiles:\n")
	tokens := access.File{Path: filepath.Join(c.dir, "tokens.yaml")}
	for i, name := range append(slices.Clone(tenantNames), figuresTenant) {
		h := &holder{tenant: name, mark: "qz" + name + "qz"}
		if i == 0 {
			h.profiles = append(h.profiles, profile{"", access.NewSecret()})
		}
		for n := range profilesEach {
			h.profiles = append(h.profiles, profile{fmt.Sprintf("%s-%d", name, n), access.NewSecret()})
		}
		for _, p := range h.profiles {
			if p.name != "" {
				fmt.Fprintf(&b, "  %s: {tenant: %s}\n", p.name, name)
			}
			err := tokens.Add(access.Token{
				Name: "agents-" + name + p.name, Digest: access.Digest(p.token), View: access.View{Profile: p.name},
			})
			if err != nil {
				return err
			}
		}
		h.token = h.profiles[0].token
		if name == figuresTenant {
			c.figures.h = h
			continue
		}
		c.people = append(c.people, h)
	}
	alone := access.File{Path: filepath.Join(c.dir, "alone-tokens.yaml")}
	one := c.figures.h.profiles[0]
	err := alone.Add(access.Token{Name: "agents", Digest: access.Digest(one.token), View: access.View{Profile: one.name}})
	if err != nil {
		return err
	}
	c.addKeys()
	return os.WriteFile(filepath.Join(c.dir, "tooldex.yaml"), []byte(b.String()), 0o600)
}

// dump writes a listing of one server of a tenant, in a form, and returns the file.
func (c *cluster) dump(h *holder, server, form int) string {
	type listed struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"inputSchema"`
	}
	verbs := []string{"list", "create", "update", "delete", "export", "archive", "share", "count", "rename", "merge"}
	nouns := dumpNouns
	place := []string{"office", "warehouse", "school", "kitchen"}[server%4]
	var tools []listed
	for i := range len(verbs) * len(nouns) {
		verb, noun := verbs[i%len(verbs)], nouns[i/len(verbs)]
		text := fmt.Sprintf("%s one %s of the %s of %s", verb, noun, place, h.mark)
		if i == 0 {
			text += fmt.Sprintf(", form %d", form)
		}
		tools = append(tools, listed{verb + "_" + noun, text, json.RawMessage(`{"type":"object","properties":{"` + noun + `_id":{"type":"string"}}}`)})
	}
	return c.writeDump(place+"-"+h.mark, form, tools)
}

// writeDump writes a listing and returns the file, whose name is that of the server.
func (c *cluster) writeDump(server string, form int, tools any) string {
	file := filepath.Join(c.dir, "dumps", fmt.Sprint(form), server+".json")
	b, err := json.Marshal(map[string]any{"tools": tools})
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o700)
	}
	if err == nil {
		err = os.WriteFile(file, b, 0o600)
	}
	if err != nil {
		panic(failure{err})
	}
	return file
}

// command runs the command for a tenant, on the database.
func (c *cluster) command(ctx context.Context, h *holder, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, c.bin, append(args, "--config", filepath.Join(c.dir, "tooldex.yaml"), "--tenant", h.tenant)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Env = append(os.Environ(), "TOOLDEX_STORE="+c.net.store(-1, tenantNames[0]), "TOOLDEX_DATA_DIR="+filepath.Join(c.dir, "commands"))
	return cmd.CombinedOutput()
}

// replica is one server with a data directory of its own.
type replica struct {
	c      *cluster
	number int
	base   string

	mu    sync.Mutex
	cmd   *exec.Cmd     // guarded by mu
	ended chan struct{} // closed when cmd has ended
}

// start starts the process, also again.
func (r *replica) start(ctx context.Context) error {
	listen, reached := r.c.net.listen(r.number)
	r.base = "http://" + reached
	log, err := os.OpenFile(filepath.Join(r.c.dir, fmt.Sprintf("replica%d.log", r.number)), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the process has its own
	cmd := r.c.net.within(r.number, r.c.bin, "serve", "--listen", listen, "--log-level", "info",
		"--config", filepath.Join(r.c.dir, "tooldex.yaml"), "--tokens", filepath.Join(r.c.dir, "tokens.yaml"),
		"--data-dir", filepath.Join(r.c.dir, fmt.Sprint("data", r.number)))
	cmd.Env = append(os.Environ(), "TOOLDEX_STORE="+r.c.net.store(r.number, tenantNames[0]), "TOOLDEX_TOKEN="+access.NewSecret())
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it is killed at last
		close(ended)
	}()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cmd, r.ended = cmd, ended
	return nil
}

// ready waits until the replica answers that it is ready, without a warning.
func (r *replica) ready(ctx context.Context) error {
	last := ""
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		status, body, err := fetch(ctx, http.MethodGet, r.base+"/readyz", "", nil)
		if err == nil && status == http.StatusOK && !bytes.Contains(body, []byte("warnings")) {
			return nil
		}
		last = fmt.Sprintf("%d %s %v", status, body, err)
		select {
		case <-r.ended: // as its supervisor would
			if err := r.start(ctx); err != nil {
				return err
			}
		default:
		}
		if !pause(ctx, 50*time.Millisecond) {
			return ctx.Err()
		}
	}
	return fmt.Errorf("replica %d is not ready: %s", r.number, last)
}

// warm has the replica open every tenant, as it has after a while: one that it never had cannot be opened without the
// database.
func (r *replica) warm(ctx context.Context) error {
	for _, h := range r.c.people {
		if status, body, err := fetch(ctx, http.MethodGet, r.base+"/search?q=invoice", h.token, nil); err != nil || status != http.StatusOK {
			return fmt.Errorf("a first search of %s: %d %.300s %w", h.tenant, status, body, err)
		}
	}
	return nil
}

// kill ends the process with kill -9, and returns when it has ended.
func (r *replica) kill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cmd != nil {
		_ = r.cmd.Process.Kill() // it may have ended
		<-r.ended
	}
}

// startBalancer runs HAProxy with the configuration of deploy/replicas, but for addresses and for the limit of one
// address, from which all load comes here.
func (c *cluster) startBalancer(ctx context.Context, t *testOf) error {
	program, err := exec.LookPath("haproxy")
	if err != nil {
		return errors.New("HAProxy is not installed (apt-get install haproxy)")
	}
	text, err := os.ReadFile("deploy/replicas/haproxy.cfg")
	if err != nil {
		return err
	}
	address := "127.83.255.9:8733"
	servers := ""
	for i, r := range c.replicas {
		servers += fmt.Sprintf("server r%d %s\n    ", i, strings.TrimPrefix(r.base, "http://"))
	}
	config := string(text)
	for old, next := range map[string]string{
		"bind :8733":   "bind " + address,
		"gt 500":       "gt 1000000",
		"maxconn 4096": "maxconn 4096\n    stats socket " + c.balancerSocket() + " level admin",
		"server-template replica 10 tooldex:8733 resolvers names init-addr none": servers,
	} {
		if !strings.Contains(config, old) {
			return fmt.Errorf("deploy/replicas/haproxy.cfg has no %q", old)
		}
		config = strings.ReplaceAll(config, old, next)
	}
	file := filepath.Join(c.dir, "haproxy.cfg")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(c.dir, "haproxy.log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the process has its own
	cmd := exec.CommandContext(context.Background(), program, "-f", file)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	c.base = "http://" + address
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline) && ctx.Err() == nil; pause(ctx, 50*time.Millisecond) {
		if conn, err := new(net.Dialer).DialContext(ctx, "tcp", address); err == nil {
			_ = conn.Close()
			if status, _, err := fetch(ctx, http.MethodGet, c.base+"/readyz", "", nil); err == nil && status == http.StatusOK {
				return nil
			}
		}
	}
	said, _ := os.ReadFile(log.Name())
	return fmt.Errorf("the balancer does not answer: %s", said)
}

// clients is how all requests are sent. Connections are kept, as those of clients are.
var clients = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 512, MaxIdleConns: 2048}}

// fetch sends a request with a token and returns the status and the body.
func fetch(ctx context.Context, method, url, token string, body any) (int, []byte, error) {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return 0, nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(text))
	if err != nil {
		return 0, nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := clients.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = res.Body.Close() }() // it was read
	var b bytes.Buffer
	_, err = b.ReadFrom(res.Body)
	return res.StatusCode, b.Bytes(), err
}
