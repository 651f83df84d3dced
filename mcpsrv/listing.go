package mcpsrv

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/orderedjson"
	"tooldex/internal/sanitize"
	"tooldex/tool"
)

// What stateless clients may do with a listing: keep it for listTTL, and only for themselves, since it may differ
// between clients. listPage is the number of tools in one page.
const (
	listTTL   = 60_000 // milliseconds
	listScope = "private"
	listPage  = 1000
)

// objectSchema stands in for a schema that is missing or unusable. It accepts every object.
var objectSchema = json.RawMessage(`{"type":"object"}`)

// listing is the answer to tools/list in one mode for one version of the catalogue. It is shared and never changed;
// withTools copies it.
type listing struct {
	version     string // of the set
	entries     []entry
	at          map[tool.ID]int // index in entries of the catalogue's tools
	fingerprint string          // hash of the entries; "" in a copy by withTools
}

// listings caches one listing for each mode. mu guards all fields. The zero value is ready.
type listings struct {
	mu     sync.Mutex
	byMode map[Mode]*listing
	// always holds the tools that Options.Always names in the set of this version.
	always  map[tool.ID]bool
	version string
	missing map[string]bool // names in Options.Always that were logged as unknown
}

// wireTool is a tool in the form of tools/list.
type wireTool struct {
	Name         string            `json:"name"`
	Title        string            `json:"title,omitempty"`
	Description  string            `json:"description,omitempty"`
	InputSchema  json.RawMessage   `json:"inputSchema"`
	OutputSchema json.RawMessage   `json:"outputSchema,omitempty"`
	Annotations  *tool.Annotations `json:"annotations,omitempty"`
	Icons        json.RawMessage   `json:"icons,omitempty"`
	Meta         json.RawMessage   `json:"_meta,omitempty"`
}

// toolListing returns the listing of a set in a mode, from the cache if the set is the same. Its bytes depend on
// nothing but the set and the options.
func (s *Server) toolListing(set *tool.Set, mode Mode) *listing {
	s.listings.mu.Lock()
	defer s.listings.mu.Unlock()
	if l := s.listings.byMode[mode]; l != nil && l.version == set.Version() {
		return l
	}
	l := &listing{version: set.Version(), at: make(map[tool.ID]int)}
	if mode != Full {
		summary := cmp.Or(s.live.Load().summary, summarizeSet(set))
		for _, m := range s.meta {
			if m.isListed(mode) {
				l.appendTool("", m.forMode(mode, summary))
			}
		}
	}
	always := s.alwaysListed(set)
	for _, t := range set.All() {
		switch id := t.ID(); {
		case t.Disabled:
		case mode == Full, mode == eager, always[id]:
			l.appendTool(id, fullTool(set, t))
		case mode == Lazy:
			l.appendTool(id, stubTool(set, t))
		}
	}
	// The fingerprint shows whether clients have to list again.
	sum := sha256.New()
	for _, e := range l.entries {
		sum.Write(e.raw)
	}
	l.fingerprint = hex.EncodeToString(sum.Sum(nil))
	if s.listings.byMode == nil {
		s.listings.byMode = make(map[Mode]*listing)
	}
	s.listings.byMode[mode] = l
	return l
}

// alwaysListed returns the tools that every client is shown. The caller holds the lock of listings. The map is shared
// and must not be changed.
func (s *Server) alwaysListed(set *tool.Set) map[tool.ID]bool {
	l := &s.listings
	if l.always != nil && l.version == set.Version() {
		return l.always
	}
	l.always, l.version = make(map[tool.ID]bool), set.Version()
	for _, t := range set.All() {
		if t.Always {
			l.always[t.ID()] = true
		}
	}
	for _, name := range s.live.Load().always {
		t, err := s.resolveTool(set, name)
		switch {
		case err == nil:
			l.always[t.ID()] = true
		case set.Len() > 0 && !l.missing[name]:
			if l.missing == nil {
				l.missing = make(map[string]bool)
			}
			l.missing[name] = true
			s.o.Logger.Warn("a tool that should always be available does not exist", "name", name, "err", err)
		}
	}
	return l.always
}

