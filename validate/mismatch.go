package validate

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"tooldex/internal/sanitize"
	"tooldex/tool"
)

// Mismatch is where and why a value does not fit a schema.
type Mismatch struct {
	// Field is the path of the value that is wrong, such as edits[].oldText; "" stands for the value as a whole.
	Field  string
	Reason string          // in a few words, without the field
	Schema json.RawMessage // the schema that the whole value was checked against
	cause  error           // the library's account, which may be long
}

// Error returns the library's own account, for the log. Messages for clients are made of Field and Reason.
func (m *Mismatch) Error() string { return m.cause.Error() }

// Message returns, for clients, that the arguments of the named tool do not fit, and why.
func (m *Mismatch) Message(name string) string {
	field := ""
	if m.Field != "" {
		field = m.Field + ": "
	}
	return "arguments of " + name + " do not fit: " + field + m.Reason
}

// asError returns the mismatch as the error of a call. A transport that can show the schema does so in place of the
// hint.
func (m *Mismatch) asError(name string) error {
	return &tool.Error{
		Code: tool.Invalid, Op: "call", Msg: m.Message(name),
		Hint: "correct the arguments; the tool's input schema says what fits", Err: m,
	}
}

// MissingRequired returns the properties that a schema requires and args, an object, does not have, in the schema's
// order. It returns nil if either cannot be read.
func MissingRequired(schema, args json.RawMessage) []string {
	var s struct {
		Required []string `json:"required"`
	}
	var given map[string]json.RawMessage
	if json.Unmarshal(args, &given) != nil || json.Unmarshal(schema, &s) != nil {
		return nil
	}
	return slices.DeleteFunc(s.Required, func(name string) bool { _, ok := given[name]; return ok })
}

// The forms of the library's errors. They are held by the tests, since it has no types for them.
var (
	validating = regexp.MustCompile(`^validating (.+?): `)
	missing    = regexp.MustCompile(`^required: missing properties: \[(.*)\]$`)
	unexpected = regexp.MustCompile(`^unexpected additional properties \[(.*)\]$`)
)

// isMissing ends the reason of a missing property. addMissing recognizes it.
const isMissing = " missing, but required"

// isUnknown ends the reason of unknown properties.
const isUnknown = " not known"

// maxReason bounds the library's words, in bytes: they repeat the value and may hold whole schemas.
const maxReason = 300

// newMismatch turns the library's error, a chain of places in the schema and a reason, into the field of the value that
// is wrong and why.
func newMismatch(schema json.RawMessage, err error) *Mismatch {
	m := &Mismatch{Schema: schema, cause: err}
	text := err.Error()
	if len(text) > 64<<10 {
		text = text[:64<<10]
	}
	before := ""
	for {
		match := validating.FindStringSubmatch(text)
		if match == nil {
			break
		}
		text = text[len(match[0]):]
		place := strings.TrimPrefix(match[1], "root")
		if strings.HasPrefix(place, before) {
			m.Field = extendField(m.Field, place[len(before):])
		}
		before = place
	}
	text, _, _ = strings.Cut(text, "\n")
	switch {
	case strings.HasPrefix(text, "anyOf:"), strings.HasPrefix(text, "oneOf: did not"):
		text = "fits none of the alternatives"
	case missing.MatchString(text):
		text = joinQuoted(missing.FindStringSubmatch(text)[1]) + isMissing
	case unexpected.MatchString(text):
		text = joinQuoted(unexpected.FindStringSubmatch(text)[1]) + isUnknown
	}
	m.Reason = sanitize.Clip(strings.TrimPrefix(text, "type: "), maxReason)
	return m
}

// addMissing adds the missing required properties to the reason, and which properties the unknown ones were meant to
// be. The library stops at the first fault, and a misspelled parameter is best understood beside the one that is
// missing.
func (m *Mismatch) addMissing(args json.RawMessage) {
	var given map[string]json.RawMessage
	if names, ok := strings.CutSuffix(m.Reason, isUnknown); ok && m.Field == "" && json.Unmarshal(args, &given) == nil {
		m.Reason = unknownNames(strings.Split(names, ", "), propertyNames(m.Schema), given)
	}
	lost := MissingRequired(m.Schema, args)
	if len(lost) == 0 {
		return
	}
	if !strings.HasSuffix(m.Reason, isMissing) {
		m.Reason += "; " + strings.Join(lost, ", ") + isMissing
	} else if unknown := Unknown(m.Schema, args); strings.HasSuffix(unknown, "?") {
		m.Reason += "; " + unknown
	}
}

// extendField follows a path in a schema, as far as it leads into the value: /properties/a/items gives a[].
func extendField(field, path string) string {
	steps := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i := 0; i < len(steps); i++ {
		switch steps[i] {
		case "properties", "patternProperties":
			if i+1 < len(steps) {
				i++
				name := strings.NewReplacer("~1", "/", "~0", "~").Replace(steps[i])
				if field != "" {
					name = "." + name
				}
				field += name
			}
		case "items", "contains", "additionalItems":
			field += "[]"
		case "prefixItems":
			field += "[]"
			i++
		case "additionalProperties":
			field += ".*"
		case "allOf", "anyOf", "oneOf", "$defs", "definitions":
			i++
		}
	}
	return field
}

// joinQuoted turns the library's "a" "b" into a, b.
func joinQuoted(list string) string {
	return strings.ReplaceAll(strings.ReplaceAll(list, `" "`, ", "), `"`, "")
}
