package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/limit"
	"tooldex/tool"
)

// maxPages and maxListing, in bytes, bound a listing whose cursors never end, and maxTools what one server may offer:
// each tool is kept, and searched, by every process.
const (
	maxPages   = 1000
	maxListing = 32 << 20
	maxTools   = 20_000
)

// listKind is one kind of item that servers list page by page.
type listKind struct {
	method string
	member string // of a result, that holds the things
	fetch  func(ctx context.Context, cs *mcp.ClientSession, cursor string) (any, error)
}

// listTools returns all tools of a server. Of two with one name the first counts; only maxStrays such warnings are
// logged. More than maxTools are an Invalid error.
func (s *session) listTools(ctx context.Context, timeout time.Duration, logger *slog.Logger) (
	tools []*tool.Tool, retry bool, err error,
) {
	names := map[string]bool{}
	twice := 0
	kind := listKind{"tools/list", "tools", func(ctx context.Context, cs *mcp.ClientSession, cursor string) (any,
		error,
	) {
		return cs.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
	}}
	retry, err = s.listPages(ctx, kind, timeout, func(items []json.RawMessage) {
		for _, t := range decodeTools(s.server, items, logger) {
			if names[t.Name] {
				if twice++; twice <= maxStrays {
					logger.Warn("upstream lists a tool twice; the first one counts", "tool", truncateText(t.Name, 100))
				}
				continue
			}
			names[t.Name] = true
			tools = append(tools, t)
		}
	})
	if err != nil {
		return nil, retry, err
	}
	if len(tools) > maxTools {
		return nil, false, &tool.Error{
			Code: tool.Invalid, Op: "list", Msg: fmt.Sprintf("server %q offers %d tools, more than the %d allowed",
				s.server, len(tools), maxTools),
			Hint: "have it offer fewer, or import those that are wanted from a file",
		}
	}
	return tools, false, nil
}

// listPages calls take with the items of each page, in order. A cursor that comes a second time ends the listing, since
// the pages repeat from there. take may have been called before an error.
func (s *session) listPages(ctx context.Context, kind listKind, timeout time.Duration,
	take func([]json.RawMessage),
) (retry bool, err error) {
	ctx, end := limit.WithHold(ctx) // the items of all pages are in memory
	defer end()
	cursors := map[string]bool{"": true}
	total := 0
	for cursor := ""; ; {
		raw, retry, err := s.requestPage(ctx, kind, cursor, timeout)
		if err != nil {
			return retry, err
		}
		items, next, err := decodePage(raw, kind.member)
		if err != nil {
			return false, &tool.Error{
				Code: tool.Unavailable, Op: "list",
				Msg: fmt.Sprintf("server %q answered %s with something else", s.server, kind.method), Err: err,
			}
		}
		take(items)
		if next == "" {
			return false, nil
		}
		if cursors[next] {
			s.recorder.logger.Warn("upstream repeats a cursor; the listing ends there", "method", kind.method, "pages",
				len(cursors))
			return false, nil
		}
		if total += len(raw); len(cursors) >= maxPages || total > maxListing {
			return false, &tool.Error{
				Code: tool.Unavailable, Op: "list",
				Msg: fmt.Sprintf("server %q answers %s with more than %d pages or %d MiB", s.server, kind.method,
					maxPages, maxListing>>20),
				Hint: "this is a fault of the server: its cursors do not end",
			}
		}
		cursors[next], cursor = true, next
	}
}

// requestPage returns the bytes of one page of a listing. A server without the method has an empty listing.
func (s *session) requestPage(ctx context.Context, kind listKind, cursor string, timeout time.Duration) (
	raw []byte, retry bool, err error,
) {
	runCtx, stop := s.withTimeLimit(ctx, &pausableTimer{}, timeout)
	defer stop()
	sendCtx, sent := withCapture(runCtx)
	_, err = kind.fetch(sendCtx, s.cs, cursor)
	got := s.recorder.finishCapture(ctx, sent)
	key := kind.method + " " + cursor
	switch {
	case got.result != nil:
		s.cachePage(key, got.result)
		return got.result, false, nil
	case err == nil: // the server allowed the SDK to answer from its cache
		if raw := s.cachedPage(key); raw != nil {
			return raw, false, nil
		}
		err = errors.New("no result was seen")
	case isMethodNotFound(err) && s.isAlive():
		return []byte(`{"` + kind.member + `":[]}`), false, nil // a server that has none
	}
	return nil, got.wasRefused(err), s.requestError(ctx, runCtx, kind.method, timeout, got, err)
}