// isAlwaysListed reports whether every client is shown a tool.
func (s *Server) isAlwaysListed(set *tool.Set, id tool.ID) bool {
	s.listings.mu.Lock()
	defer s.listings.mu.Unlock()
	return s.alwaysListed(set)[id]
}

// appendTool adds a tool at the end. id is "" for one of the server's own.
func (l *listing) appendTool(id tool.ID, w wireTool) {
	if id != "" {
		l.at[id] = len(l.entries)
	}
	l.entries = append(l.entries, entry{w.Name, orderedjson.Encode(w)})
}

// withTools returns a copy of l that lists the named tools in full: in their place if they have one, otherwise at the
// end. It returns l itself if ids is empty. Tools that are gone or disabled are left out.
func (l *listing) withTools(set *tool.Set, ids []tool.ID) *listing {
	if len(ids) == 0 {
		return l
	}
	out := &listing{version: l.version, entries: slices.Clone(l.entries), at: maps.Clone(l.at)}
	for _, id := range ids {
		t, ok := set.Get(id)
		if !ok || t.Disabled {
			continue
		}
		if i, ok := l.at[id]; ok {
			out.entries[i].raw = orderedjson.Encode(fullTool(set, t))
		} else {
			out.appendTool(id, fullTool(set, t))
		}
	}
	return out
}

// fullTool returns a tool as it is listed in full.
func fullTool(set *tool.Set, t *tool.Tool) wireTool {
	return wireTool{
		Name: listedName(set, t), Title: t.Title, Description: tool.WithCaution(t.Warning,
			cmp.Or(t.Description, t.Summary)),
		InputSchema: validOr(t.InputSchema, objectSchema), OutputSchema: validOr(t.OutputSchema, nil),
		Annotations: t.Annotations, Icons: validOr(t.Icons, nil), Meta: validOr(t.Meta, nil),
	}
}

// stubTool returns a tool as it is listed in lazy mode: its name, one line, and no parameters.
func stubTool(set *tool.Set, t *tool.Tool) wireTool {
	text := oneLine(cmp.Or(t.Summary, sanitize.DeriveSummary(t.Description)))
	if t.Deprecated != "" {
		text = strings.TrimSpace(text + " [" + deprecatedMark(t.Deprecated) + "]")
	}
	return wireTool{Name: listedName(set, t), Description: tool.WithCaution(t.Warning, text), InputSchema: objectSchema}
}

// listedName returns the name under which clients call t.
func listedName(set *tool.Set, t *tool.Tool) string {
	return clientName(set.Exposed(t.ID()), t.Server, t.Name)
}

// validOr returns raw, or other if raw is empty or not JSON. One such tool would make a client refuse the whole
// listing.
func validOr(raw, other json.RawMessage) json.RawMessage {
	if len(raw) == 0 || !json.Valid(raw) {
		return other
	}
	return raw
}

// listTools answers tools/list. A cursor is the name of the last tool of the page before.
func (s *Server) listTools(ctx context.Context, req *mcp.ListToolsRequest) (mcp.Result, error) {
	cursor := ""
	if req.Params != nil {
		cursor = req.Params.Cursor
	}
	asked, err := listQueryOf(req)
	if err != nil {
		return nil, s.requestError(ctx, err)
	}
	tag, tagged, err := tagOf(req)
	if err != nil {
		return nil, s.requestError(ctx, err)
	}
	var entries []entry
	if asked == nil {
		entries = s.listingFor(req).entries
	} else if entries, err = s.listMatching(ctx, req, asked); err != nil {
		return nil, s.requestError(ctx, err)
	}
	page, err := pageOf(req, "tools", entries, cursor)
	if err != nil || !tagged {
		return page, err
	}
	return taggedPage(req, page, tag)
}

