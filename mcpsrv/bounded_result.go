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
	maxMedia       = 8 << 20  // of the images and sounds of a result, in bytes of base64; models do not pay by the byte
	bytesPerToken  = 4        // of text
)

// keptResult is a result of which its client saw a part only. It is immutable. Memory only: a restart loses it, and the
// hint then says to call again.
type keptResult struct {
	id    string
	owner string // the principal that may read it
	text  string // of all parts
	shown int    // bytes of text that the client saw
	// parts are those of the result, with its structuredContent at the end if that was cut; left are the places of
	// those that were left out.
	parts      []json.RawMessage
	left       []int
	structured bool // the last part is the structuredContent
}

// isContent reports whether a part is one of the result's content.
func (r *keptResult) isContent(part int) bool { return !r.structured || part < len(r.parts)-1 }

// media returns the base64 of a part that is an image or a sound, "" for others.
func (r *keptResult) media(part int) string {
	if !r.isContent(part) {
		return ""
	}
	return stringMember(r.parts[part], "data")
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
	// one result larger than the bound stays, or it could never be read on
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

// boundResult returns a result of t that costs a model at most limits.result tokens of text: the beginning of its
// texts, the size of all, and how to read on. Results within the bound are returned as they are, byte for byte.
// structured says that the client relies on structuredContent, as one does that knows the tool's output schema: it gets
// a shortened one of that schema, or an error where there is none. cut reports whether anything was left out.
func (s *Server) boundResult(ctx context.Context, r clientRequest, t *tool.Tool, raw json.RawMessage, structured bool,
) (_ json.RawMessage, cut bool) {
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
	kept := &keptResult{id: rand.Text()[:12], owner: access.PrincipalOf(ctx).Key, parts: parts}
	out := kept.boundParts(most)
	if value, ok := o.Lookup("structuredContent"); ok && len(value) > most {
		var note string
		if o, note = s.boundStructured(o, t, value, most, structured); kept.text == "" {
			kept.text, kept.shown = string(value), len(cutText(string(value), most))
			out = append(out, textPart(kept.text[:kept.shown]))
		} else {
			kept.left, kept.structured = append(kept.left, len(kept.parts)), true
			kept.parts = append(slices.Clip(kept.parts), value)
		}
		if note != "" {
			out = append(out, textPart(note))
		}
	}
	if kept.shown == len(kept.text) && len(kept.left) == 0 {
		return raw, false
	}
	s.kept.keep(kept)
	out = append(out, textPart(kept.moreNotice()))
	if s.o.Upstreams != nil && r.ProtocolVersion() >= structuredRevision { // which has links, too
		out = append(out, kept.link())
	}
	return o.With("content", joinArray(out)).Bytes(), true
}

// boundStructured bounds the structuredContent of a result, and says what became of it. A client that relies on it gets
// one of the tool's output schema, with lists and texts that end early, or else an error, which needs none.
func (s *Server) boundStructured(o orderedjson.Raw, t *tool.Tool, value json.RawMessage, most int, relied bool,
) (orderedjson.Raw, string) {
	if !relied {
		return o.Without("structuredContent"), ""
	}
	short := shorten(value, most)
	if s.outputs.Of(string(t.ID()), t.OutputSchema).Check(short) == nil {
		return o.With("structuredContent", short), "[structuredContent is shortened: its lists and texts end early.]"
	}
	return o.Without("structuredContent").With("isError", json.RawMessage("true")),
		"[The tool did its work, but its structuredContent is too large, and cannot be shortened within its schema.]"
}

// boundParts returns the parts of the result within a bound of text. It sets the text, what is shown of it, and what is
// left out.
func (r *keptResult) boundParts(most int) (out []json.RawMessage) {
	left, media := most, maxMedia
	var all strings.Builder
	for i, part := range r.parts {
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
			shown := cutText(p.Text, left)
			if r.shown += len(shown); len(shown) == len(p.Text) {
				left -= len(shown)
				out = append(out, part)
				continue
			}
			if left > 0 {
				out = append(out, textPart(shown))
				left = 0
			}
		case p.Data != "" && len(part) <= media:
			media -= len(part)
			out = append(out, part)
		case p.Data == "" && len(part) <= left:
			left -= len(part)
			out = append(out, part)
		default: // a resource that is embedded, or images beyond all measure
			r.left = append(r.left, i)
			out = append(out, textPart(fmt.Sprintf("[part %d, %s of %d bytes, is left out]", i, p.Type, len(part))))
		}
	}
	r.text = all.String()
	return out
}

// textPart returns a part of a result's content.
func textPart(text string) json.RawMessage {
	return object{jsonMember("type", "text"), jsonMember("text", text)}.Bytes()
}

// cutText returns the beginning of a text, at most `most` bytes of it, whole characters.
func cutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// moreNotice says how much there is, and how to read on; where no text is left, only how to read the parts that were
// left out.
func (r *keptResult) moreNotice() string {
	if r.shown >= len(r.text) {
		return fmt.Sprintf(`[Of %d parts, some are left out. %s with {"name":"%s","arguments":{"id":"%s","part":%d}} `+
			`returns one.]`, len(r.parts), invokeName, readResultName, r.id, r.left[0])
	}
	return fmt.Sprintf(`[Cut: bytes 0 to %d of %d, about %d tokens in all. To read on, call %s with `+
		`{"name":"%s","arguments":{"id":"%s","offset":%d}}, or ask the tool for less.]`, r.shown, len(r.text),
		len(r.text)/bytesPerToken, invokeName, readResultName, r.id, r.shown)
}

// listReadResult lists read_result to a client from now on, and notifies it, unless it was listed already. Without a
// session nothing is listed: the result says how to call it.
func (s *Server) listReadResult(ctx context.Context, req *mcp.CallToolRequest) {
	if isStateless(req) {
		return
	}
	// The lock is released before the notification, which waits for the client.
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
				`"part":{"type":"integer","description":"read this part, counted from 0"}},"required":["id"]}`),
		},
		only:   neverListed,
		handle: (*Server).readResult,
	}
}

// neverListed is no mode of a server: no listing has a tool that is only for it. Results name read_result instead.
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
	}
	whole := kept.text
	if a.Part != nil {
		part := kept.parts[*a.Part]
		if kept.media(*a.Part) != "" {
			return &rawResult{raw: object{{Key: "content", Value: joinArray([]json.RawMessage{part})}}.Bytes()}, nil
		}
		whole = string(part)
	}
	if a.Offset < 0 || a.Offset > len(whole) || a.Offset < len(whole) && !utf8.RuneStart(whole[a.Offset]) {
		return nil, &tool.Error{
			Code: tool.Invalid, Op: "read result", Msg: fmt.Sprintf("offset is %d, and the text has %d bytes", a.Offset,
				len(whole)), Hint: "give the offset that the part before names",
		}
	}
	text := cutText(whole[a.Offset:], s.live.Load().maxResult*bytesPerToken)
	parts := []json.RawMessage{textPart(text)}
	if end := a.Offset + len(text); end < len(whole) {
		parts = append(parts, textPart(fmt.Sprintf("[Bytes %d to %d of %d. The next offset is %d.]", a.Offset, end,
			len(whole), end)))
	}
	return &rawResult{raw: object{{Key: "content", Value: joinArray(parts)}}.Bytes()}, nil
}
