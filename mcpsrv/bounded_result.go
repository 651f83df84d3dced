package mcpsrv

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/access"
	"tooldex/internal/orderedjson"
	"tooldex/tool"
)

// readResultName is the tool that reads on in a result that was cut. A session lists it once it had such a result,
// which names it for all others.
const readResultName = "read_result"

// Bounds of results that are kept to be read on.
const (
	maxKeptResults = 64       // of all clients
	maxKeptBytes   = 64 << 20 // of all of them together
	maxMedia       = 8 << 20  // of one image or sound in a result, in bytes of base64; models do not pay by the byte
	bytesPerToken  = 4        // of text
)

// keptResult is a result of which its client saw a part only.
type keptResult struct {
	id    string
	owner string // the principal that may read it
	text  string // of all parts
	parts []json.RawMessage
}

// keptResults holds the last results that were cut. The zero value is empty, and safe for concurrent use.
type keptResults struct {
	mu    sync.Mutex
	list  []*keptResult // oldest first
	bytes int
}

// keep stores a result, in place of the oldest ones where there are too many.
func (k *keptResults) keep(r *keptResult) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.list, k.bytes = append(k.list, r), k.bytes+r.size()
	for len(k.list) > maxKeptResults || k.bytes > maxKeptBytes && len(k.list) > 1 {
		k.bytes -= k.list[0].size()
		k.list = k.list[1:]
	}
}

// find returns the result of an ID that the principal may read, or nil.
func (k *keptResults) find(id, owner string) *keptResult {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, r := range k.list {
		if r.id == id && r.owner == owner {
			return r
		}
	}
	return nil
}

func (r *keptResult) size() int {
	n := len(r.text)
	for _, p := range r.parts {
		n += len(p)
	}
	return n
}

// boundResult returns a result that costs a model at most limits.result tokens of text: the beginning of its texts, the
// size of all, and how to read on. Results within the bound are returned as they are, byte for byte. structured says
// that the client relies on structuredContent, as one does that knows the tool's output schema. cut reports whether
// anything was left out.
func (s *Server) boundResult(ctx context.Context, raw json.RawMessage, structured bool) (_ json.RawMessage, cut bool) {
	most := s.live.Load().maxResult * bytesPerToken
	if most <= 0 || len(raw) <= most {
		return raw, false
	}
	o, err := orderedjson.ParseObject(raw)
	if err != nil {
		return raw, false
	}
	var parts []json.RawMessage
	if content, ok := o.Lookup("content"); ok && json.Unmarshal(content, &parts) != nil {
		return raw, false
	}
	out, text, cut := boundParts(parts, most)
	if value, ok := o.Lookup("structuredContent"); ok && len(value) > most && !structured {
		if text == "" {
			text = string(value)
			out = append(out, textPart(cutText(text, most)))
		}
		o, cut = o.Without("structuredContent"), true
	}
	if !cut {
		return raw, false
	}
	kept := &keptResult{id: rand.Text()[:12], owner: access.PrincipalOf(ctx).Key, text: text, parts: parts}
	s.kept.keep(kept)
	out = append(out, textPart(kept.moreNotice(len(cutText(text, most)))))
	return o.With("content", joinArray(out)).Bytes(), true
}

// boundParts returns the parts of a result within a bound of text, the whole text, and whether anything was left out.
func boundParts(parts []json.RawMessage, most int) (out []json.RawMessage, text string, cut bool) {
	left := most
	var all strings.Builder
	for i, part := range parts {
		var p struct {
			Type string `json:"type"`
			Text string `json:"text"`
			Data string `json:"data"`
		}
		if json.Unmarshal(part, &p) != nil {
			p.Type = ""
		}
		switch {
		case p.Type == "text":
			all.WriteString(p.Text)
			if len(p.Text) <= left {
				left -= len(p.Text)
				out = append(out, part)
				continue
			}
			if cut = true; left > 0 {
				out = append(out, textPart(cutText(p.Text, left)))
				left = 0
			}
		case p.Data != "" && len(part) <= maxMedia, p.Data == "" && len(part) <= left:
			if p.Data == "" {
				left -= len(part)
			}
			out = append(out, part)
		default: // a resource that is embedded, or an image beyond all measure
			cut = true
			out = append(out, textPart(fmt.Sprintf("[part %d, %s of %d bytes, is left out]", i, p.Type, len(part))))
		}
	}
	return out, all.String(), cut
}

// textPart returns a part of a result's content.
func textPart(text string) json.RawMessage {
	return object{jsonMember("type", "text"), jsonMember("text", text)}.Bytes()
}

