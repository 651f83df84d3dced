package httpapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"tooldex/access"
	"tooldex/confirm"
	"tooldex/tool"
	"tooldex/validate"
)

// problem is the body of every error answer, as RFC 9457 defines it.
type problem struct {
	Type   string `json:"type" jsonschema:"always about:blank: the status says what kind it is"`
	Title  string `json:"title" jsonschema:"the status in words"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty" jsonschema:"what is wrong, naming the thing"`
	Code   string `json:"code" jsonschema:"what kind of error it is, for programs: invalid, not_found, denied, unavailable, timeout, internal, unauthorized, rate_limited, method_not_allowed, precondition_failed, too_large, unsupported_media_type, confirmation_required"`
	Hint   string `json:"hint,omitempty" jsonschema:"what to do about it"`
	// Field and InputSchema are set when the arguments of a call do not fit.
	Field       string          `json:"field,omitempty" jsonschema:"the argument of a call that is wrong, such as edits[].oldText"`
	InputSchema json.RawMessage `json:"inputSchema,omitempty" jsonschema:"the schema that the arguments of a call have to fit"`
	// RequestID finds the request in the log.
	RequestID string `json:"requestId,omitempty" jsonschema:"the id of the request, as in the log"`
}

// statusOf returns the HTTP status of a code.
func statusOf(c tool.Code) int {
	switch c {
	case tool.Invalid:
		return http.StatusBadRequest
	case tool.NotFound:
		return http.StatusNotFound
	case tool.Denied:
		return http.StatusForbidden
	case tool.Unavailable:
		return http.StatusServiceUnavailable
	case tool.Timeout:
		return http.StatusGatewayTimeout
	default:
		return http.StatusInternalServerError
	}
}

// problemOf is the one place where errors become answers. An internal error becomes nothing but the ID of the request.
func problemOf(err error, requestID string) problem {
	var (
		known    *tool.Error
		tooLarge *http.MaxBytesError
		framed   *echo.HTTPError
		why      confirm.Unconfirmed
		mismatch *validate.Mismatch
	)
	switch {
	case errors.As(err, &known) && errors.As(err, &why):
		return newProblem(http.StatusConflict, "confirmation_required", known.Msg,
			`when a person has said yes, repeat the call with "confirm": true beside its arguments`, requestID)
	case errors.As(err, &tooLarge):
		return newProblem(http.StatusRequestEntityTooLarge, "too_large", "the request body is larger than allowed",
			"send less at a time", requestID)
	case errors.Is(err, tool.ErrConflict):
		return newProblem(http.StatusPreconditionFailed, "precondition_failed", tool.ErrConflict.Error(),
			"read it again, and repeat the change with its ETag", requestID)
	case errors.As(err, &known) && errors.Is(err, access.ErrToken):
		return newProblem(http.StatusUnauthorized, "unauthorized", known.Msg, known.Hint, requestID)
	case errors.As(err, &known) && errors.As(err, new(access.Exhausted)):
		return newProblem(http.StatusTooManyRequests, "rate_limited", known.Msg, known.Hint, requestID)
	case errors.As(err, &known) && errors.As(err, &mismatch):
		p := newProblem(statusOf(known.Code), known.Code.String(), known.Msg, known.Hint, requestID)
		p.Field, p.InputSchema = mismatch.Field, mismatch.Schema
		return p
	case errors.As(err, &known) && known.Code != tool.Internal:
		return newProblem(statusOf(known.Code), known.Code.String(), known.Msg, known.Hint, requestID)
	case known == nil && errors.As(err, &framed):
		return frameworkProblem(framed, requestID)
	case known == nil && errors.Is(err, context.DeadlineExceeded):
		return newProblem(http.StatusGatewayTimeout, tool.Timeout.String(), "the request took too long", "", requestID)
	}
	return newProblem(http.StatusInternalServerError, tool.Internal.String(), "internal error",
		"look for the request id in the log", requestID)
}

// frameworkProblem handles errors of routing, and checks of our own for which there is no tool.Code.
func frameworkProblem(e *echo.HTTPError, requestID string) problem {
	detail, _ := e.Message.(string)
	switch e.Code {
	case http.StatusNotFound:
		return newProblem(e.Code, tool.NotFound.String(), "there is no such page", "/openapi.json lists all pages",
			requestID)
	case http.StatusMethodNotAllowed:
		return newProblem(e.Code, "method_not_allowed", "this page does not support the method",
			"the Allow header lists the supported methods", requestID)
	case http.StatusTooManyRequests:
		return newProblem(e.Code, "rate_limited", detail, "wait a second, and send fewer requests", requestID)
	case http.StatusRequestTimeout:
		return newProblem(e.Code, tool.Timeout.String(), detail, "send it faster, or less at a time", requestID)
	case http.StatusUnsupportedMediaType:
		return newProblem(e.Code, "unsupported_media_type", detail, "send Content-Type: application/json", requestID)
	}
	if e.Code >= http.StatusInternalServerError {
		return newProblem(http.StatusInternalServerError, tool.Internal.String(), "internal error",
			"look for the request id in the log", requestID)
	}
	return newProblem(e.Code, tool.Invalid.String(), detail, "", requestID)
}