// cachePage keeps the bytes of a page for cachedPage. With the newer protocol the SDK may answer a listing from its
// cache, which holds decoded values and not the server's bytes.
func (s *session) cachePage(key string, raw []byte) {
	if !s.isModern() { // the SDK caches nothing there
		return
	}
	s.pagesMu.Lock()
	defer s.pagesMu.Unlock()
	if s.pagesSize += len(raw) - len(s.pages[key]); s.pagesSize > maxKept {
		clear(s.pages) // the cursors are others each time
		s.pagesSize = len(raw)
	}
	s.pages[key] = raw
}

// maxKept bounds the listings that are kept for one session, in bytes.
const maxKept = maxListing

// cachedPage returns the bytes of a page that was read before, or nil.
func (s *session) cachedPage(key string) []byte {
	s.pagesMu.Lock()
	defer s.pagesMu.Unlock()
	return s.pages[key]
}

// wasRefused reports whether the server cannot have begun to work on a request that failed with err, so that it may be
// sent again on a new session.
func (c capture) wasRefused(err error) bool {
	return c.gone || c.refused == nil && !c.sent && c.status == 0 && !isRPC(err)
}

// isRPC reports whether the server itself answered with an error.
func isRPC(err error) bool {
	var rpc *jsonrpc.Error
	return errors.As(err, &rpc) && rpc.Code != codeRejected
}

// codeRejected is the code of the SDK's own error for a request that its transport did not send.
const codeRejected = -32005

func isMethodNotFound(err error) bool { return hasCode(err, jsonrpc.CodeMethodNotFound) }

// hasCode reports whether err is a JSON-RPC error of a code.
func hasCode(err error, code int64) bool {
	var rpc *jsonrpc.Error
	return errors.As(err, &rpc) && rpc.Code == code
}

// decodePage decodes one result of a listing. The items keep the server's bytes. The member is required, and nextCursor
// is "" on the last page.
func decodePage(raw []byte, member string) (items []json.RawMessage, next string, err error) {
	var page map[string]json.RawMessage
	if err := json.Unmarshal(raw, &page); err != nil {
		return nil, "", err
	}
	if err := json.Unmarshal(page[member], &items); err != nil {
		return nil, "", fmt.Errorf("%s: %w", member, err)
	}
	if len(page["nextCursor"]) > 0 {
		if err := json.Unmarshal(page["nextCursor"], &next); err != nil {
			return nil, "", fmt.Errorf("nextCursor: %w", err)
		}
	}
	return items, next, nil
}

// decodeTools decodes tools. It leaves out those whose name cannot be read, and logs that.
func decodeTools(server string, items []json.RawMessage, logger *slog.Logger) []*tool.Tool {
	var tools []*tool.Tool
	for i, item := range items {
		t, err := decodeTool(server, item, logger)
		if err != nil {
			logger.Warn("upstream lists a tool that cannot be read; left out", "position", i, "error", err)
			continue
		}
		tools = append(tools, t)
	}
	return tools
}

// decodeTool decodes one tool. It matches the names of members exactly, as JSON demands and encoding/json does not.
// Schemas keep their bytes; one that is no object, such as true or null, is left out, as are other
// members of the wrong type.
func decodeTool(server string, raw json.RawMessage, logger *slog.Logger) (*tool.Tool, error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, err
	}
	t := &tool.Tool{Server: server}
	if err := json.Unmarshal(m["name"], &t.Name); err != nil || t.Name == "" {
		return nil, errors.New("it has no name")
	}
	t.Title = optionalMember[string](m, "title", t.Name, logger)
	t.Description = optionalMember[string](m, "description", t.Name, logger)
	t.Annotations = optionalMember[*tool.Annotations](m, "annotations", t.Name, logger)
	t.InputSchema = objectOrNil(m["inputSchema"], t, "inputSchema", logger)
	t.OutputSchema = objectOrNil(m["outputSchema"], t, "outputSchema", logger)
	t.Meta = objectOrNil(m["_meta"], t, "_meta", logger)
	if icons := m["icons"]; string(icons) != "null" {
		t.Icons = icons
	}
	return t, nil
}

// optionalMember decodes a member that may be missing. One of the wrong type counts as missing.
func optionalMember[T any](m map[string]json.RawMessage, key, name string, logger *slog.Logger) T {
	var v, zero T
	raw, ok := m[key]
	if !ok {
		return zero
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		logger.Warn("upstream tool has a member of the wrong type; left out", "tool", truncateText(name, 100), "member",
			key)
		return zero
	}
	return v
}

// objectOrNil returns raw if it looks like an object, else nil. A missing member and null are not worth a warning.
func objectOrNil(raw json.RawMessage, t *tool.Tool, key string, logger *slog.Logger) json.RawMessage {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if !isObject(raw) {
		logger.Warn("upstream tool has a member that is no object; left out", "tool", truncateText(t.Name, 100),
			"member", key)
		return nil
	}
	return raw
}