// cutText returns the beginning of a text, at most so many bytes of it, whole characters.
func cutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// moreNotice says how much there is, and how to read on from an offset; of a text that ends there, only how to read the
// parts that were left out.
func (r *keptResult) moreNotice(offset int) string {
	if offset >= len(r.text) {
		return fmt.Sprintf(`[Of %d parts, some are left out. %s with {"name":"%s","arguments":{"id":"%s","part":0}} `+
			`returns one, counted from 0.]`, len(r.parts), invokeName, readResultName, r.id)
	}
	return fmt.Sprintf(`[Cut: bytes 0 to %d of %d, about %d tokens in all. To read on, call %s with `+
		`{"name":"%s","arguments":{"id":"%s","offset":%d}}, or ask the tool for less.]`, offset, len(r.text),
		len(r.text)/bytesPerToken, invokeName, readResultName, r.id, offset)
}

// listReadResult lists read_result to a client from now on, and notifies it, unless it was listed already. Without a
// session nothing is listed: the result says how to call it.
func (s *Server) listReadResult(ctx context.Context, req *mcp.CallToolRequest) {
	if isStateless(req) {
		return
	}
	one := s.sessions.registerSession(req.Session)
	one.mu.Lock()
	changed := !one.readsOn
	one.readsOn = true
	one.mu.Unlock()
	if changed {
		s.announceTools(ctx, req.Session)
	}
}

// withReadResult returns a listing that ends with read_result if the session had a result that was cut.
func (s *Server) withReadResult(l *listing, conn *mcp.ServerSession) *listing {
	one := s.sessions.findSession(conn)
	if one == nil {
		return l
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	if !one.readsOn {
		return l
	}
	return &listing{
		version: l.version, at: l.at,
		entries: append(slices.Clip(l.entries), entry{readResultName, orderedjson.Encode(readResultTool().wireTool)}),
	}
}

// readResultTool is the definition of read_result, which only listings of single sessions hold.
func readResultTool() metaTool {
	return metaTool{
		wireTool: wireTool{
			Name: readResultName, Title: "Read on in a result", Annotations: readsOnly(),
			Description: "Read on in a result that was cut.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"},` +
				`"offset":{"type":"integer","default":0,"description":"bytes of its text to skip"},` +
				`"part":{"type":"integer","description":"return this part whole, counted from 0"}},"required":["id"]}`),
		},
		only:   neverListed,
		handle: (*Server).readResult,
	}
}

// neverListed is no mode of a server: what is only for it is called by those who are told of it.
const neverListed Mode = "never"

// readResult answers read_result.
func (s *Server) readResult(ctx context.Context, _ *mcp.CallToolRequest, raw json.RawMessage) (*rawResult, error) {
	a, err := decodeArguments[struct {
		ID     string `json:"id"`
		Offset int    `json:"offset"`
		Part   *int   `json:"part"`
	}](raw)
	if err != nil {
		return nil, err
	}
	kept := s.kept.find(a.ID, access.PrincipalOf(ctx).Key)
	switch {
	case kept == nil:
		return nil, &tool.Error{
			Code: tool.NotFound, Op: "read result", Msg: "there is no such result any more",
			Hint: "call the tool again; the last results alone are kept",
		}
	case a.Part != nil && (*a.Part < 0 || *a.Part >= len(kept.parts)):
		return nil, &tool.Error{
			Code: tool.Invalid, Op: "read result", Msg: fmt.Sprintf("the result has no part %d", *a.Part),
			Hint: fmt.Sprintf("give 0 to %d", len(kept.parts)-1),
		}
	case a.Part != nil:
		return &rawResult{raw: object{{Key: "content", Value: joinArray(kept.parts[*a.Part : *a.Part+1])}}.Bytes()}, nil
	case a.Offset < 0 || a.Offset > len(kept.text) || a.Offset < len(kept.text) && !utf8.RuneStart(kept.text[a.Offset]):
		return nil, &tool.Error{
			Code: tool.Invalid, Op: "read result", Msg: fmt.Sprintf("offset is %d, and the text has %d bytes", a.Offset,
				len(kept.text)), Hint: "give the offset that the part before names",
		}
	}
	text := cutText(kept.text[a.Offset:], s.live.Load().maxResult*bytesPerToken)
	parts := []json.RawMessage{textPart(text)}
	if end := a.Offset + len(text); end < len(kept.text) {
		parts = append(parts, textPart(fmt.Sprintf("[Bytes %d to %d of %d. The next offset is %d.]", a.Offset, end,
			len(kept.text), end)))
	}
	return &rawResult{raw: object{{Key: "content", Value: joinArray(parts)}}.Bytes()}, nil
}
