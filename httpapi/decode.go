package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"tooldex/internal/orderedjson"
	"tooldex/tool"
	"tooldex/validate"
)

// stringList is one string or several. Its JSON is either.
type stringList []string

// UnmarshalJSON reads a string or a list of strings.
func (l *stringList) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil && string(b) != "null" {
		*l = []string{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(l))
}

// invalidField returns an Invalid error that names a field of the request.
func invalidField(field, what string) error {
	return &tool.Error{
		Code: tool.Invalid, Op: "read request", Msg: field + " " + what,
		Hint: "/openapi.json describes the requests",
	}
}

// errNotJSON refuses a body without Content-Type: application/json.
var errNotJSON = echo.NewHTTPError(http.StatusUnsupportedMediaType, "the body has no Content-Type: application/json")

// isJSON reports whether a request says that its body is JSON.
func isJSON(r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get(echo.HeaderContentType))
	return err == nil && kind == echo.MIMEApplicationJSON
}

// readBody decodes a JSON body into v. The error names the field that is wrong or unknown.
func readBody(c echo.Context, v any) error {
	if !isJSON(c.Request()) {
		// A form that a page of another origin posts cannot have this type without asking the browser first.
		return errNotJSON
	}
	body, err := io.ReadAll(c.Request().Body)
	if err != nil {
		return bodyError(err)
	}
	if err := orderedjson.CheckBounds(body, orderedjson.MaxDepth, orderedjson.MaxValues); err != nil {
		return err
	}
	if err := orderedjson.CheckKeys(body); err != nil {
		return err
	}
	return decodeStrict(body, v)
}

// decodeStrict decodes exactly one JSON value, and refuses fields that v does not have.
func decodeStrict(body []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	err := dec.Decode(v)
	if err == nil {
		if _, more := dec.Token(); !errors.Is(more, io.EOF) {
			return invalidField("the body", "holds more than one JSON value")
		}
		return nil
	}
	var (
		wrong  *json.UnmarshalTypeError
		syntax *json.SyntaxError
	)
	switch {
	case errors.As(err, &wrong) && wrong.Field != "":
		return invalidField(wrong.Field, "does not accept a value of type "+wrong.Value)
	case errors.As(err, &wrong):
		return invalidField("the body", "does not accept a value of type "+wrong.Value+" there")
	case errors.As(err, &syntax):
		return invalidField("the body", fmt.Sprintf("is not JSON: %s at byte %d", syntax.Error(), syntax.Offset))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return invalidField("the body", "ends before its JSON does")
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return invalidField(strings.Trim(name, `"`), "is not a known field")
	}
	return &tool.Error{Code: tool.Invalid, Op: "read request", Msg: "the body cannot be read", Err: err}
}

// values reads query parameters. It remembers the first error, and which parameters were asked for, so that done can
// refuse all others: a misspelled filter must not be ignored.
type values struct {
	all   url.Values
	asked []string
	err   error
}

// readQuery parses the query of a request.
func readQuery(c echo.Context) *values {
	all, err := url.ParseQuery(c.Request().URL.RawQuery)
	v := &values{all: all}
	if err != nil {
		v.err = invalidField("the query", "cannot be read")
	}
	return v
}

// setError stores an error if it is the first.
func (v *values) setError(name, what string) {
	if v.err == nil {
		v.err = invalidField(name, what)
	}
}

// list returns all values of a parameter.
func (v *values) list(name string) []string {
	v.asked = append(v.asked, name)
	return v.all[name]
}

// text returns the one value of a parameter, or "".
func (v *values) text(name string) string {
	list := v.list(name)
	if len(list) > 1 {
		v.setError(name, "is given more than once")
	}
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// number returns a parameter that is a whole number, or 0.
func (v *values) number(name string) int {
	text := v.text(name)
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		v.setError(name, "is not a whole number")
	}
	return n
}

// flag returns a parameter that is true or false; one without a value is true.
func (v *values) flag(name string) bool {
	switch v.text(name) {
	case "", "false", "0":
		if len(v.all[name]) == 1 && v.all[name][0] == "" {
			return true // ?explain
		}
		return false
	case "true", "1":
		return true
	}
	v.setError(name, "is neither true nor false")
	return false
}

// done returns the first error, or one for a parameter that does not exist.
func (v *values) done() error {
	if v.err != nil {
		return v.err
	}
	for name := range v.all {
		if !slices.Contains(v.asked, name) {
			what := "is not a known parameter"
			if near := validate.Nearest(name, v.asked); near != "" {
				what += ": did you mean " + near + "?"
			}
			return invalidField(strings.ToValidUTF8(name, "?"), what)
		}
	}
	return nil
}