// listingFor returns what one client is shown.
func (s *Server) listingFor(req *mcp.ListToolsRequest) *listing {
	set := s.currentSet()
	mode := s.modeOf(req, set)
	if mode == Lazy && wantsFullSchemas(req) {
		mode = eager
	}
	l := s.toolListing(set, mode)
	if isStateless(req) {
		return l
	}
	if mode == Dynamic || mode == Lazy {
		own, whole := s.sessionTools(req.Session, set)
		if mode == Lazy {
			own = whole
		}
		l = l.withTools(set, own)
	}
	return s.withReadResult(l, req.Session)
}

// maxSummary bounds the summary of the catalogue in the description of search_tools, in bytes: about 200 tokens.
const maxSummary = 800

// summarizeSet returns a summary of the catalogue in at most maxSummary bytes: the servers and categories with most
// tools first, as many as fit.
func summarizeSet(set *tool.Set) string {
	servers, categories := set.Servers(), set.Categories()
	total := 0
	for _, c := range servers {
		total += c.Tools
	}
	text := fmt.Sprintf("Now %d tools.", total)
	categories = slices.DeleteFunc(categories, func(c tool.Count) bool { return c.Name == "other" })
	half := maxSummary / 2
	if len(categories) == 0 {
		half = maxSummary
	}
	text += joinCounts(" Servers: ", servers, half-len(text))
	return text + joinCounts(" Categories: ", categories, maxSummary-len(text))
}

// joinCounts returns names with their counts, largest first, in at most most bytes, and how many are left out. It
// returns "" if not even one fits.
func joinCounts(label string, list []tool.Count, most int) string {
	if len(list) == 0 {
		return ""
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b tool.Count) int { return cmp.Compare(b.Tools, a.Tools) })
	const room = len(", 100000 more.")
	var b strings.Builder
	b.WriteString(label)
	for i, c := range list {
		item := oneLine(c.Name) + " " + strconv.Itoa(c.Tools)
		if i > 0 {
			item = ", " + item
		}
		if b.Len()+len(item)+room > most {
			if i == 0 {
				return ""
			}
			fmt.Fprintf(&b, ", %d more", len(list)-i)
			break
		}
		b.WriteString(item)
	}
	return b.String() + "."
}

// syncHeaderTools registers with the SDK the tools whose schemas contain x-mcp-header, so that it checks over HTTP the
// headers in which clients of the stateless protocol repeat arguments. It registers only tools that are listed, since
// other clients have not seen the schema. The SDK never lists or calls them, because interceptRequest answers first.
func (s *Server) syncHeaderTools(set *tool.Set) {
	wanted := map[string]json.RawMessage{}
	if s.live.Load().catalogueMode(set) == Full {
		for _, t := range set.All() {
			if !t.Disabled && bytes.Contains(t.InputSchema, []byte(`"x-mcp-header"`)) {
				wanted[listedName(set, t)] = t.InputSchema
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, old := range s.headerTools {
		if !bytes.Equal(wanted[name], old) {
			s.mcp.RemoveTools(name)
			delete(s.headerTools, name)
		}
	}
	for name, schema := range wanted {
		if s.headerTools[name] == nil && s.addHeaderTool(name, schema) {
			s.headerTools[name] = schema
		}
	}
}

// addHeaderTool registers one such tool, and reports whether the SDK accepts its schema. The SDK panics at a schema
// that it cannot use.
func (s *Server) addHeaderTool(name string, schema json.RawMessage) (ok bool) {
	defer func() {
		if why := recover(); why != nil {
			s.o.Logger.Warn("headers of a tool cannot be checked", "tool", name, "why", why)
			ok = false
		}
	}()
	s.mcp.AddTool(&mcp.Tool{Name: name, InputSchema: schema}, nil)
	return true
}
