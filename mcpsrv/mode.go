package mcpsrv

import (
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/sanitize"
	"tooldex/tool"
)

// Mode is what tools/list holds. Every mode serves calls of every tool.
type Mode string

// The modes. The zero value means Search. All but Full list the server's own tools and those of Options.Always.
const (
	Search  Mode = "search"  // nothing else
	Dynamic Mode = "dynamic" // and what this session found by searching; without sessions the same as Search
	Lazy    Mode = "lazy"    // and every enabled tool as a stub: its name, one line and no parameters
	Full    Mode = "full"    // every enabled tool, and none of the server's own; for small catalogues
	// Auto is Full for a small catalogue, else Dynamic for clients that list again after a change, else Search.
	Auto Mode = "auto"
)

// eager is how Lazy lists for a client that opted out of stubs.
const eager Mode = "eager"

// Modes returns all modes.
func Modes() []Mode { return []Mode{Search, Dynamic, Lazy, Full, Auto} }

// DefaultThreshold is the size of the largest catalogue that Auto lists in full, in tokens of its plain listing.
const DefaultThreshold = 8000

// clientRequest is the part of a request that describes its client. Info and capabilities may be nil.
type clientRequest interface {
	ProtocolVersion() string
	ClientInfo() *mcp.Implementation
	ClientCapabilities() *mcp.ClientCapabilities
}

// modeOf returns the mode in which a client is served now. It is never Auto. Without sessions Dynamic becomes Search,
// since there is nothing to keep a list in.
func (s *Server) modeOf(r clientRequest, set *tool.Set) Mode {
	now := s.live.Load()
	mode := now.mode
	if now.mode == Auto {
		mode = now.catalogueMode(set)
		if mode == Search && s.followsChanges(r) {
			mode = Dynamic
		}
	}
	if mode == Dynamic && isStateless(r) {
		mode = Search
	}
	if now.mode == Auto {
		s.logChoice(r, mode)
	}
	return mode
}

// catalogueMode returns Auto's choice as far as the catalogue decides it, and any other mode as it is. An empty
// catalogue is served as Search: a client that ignores list changes would otherwise never see the tools that come
// later.
func (now *liveOptions) catalogueMode(set *tool.Set) Mode {
	if now.mode != Auto {
		return now.mode
	}
	left := now.threshold
	for _, t := range set.All() {
		if t.Disabled {
			continue
		}
		if left -= t.Tokens(); left < 0 {
			return Search
		}
	}
	// No tool was counted.
	if left == now.threshold {
		return Search
	}
	return Full
}

// isStateless reports whether a request is one of the protocol without sessions.
func isStateless(r clientRequest) bool { return r.ProtocolVersion() >= statelessRevision }

// followsKey is the experimental capability by which a client declares that it lists again after a change.
const followsKey = "tooldex/listChanged"

// followsChanges reports whether a client lists again after a list_changed notification: by its own declaration, by the
// names in Options.Followers, or by the built-in names. The protocol has no capability for it.
func (s *Server) followsChanges(r clientRequest) bool {
	if isStateless(r) {
		return false
	}
	if c := r.ClientCapabilities(); c != nil && c.Experimental[followsKey] != nil {
		return true
	}
	info := r.ClientInfo()
	return info != nil && (isKnownFollower(info.Name, info.Version) || s.live.Load().followers[info.Name])
}

// isKnownFollower has the clients that list again after a change, by the names that they give in initialize.
func isKnownFollower(name, version string) bool {
	switch name {
	case "claude-code":
		return versionAtLeast(version, 2, 1)
	case "cursor-vscode", "Visual Studio Code", "Visual-Studio-Code", "Cline", "Kilo-Code", "opencode", "Windsurf",
		"windsurf-client":
		return true
	}
	return false
}

// versionAtLeast compares the first two numbers of a version. It returns false for a version that it cannot read.
func versionAtLeast(version string, major, minor int) bool {
	first, rest, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	second, _, _ := strings.Cut(rest, ".")
	a, errA := strconv.Atoi(first)
	b, errB := strconv.Atoi(second)
	return errA == nil && errB == nil && (a > major || a == major && b >= minor)
}

// maxChoices bounds how many choices of Auto are logged. Clients choose their names, so there is no end to them.
const maxChoices = 64

// logChoice logs Auto's choice, once for each mode and client name.
func (s *Server) logChoice(r clientRequest, mode Mode) {
	name := ""
	if info := r.ClientInfo(); info != nil {
		name = oneLine(sanitize.Clip(info.Name, 80))
	}
	key := string(mode) + " " + name
	s.mu.Lock()
	known := s.choices[key] || len(s.choices) >= maxChoices
	if !known {
		s.choices[key] = true
	}
	s.mu.Unlock()
	if !known {
		s.o.Logger.Info("mode chosen", "mode", mode, "client", name, "revision", r.ProtocolVersion(), "threshold",
			s.live.Load().threshold)
	}
}

// addInstructions writes the instructions for a client into the answer to initialize, or to the discovery that replaces
// it.
func (s *Server) addInstructions(req mcp.Request, res mcp.Result) {
	client, ok := req.(clientRequest)
	if !ok {
		return
	}
	switch r := res.(type) {
	case *mcp.InitializeResult:
		if r != nil {
			r.Instructions = s.modelInstructions(client)
		}
	case *mcp.DiscoverResult:
		if r != nil {
			r.Instructions = s.modelInstructions(client)
		}
	}
}

// modelInstructions returns a short text for the model that fits the client's mode.
func (s *Server) modelInstructions(r clientRequest) string {
	const find = "Many tools lie behind this server. Find them with " + searchName + ", in plain words"
	switch s.modeOf(r, s.currentSet()) {
	case Full:
		return ""
	case Lazy:
		return "The tools of this server are listed without their parameters. " + describeName + " shows them."
	case Dynamic:
		return find + "; what it finds joins your list of tools."
	}
	return find + ", then call what it finds through " + invokeName + "."
}

// liveOptions are the options that may change while clients are connected. A value is never changed: Reconfigure
// replaces it.
type liveOptions struct {
	mode      Mode
	threshold int
	followers map[string]bool
	always    []string
	summary   string
	maxResult int
}

// liveOptionsOf copies the changeable options out of o.
func liveOptionsOf(o Options) *liveOptions {
	w := &liveOptions{
		mode: o.Mode, threshold: o.Threshold, followers: map[string]bool{}, always: o.Always,
		summary: o.Summary, maxResult: o.MaxResult,
	}
	for _, name := range o.Followers {
		w.followers[name] = true
	}
	return w
}

// Reconfigure applies Mode, Threshold, Followers, Always, Summary and MaxResult of o from now on, and notifies
// connected clients if that changes their listing. It ignores the rest of o. Sessions go on.
func (s *Server) Reconfigure(o Options) {
	s.live.Store(liveOptionsOf(o.withDefaults()))
	s.listings.mu.Lock()
	s.listings.byMode, s.listings.always = nil, nil
	s.listings.mu.Unlock()
	s.CatalogChanged()
}
