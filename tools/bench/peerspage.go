package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/eval"
	"tooldex/tool"
	"tooldex/tools/internal/gauge"
	"tooldex/tools/internal/provenance"
)

const (
	peerStarts = 5 // starts of each gateway in front of each set
	peerCalls  = 1000
)

// peerSets are the sets that the gateways are put in front of: the one of this repository, and those of the data
// folder that have servers to put them in front of.
func peerSets() []peerSet {
	return []peerSet{
		{demoSet, "the demo of this repository, with servers made up like popular ones. The requests are ours and the built-in\n" +
			"library knows these kinds of servers, which favours tooldex"},
		{"intents", "real servers, many of them popular. The requests are ours and the built-in library knows these kinds of\n" +
			"servers, which favours tooldex"},
		{"unprepared", "real servers that nobody prepared the built-in library for. The requests are ours"},
	}
}

type peerSet struct{ name, what string }

// peerFigures are what one gateway did in front of one set.
type peerFigures struct {
	hit1, hit5 float64
	// shares of the requests that no tool serves which are answered as if one did, and of the others which are not;
	// wrong is negative where the set has no such requests
	wrong, refused float64
	p50, p99       time.Duration
	start          time.Duration
	memory         float64  // MB
	list, answer   int      // tokens of the list of tools, and of an answer at the median
	given          int      // tools in most answers
	lost           []string // servers whose tools the gateway did not take
}

// peersPage measures tooldex beside other gateways that can be installed from registries of packages. Without the
// data folder it measures the set of this repository alone.
func peersPage(ctx context.Context, c config) (string, error) {
	dir, err := installPeers(ctx)
	if err != nil {
		return "", err
	}
	all := peers(c, dir)
	l := &lab{data: c.data, sets: map[string]*labelled{}}
	var b strings.Builder
	for _, set := range peerSets() {
		if _, err := os.Stat(filepath.Join(c.data, set.name)); err != nil && set.name != demoSet {
			continue
		}
		text, err := comparePeers(ctx, l, set, all)
		if err != nil {
			return "", fmt.Errorf("%s: %w", set.name, err)
		}
		b.WriteString(text)
	}
	calls, err := comparePeerCalls(ctx, c, all)
	if err != nil {
		return "", err
	}
	return peersHead(ctx, all) + b.String() + calls, nil
}

func peersHead(ctx context.Context, all []peer) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# tooldex beside other gateways\n\n%s\n\n", provenance.Line(ctx, "make compare-peers"))
	b.WriteString("Gateways of other projects that can be installed from npm or Go's module proxy, in front of the same servers, asked\n" +
		"the same requests over MCP with everything at its default. All see of a tool what a server lists: name, title,\n" +
		"description, schemas and annotations. The command installs them by:\n\n```text\n")
	for _, step := range installSteps() {
		b.WriteString(step.command + "\n")
	}
	b.WriteString("```\n\n| gateway | how it ran |\n|---|---|\n")
	for _, p := range all {
		fmt.Fprintf(&b, "| %s | %s |\n", p.name, p.note)
	}
	b.WriteString("\nNo embedding service was attached to any of them. **Where it says \"lexical half only\", the other half of that search,\n" +
		"which compares meanings, did not run**: with it the gateway may find more, and takes longer.\n" +
		"[The comparison](comparison.md) says what each gateway is, and why others are not here.\n\n" +
		"- hit@1, hit@5: a right tool comes first, or is among the first five, over the requests that a tool serves.\n" +
		"- Refused: requests that a tool serves, answered with nothing or with the remark that nothing fits. Taken: requests\n" +
		"  that no tool serves, answered with tools and no remark.\n" +
		"- Search: a call of the search tool, seen by the client, one request at a time, the gateways in turn.\n" +
		"- Start: from the start of the process to the first answer of a search. tooldex has imported the tools before and\n" +
		"  reads its store; the others ask every server for its tools.\n" +
		"- Memory: resident, of the gateway's process alone, after the requests.\n" +
		"- Tokens: characters / 4 of tools/list, and of the text of an answer at the median.\n\n")
	return b.String()
}