// newProblem fills in what depends on the status alone.
func newProblem(status int, code, detail, hint, requestID string) problem {
	return problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail, Code: code,
		Hint: hint, RequestID: requestID,
	}
}

// handleError writes an error as a problem, and logs it once if it is a fault of this program. Echo calls it twice for
// every error: for the request log, which needs the status, and at the end.
func (s *Server) handleError(err error, c echo.Context) {
	const handled = "handled"
	if c.Get(handled) != nil {
		return
	}
	c.Set(handled, true)
	if cause := context.Cause(c.Request().Context()); errors.Is(cause, errStopping) {
		err = cause // whatever error the end of the context became
	}
	if isAbandoned(c, err) {
		c.Response().Status = statusAbandoned // for the log
		return
	}
	id := c.Response().Header().Get(echo.HeaderXRequestID)
	p := problemOf(err, id)
	if p.Code == tool.Internal.String() && c.Request().Context().Err() == nil {
		s.o.Logger.Error("internal error", "request", id, "method", c.Request().Method, "path", c.Request().URL.Path,
			"err", err)
	}
	if c.Response().Committed {
		return
	}
	if p.Status == http.StatusServiceUnavailable || p.Status == http.StatusTooManyRequests {
		c.Response().Header().Set("Retry-After", retryAfter(err))
	}
	body, err := encodeJSON(p)
	if err == nil {
		err = c.Blob(p.Status, "application/problem+json", body)
	}
	if err != nil && c.Request().Context().Err() == nil {
		s.o.Logger.Debug("problem not delivered", "request", id, "err", err)
	}
}

// retryAfter returns the seconds until another try may succeed.
func retryAfter(err error) string {
	var used access.Exhausted
	if errors.As(err, &used) {
		return strconv.Itoa(int(used.After.Seconds()))
	}
	return "1"
}

// statusAbandoned is what the log and the metrics report of a request whose client went away. It is never sent.
const statusAbandoned = 499

// isAbandoned reports whether a request failed because its client went away, before anything was sent. The time limit
// of a request and the end of the server have other causes. That the context has ended is not enough: net/http ends it
// for a body that does not come in time, too, and that client is told.
func isAbandoned(c echo.Context, err error) bool {
	return !c.Response().Committed && errors.Is(context.Cause(c.Request().Context()), context.Canceled) &&
		(errors.Is(err, context.Canceled) || tool.CodeOf(err) == tool.Timeout)
}

// dropAbandoned closes the connection of a request whose client went away, without an answer: net/http would send an
// empty one. It must be the outermost of the middleware.
func dropAbandoned(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		err := next(c)
		if c.Response().Status == statusAbandoned {
			panic(http.ErrAbortHandler)
		}
		return err
	}
}

// encodeJSON writes v without escaping <, > and &, so that schemas and texts keep their characters.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// writeJSON answers with v as JSON.
func writeJSON(c echo.Context, v any) error {
	body, err := encodeJSON(v)
	if err != nil {
		return &tool.Error{Code: tool.Internal, Op: "encode answer", Msg: "the answer cannot be encoded", Err: err}
	}
	return writeJSONBytes(c, body)
}

// writeJSONBytes answers with JSON. An answer to GET has an entity tag, and is not sent again to a client that has it.
func writeJSONBytes(c echo.Context, body []byte) error {
	h := c.Response().Header()
	if c.Request().Method == http.MethodGet {
		if h.Get(headerETag) == "" {
			sum := sha256.Sum256(body)
			h.Set(headerETag, fmt.Sprintf(`W/"%x"`, sum[:12])) // weak, since it has other bytes when compressed
		}
		h.Set(echo.HeaderCacheControl, "private, no-cache")
		if matchesTag(c.Request().Header.Get("If-None-Match"), h.Get(headerETag)) {
			return c.NoContent(http.StatusNotModified)
		}
	}
	return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, body)
}

const headerETag = "ETag"

// matchesTag reports whether a list of entity tags has this one, by RFC 9110's weak comparison.
func matchesTag(list, tag string) bool {
	for one := range strings.SplitSeq(list, ",") {
		if one = strings.TrimSpace(one); one == "*" || strings.TrimPrefix(one, "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}
