package mcpsrv

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
)

// What stateless clients are told about keeping a listing: it may differ from client to client, and it changes seldom.
const (
	listTTL   = 60_000 // milliseconds
	listScope = "private"
	listPage  = 1000
)

var objectSchema = json.RawMessage(`{"type":"object"}`)

// listing is what tools/list answers for one state of the catalogue.
type listing struct {
	version     string // of the set
	names       []string
	tools       []json.RawMessage
	fingerprint string
}

// wireTool is a tool as tools/list has it.
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

// listing returns what tools/list holds for set. It depends on nothing but the set and the options, to the byte.
func (s *Server) listing(set *tool.Set) *listing {
	if l := s.listed.Load(); l != nil && l.version == set.Version() {
		return l
	}
	l := &listing{version: set.Version()}
	if s.o.Mode != Full {
		summary := cmp.Or(s.o.Summary, summarize(set))
		for _, m := range s.meta {
			w := m.wireTool
			if w.Name == searchName {
				w.Description += " " + summary
			}
			l.add(w)
		}
	}
	for _, t := range set.All() {
		if !t.Disabled && (t.Always || s.o.Mode == Full) {
			l.add(wireTool{
				Name: listedName(set, t), Title: t.Title, Description: cmp.Or(t.Description, t.Summary),
				InputSchema: orElse(t.InputSchema, objectSchema), OutputSchema: orElse(t.OutputSchema, nil),
				Annotations: t.Annotations, Icons: orElse(t.Icons, nil), Meta: orElse(t.Meta, nil),
			})
		}
	}
	sum := sha256.New()
	for _, raw := range l.tools {
		sum.Write(raw)
	}
	l.fingerprint = hex.EncodeToString(sum.Sum(nil))
	s.listed.Store(l)
	return l
}

func (l *listing) add(w wireTool) {
	l.names = append(l.names, w.Name)
	l.tools = append(l.tools, encode(w))
}

// listedName is the name under which clients call t.
func listedName(set *tool.Set, t *tool.Tool) string {
	return clientName(set.Exposed(t.ID()), t.Server, t.Name)
}

// orElse puts other in the place of what is missing or not JSON, for which a client would refuse the whole listing.
func orElse(raw, other json.RawMessage) json.RawMessage {
	if len(raw) == 0 || !json.Valid(raw) {
		return other
	}
	return raw
}

// listTools answers tools/list. A cursor is the name of the last tool of the page before.
func (s *Server) listTools(req *mcp.ListToolsRequest) (mcp.Result, error) {
	l := s.listing(s.set())
	from := 0
	if req.Params != nil && req.Params.Cursor != "" {
		at := slices.Index(l.names, req.Params.Cursor)
		if at < 0 {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "unknown cursor; list again from the start"}
		}
		from = at + 1
	}
	to := min(from+listPage, len(l.tools))
	page := object{{"tools", slices.Concat(json.RawMessage("["), joinRaw(l.tools[from:to]), json.RawMessage("]"))}}
	if to < len(l.tools) {
		page = append(page, member{"nextCursor", encode(l.names[to-1])})
	}
	if req.ProtocolVersion() >= statelessRevision {
		page = append(page, member{"ttlMs", encode(listTTL)}, member{"cacheScope", encode(listScope)})
	}
	return &rawResult{raw: page.bytes()}, nil
}

func joinRaw(list []json.RawMessage) json.RawMessage {
	var out json.RawMessage
	for i, raw := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, raw...)
	}
	return out
}

// maxSummary bounds, in characters, the summary of the catalogue in the description of search_tools: 200 tokens.
const maxSummary = 800

// summarize tells what can be found: the servers and categories with most tools first, as many as fit.
func summarize(set *tool.Set) string {
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
	text += counts(" Servers: ", servers, half-len(text))
	return text + counts(" Categories: ", categories, maxSummary-len(text))
}

// counts lists names with their numbers, largest first, in at most most bytes.
func counts(label string, list []tool.Count, most int) string {
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