// comparePeers puts all gateways in front of one set, one after another.
func comparePeers(ctx context.Context, l *lab, set peerSet, all []peer) (string, error) {
	labels, err := l.set(ctx, set.name)
	if err != nil {
		return "", err
	}
	servers, stop, err := servePeers(ctx, labels)
	if err != nil {
		return "", err
	}
	defer stop()
	figures, err := measurePeers(ctx, all, servers, labels)
	if err != nil {
		return "", err
	}
	served := 0
	for i := range labels.Cases {
		if !labels.Cases[i].NoMatch() {
			served++
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%d requests that a tool serves and %d that none does, %d tools of %d servers.\nThey are %s.\n\n", set.name,
		served, len(labels.Cases)-served, servers.tools, len(servers.urls), set.what)
	b.WriteString(betterThanOurs(all, figures) + "\n")
	b.WriteString("| gateway | hit@1 | hit@5 | refused | taken | search p50 | p99 | start | memory | tokens of the list | of an answer |\n" +
		"|---|---|---|---|---|---|---|---|---|---|---|\n")
	for i, p := range all {
		f := figures[i]
		taken := "-"
		if f.wrong >= 0 {
			taken = short(f.wrong)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s | %.0f MB | %d | %d for %d tools |\n", p.name, short(f.hit1),
			short(f.hit5), short(f.refused), taken, milliseconds(f.p50), milliseconds(f.p99), milliseconds(f.start), f.memory,
			f.list, f.answer, f.given)
	}
	for i, p := range all {
		if len(figures[i].lost) > 0 {
			fmt.Fprintf(&b, "\n%s did not take the tools of %s.\n", p.name, strings.Join(figures[i].lost, ", "))
		}
	}
	b.WriteString("\n")
	return b.String(), nil
}

// short writes a share as the pages of figures do.
func short(share float64) string { return strings.TrimPrefix(fmt.Sprintf("%.3f", share), "0") }

// betterThanOurs says which gateways beat the first one, and in what.
func betterThanOurs(all []peer, figures []peerFigures) string {
	ours := figures[0]
	var out []string
	for i, f := range figures[1:] {
		var in []string
		for _, x := range []struct {
			what   string
			better bool
		}{
			{"hit@1", f.hit1 > ours.hit1},
			{"hit@5", f.hit5 > ours.hit5},
			{"refused", f.refused < ours.refused},
			{"taken", f.wrong >= 0 && f.wrong < ours.wrong},
			{"the time of a search", f.p50 < ours.p50},
			{"start", f.start < ours.start},
			{"memory", f.memory < ours.memory},
			{"tokens of the list", f.list < ours.list},
			{"tokens of an answer", f.answer < ours.answer},
		} {
			if x.better {
				in = append(in, x.what)
			}
		}
		if len(in) > 0 {
			out = append(out, fmt.Sprintf("%s in %s", all[i+1].name, strings.Join(in, ", ")))
		}
	}
	if len(out) == 0 {
		return "Better than tooldex here: none.\n"
	}
	return "Better than tooldex here: " + strings.Join(out, "; ") + ".\n"
}

// measurePeers starts every gateway a few times, and puts the requests of a set to all of them in turn, so that other
// work on the machine is the same for all.
func measurePeers(ctx context.Context, all []peer, servers peerServers, set *labelled) ([]peerFigures, error) {
	asked := make([]*askedPeer, len(all))
	for i, p := range all {
		fmt.Fprintf(os.Stderr, "%s: %s\n", set.Name, p.name)
		a, err := startPeer(ctx, p, servers, set)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		defer a.stop()
		asked[i] = a
	}
	for i := range set.Cases {
		for _, a := range asked {
			if err := a.ask(ctx, &set.Cases[i]); err != nil {
				return nil, fmt.Errorf("%s: %q: %w", a.peer.name, set.Cases[i].Query, err)
			}
		}
	}
	out := make([]peerFigures, len(all))
	for i, a := range asked {
		if err := a.score(); err != nil {
			return nil, err
		}
		out[i] = a.peerFigures
	}
	return out, nil
}

// askedPeer is a gateway that runs, and what it answered.
type askedPeer struct {
	peerFigures
	peer    peer
	set     *labelled
	session *peerSession
	home    string
	ids     map[string]tool.ID // of the names that the gateway gives tools
	times   []time.Duration
	tokens  []int
	counts  []int // tools in each answer
	answers []eval.Answer
}

// startPeer starts a gateway a few times, each until it has answered a search, and leaves the last one running.
func startPeer(ctx context.Context, p peer, servers peerServers, set *labelled) (*askedPeer, error) {
	a := &askedPeer{peer: p, set: set, ids: map[string]tool.ID{}}
	for _, t := range set.catalogue.All() {
		a.ids[p.named(tool.MakeID(plainName(t.Server), t.Name))] = t.ID()
	}
	var err error
	if a.home, err = os.MkdirTemp("", "tooldex-peer"); err != nil {
		return nil, err
	}
	if p.prepare != nil {
		err = p.prepare(ctx, servers, a.home)
	}
	if err == nil {
		a.start, err = repeat(peerStarts, func() (time.Duration, error) {
			if a.session != nil {
				a.session.stop()
			}
			start := time.Now()
			s, err := p.open(ctx, servers, a.home)
			if err != nil {
				return 0, err
			}
			a.session = s
			_, err = s.CallTool(ctx, p.ask(set.Cases[0].Query))
			return time.Since(start), err
		})
	}
	if err == nil {
		a.lost, err = lostServers(a.home)
	}
	if err == nil {
		a.list, err = listTokens(ctx, a.session.ClientSession)
	}
	if err != nil {
		a.stop()
		return nil, err
	}
	return a, nil
}

func (a *askedPeer) stop() {
	if a.session != nil {
		a.session.stop()
	}
	removeAll(a.home)
}

// lostServers lists the servers that a gateway says it left out. Its figures would be worth nothing without the remark.
func lostServers(home string) ([]string, error) {
	b, err := os.ReadFile(filepath.Join(home, peerLog))
	var out []string
	for _, m := range regexp.MustCompile(`failed to register ([\w-]+):`).FindAllStringSubmatch(string(b), -1) {
		if !slices.Contains(out, m[1]) {
			out = append(out, m[1])
		}
	}
	return out, err
}

func listTokens(ctx context.Context, s *mcp.ClientSession) (int, error) {
	p := player{ClientSession: s}
	err := p.list(ctx)
	return p.first, err
}

// ask puts one request to the gateway.
func (a *askedPeer) ask(ctx context.Context, one *eval.Case) error {
	start := time.Now()
	res, err := a.session.CallTool(ctx, a.peer.ask(one.Query))
	took := time.Since(start)
	if err == nil && res.IsError {
		err = errors.New(textOf(res))
	}
	if err != nil {
		return err
	}
	a.times, a.tokens = append(a.times, took), append(a.tokens, countTokens(textOf(res)))
	if a.peer.rank != nil {
		if res, err = a.session.CallTool(ctx, a.peer.rank(one.Query)); err != nil {
			return err
		}
	}
	names, confident, err := a.peer.found(res)
	if err != nil {
		return fmt.Errorf("%w: %s", err, textOf(res))
	}
	a.counts = append(a.counts, len(names))
	answer := eval.Answer{ID: one.ID, Confident: &confident}
	for _, name := range names[:min(5, len(names))] {
		id, ok := a.ids[name]
		if !ok {
			return fmt.Errorf("there is no tool %q", name)
		}
		answer.Ranked = append(answer.Ranked, eval.Ranked{Name: a.set.Label(id)})
	}
	a.answers = append(a.answers, answer)
	return nil
}

// score fills the figures from the answers.
func (a *askedPeer) score() error {
	r, err := eval.Score(a.set.Dataset, a.answers, eval.Options{Limit: 5})
	if err != nil {
		return err
	}
	a.hit1, a.hit5 = r.All.Scores["hit@1"], r.All.Scores["hit@5"]
	a.p50, a.p99 = percentile(a.times, 50), percentile(a.times, 99)
	slices.Sort(a.tokens)
	slices.Sort(a.counts)
	a.answer, a.given = a.tokens[len(a.tokens)/2], a.counts[len(a.counts)/2]
	a.wrong = -1
	if n := r.NoMatch; n != nil {
		a.refused = 1 - *n.Confident
		if n.All != nil {
			a.wrong = *n.All.Confident
		}
	}
	a.memory, err = gauge.ResidentMB(a.session.pid)
	return err
}

// plainName is the name of a server as people write it into a configuration, without remarks in brackets.
func plainName(server string) string {
	server, _, _ = strings.Cut(server, " (")
	return strings.Trim(regexp.MustCompile(`[^a-z0-9_]+`).ReplaceAllString(strings.ToLower(server), "-"), "-")
}

// objectSchema makes a schema one that the protocol allows: sets leave out the type of tools without parameters, and
// clients refuse all tools of a server that lists one such schema.
func objectSchema(schema json.RawMessage) (json.RawMessage, error) {
	fields := map[string]json.RawMessage{}
	if len(schema) > 0 {
		if err := json.Unmarshal(schema, &fields); err != nil {
			return nil, err
		}
	}
	if string(fields["type"]) == `"object"` {
		return schema, nil
	}
	fields["type"] = json.RawMessage(`"object"`)
	return json.Marshal(fields)
}

// servePeers starts servers that list the tools of a set, and that answer every call alike.
func servePeers(ctx context.Context, set *labelled) (peerServers, func(), error) {
	self, err := os.Executable()
	if err != nil {
		return peerServers{}, nil, err
	}
	dir, err := os.MkdirTemp("", "tooldex-peers")
	if err != nil {
		return peerServers{}, nil, err
	}
	if err := os.Mkdir(filepath.Join(dir, "catalogue"), 0o755); err != nil {
		removeAll(dir)
		return peerServers{}, nil, err
	}
	out := peerServers{urls: map[string]string{}}
	byServer := map[string][]*tool.Tool{}
	for _, t := range set.catalogue.All() {
		if !t.Disabled {
			named := *t
			named.Server = plainName(t.Server)
			if named.InputSchema, err = objectSchema(t.InputSchema); err != nil {
				removeAll(dir)
				return peerServers{}, nil, err
			}
			byServer[named.Server] = append(byServer[named.Server], &named)
			out.tools++
		}
	}
	for _, tools := range byServer {
		if err := writeDump(filepath.Join(dir, "catalogue"), tools); err != nil {
			removeAll(dir)
			return peerServers{}, nil, err
		}
	}
	far, err := listening(ctx, self, "upstreams-http", filepath.Join(dir, "catalogue"))
	if err != nil {
		removeAll(dir)
		return peerServers{}, nil, err
	}
	for name := range byServer {
		out.urls[name] = far.base + "/" + name
	}
	out.file, err = dumpServers(config{data: dir}, dir)
	return out, func() { far.stop(); removeAll(dir) }, err
}
