package mcpsrv

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
)

// The members of a result's _meta by which a client keeps a page of tools/list. They work as ETag and If-None-Match do
// in HTTP (RFC 9110, section 13.1.2), for one page. A client that gives no tag, not even an empty one, gets neither.
const (
	pageTagKey     = "tooldex/etag"        // the tag of this page
	notModifiedKey = "tooldex/notModified" // true: the client has this page already, and it is left out
)

// tagOf returns the tag that a client gives, "" if it has no page yet. tagged is false where it gives none. The error
// is of code Invalid.
func tagOf(req *mcp.ListToolsRequest) (tag string, tagged bool, err error) {
	if req.Params == nil {
		return "", false, nil
	}
	value, tagged := req.Params.Meta[tagKey]
	if !tagged {
		return "", false, nil
	}
	tag, ok := value.(string)
	if !ok {
		return "", false, &tool.Error{
			Code: tool.Invalid, Op: "list tools", Msg: "ifNoneMatch is not a text",
			Hint: `give the "` + pageTagKey + `" of the page that you have, or ""`,
		}
	}
	return tag, true, nil
}

// taggedPage returns a page with its tag, or an empty page where the client has the same tag. The tag is a hash of the
// page, so it also changes with what this client alone is shown.
func taggedPage(r clientRequest, page *rawResult, known string) (*rawResult, error) {
	sum := sha256.Sum256(page.raw)
	tag := hex.EncodeToString(sum[:16])
	if tag != known {
		return withMember(page, jsonMember(keyMeta, map[string]any{pageTagKey: tag})), nil
	}
	empty, err := pageOf(r, "tools", nil, "")
	if err != nil {
		return nil, err
	}
	return withMember(empty, jsonMember(keyMeta, map[string]any{pageTagKey: tag, notModifiedKey: true})), nil
}

// withMember returns a result that is an object with one more member at its end.
func withMember(res *rawResult, m member) *rawResult {
	raw := append([]byte(nil), res.raw[:len(res.raw)-1]...)
	raw = append(raw, ',')
	return &rawResult{raw: append(raw, object{m}.Bytes()[1:]...)}
}
