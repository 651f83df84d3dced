package openapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// operation is one operation of the API as a tool.
type operation struct {
	name, title, about string
	method, path       string
	base               *url.URL
	home               bool // base is the API's own, so credentials may go there
	arguments          []*argument
	body               *body // nil if it takes none
	security           openapi3.SecurityRequirements
	schema             json.RawMessage
}

// argument is one argument of a tool, and where it goes.
type argument struct {
	key   string // in the arguments of a call
	in    string // path, query, header, cookie, or body for a property of it
	name  string // in the request
	about string
	need  bool
	shape *openapi3.SchemaRef

	style    string
	explode  bool
	asJSON   bool // its value is a document of its own
	reserved bool // characters that separate parts of an address are sent as they are
	file     bool // a part of bytes, in base64
}

// methods are those of operations that become tools, in the order in which they are listed.
var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
}

// convert returns the operations that the filters let through, in the order of their paths. An operation that cannot be
// read is an Invalid error that names it.
func (o *Options) convert(doc *openapi3.T, base, at *url.URL) ([]*operation, error) {
	var out []*operation
	all := newSchemas(nil)
	if doc.Components != nil {
		all.all = doc.Components.Schemas
	}
	tags, names := map[string]bool{}, map[string]bool{}
	paths := doc.Paths.Map()
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		item := paths[path]
		if item == nil {
			continue
		}
		of := item.Operations()
		for _, method := range methods {
			op := of[method]
			if op == nil {
				continue
			}
			for _, t := range op.Tags {
				tags[t] = true
			}
			if !o.wanted(method, path, op) {
				continue
			}
			one := &operation{method: method, path: path, base: base, home: true, title: op.Summary}
			one.name = freeName(toolName(method, path, op.OperationID), names)
			one.about = describe(method, path, op)
			one.security = doc.Security
			if op.Security != nil {
				one.security = *op.Security
			}
			if err := o.ownServer(one, item.Servers, op.Servers, at); err != nil {
				return nil, err
			}
			if err := one.read(item.Parameters, op, all); err != nil {
				return nil, o.invalid(fmt.Sprintf("%s %s of its description cannot be read", method, path),
					"correct it there, or leave it out by paths", err)
			}
			out = append(out, one)
		}
	}
	if len(out) == 0 {
		hint := "give a description with paths"
		if len(o.Tags)+len(o.Paths) > 0 {
			hint = "use one of its tags: " + list(slices.Sorted(maps.Keys(tags)), "it has none; use paths")
		}
		return nil, o.invalid("its description has no operation that is asked for", hint, nil)
	}
	return out, nil
}

// ownServer applies the servers of a path or an operation, unless a person gave the address.
func (o *Options) ownServer(one *operation, ofPath openapi3.Servers, ofOperation *openapi3.Servers, at *url.URL) error {
	own := ofPath
	if ofOperation != nil && len(*ofOperation) > 0 {
		own = *ofOperation
	}
	if len(own) == 0 || o.Base != "" {
		return nil
	}
	base, err := o.baseAddress(own, at)
	if err != nil {
		return err
	}
	one.home, one.base = sameOrigin(base, one.base), base
	return nil
}

// wanted reports whether an operation passes the filters.
func (o *Options) wanted(method, path string, op *openapi3.Operation) bool {
	tagged := len(o.Tags) == 0 || slices.ContainsFunc(op.Tags, func(tag string) bool {
		return slices.ContainsFunc(o.Tags, func(want string) bool { return strings.EqualFold(want, tag) })
	})
	return tagged && (len(o.Paths) == 0 || slices.ContainsFunc(o.Paths, func(pattern string) bool {
		if want, rest, ok := strings.Cut(pattern, " "); ok {
			if !strings.EqualFold(want, method) {
				return false
			}
			pattern = strings.TrimSpace(rest)
		}
		return fits(pattern, path)
	}))
}

// fits reports whether a text fits a pattern, in which a star stands for any characters.
func fits(pattern, text string) bool {
	quoted := strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*")
	ok, err := regexp.MatchString("^"+quoted+"$", text)
	return err == nil && ok
}

// describe returns the description of an operation, which always says what is sent.
func describe(method, path string, op *openapi3.Operation) string {
	var parts []string
	if op.Deprecated {
		parts = append(parts, "Deprecated.")
	}
	for _, text := range []string{op.Summary, op.Description} {
		if text = strings.TrimSpace(text); text != "" && !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	parts = append(parts, "("+method+" "+path+")")
	return strings.Join(parts, "\n\n")
}

// unsendable are the headers that a description may name and no argument sets: the request has its own.
var unsendable = []string{
	"accept", "content-type", "authorization", "host", "cookie", "content-length", "transfer-encoding", "connection",
	"upgrade", "te", "trailer", "proxy-authorization",
}

var placeholder = regexp.MustCompile(`\{([^{}]+)\}`)

// read fills in the arguments, the body and the schema of an operation.
func (one *operation) read(ofPath openapi3.Parameters, op *openapi3.Operation, all *schemas) error {
	given := map[string]*openapi3.Parameter{}
	for _, ref := range slices.Concat(ofPath, op.Parameters) { // one of the operation replaces that of the path
		if ref != nil && ref.Value != nil && ref.Value.Name != "" {
			given[ref.Value.In+" "+ref.Value.Name] = ref.Value
		}
	}
	for _, m := range placeholder.FindAllStringSubmatch(one.path, -1) {
		if given["path "+m[1]] == nil {
			given["path "+m[1]] = openapi3.NewPathParameter(m[1]).WithSchema(openapi3.NewStringSchema())
		}
	}
	order := []string{"path", "query", "header", "cookie"}
	for _, p := range slices.SortedFunc(maps.Values(given), func(a, b *openapi3.Parameter) int {
		return cmp.Or(slices.Index(order, a.In)-slices.Index(order, b.In),
			strings.Index(one.path, "{"+a.Name+"}")-strings.Index(one.path, "{"+b.Name+"}"), cmp.Compare(a.Name, b.Name))
	}) {
		switch {
		case !slices.Contains(order, p.In),
			p.In == "header" && slices.Contains(unsendable, strings.ToLower(p.Name)),
			p.In == "path" && !strings.Contains(one.path, "{"+p.Name+"}"):
			continue
		}
		one.arguments = append(one.arguments, parameterArgument(p))
	}
	if op.RequestBody != nil && op.RequestBody.Value != nil {
		if err := one.readBody(op.RequestBody.Value); err != nil {
			return err
		}
	}
	one.nameArguments()
	var err error
	one.schema, err = all.encode(one)
	return err
}

// parameterArgument returns the argument for a parameter, with the defaults of the specification.
func parameterArgument(p *openapi3.Parameter) *argument {
	a := &argument{
		in: p.In, name: p.Name, about: p.Description, need: p.Required || p.In == "path", shape: p.Schema,
		style: p.Style, reserved: p.AllowReserved,
	}
	if a.style == "" {
		a.style = "simple"
		if p.In == "query" || p.In == "cookie" {
			a.style = "form"
		}
	}
	a.explode = a.style == "form"
	if p.Explode != nil {
		a.explode = *p.Explode
	}
	for kind, media := range p.Content {
		a.asJSON = isJSON(kind)
		if media != nil {
			a.shape = media.Schema
		}
	}
	return a
}

// nameArguments gives each argument a name that models may use, unlike the others'. The first keeps its own: path comes
// before query, header, cookie and body.
func (one *operation) nameArguments() {
	taken := map[string]bool{}
	for _, a := range one.arguments {
		key := cleanName(a.name, 64)
		if key == "" {
			key = "argument"
		}
		if taken[key] {
			key = freeName(cleanName(key, 50)+"_"+a.in, taken)
		}
		taken[key], a.key = true, key
	}
}

// properties returns the properties of the tool's arguments, and which are required.
func (one *operation) properties(s *schemas) (out map[string]any, required []string) {
	out = map[string]any{}
	for _, a := range one.arguments {
		shape := s.convertTop(a.shape)
		if p, ok := shape.(map[string]any); ok {
			p = maps.Clone(p) // it may be shared
			shape = p
			about := a.about
			if about == "" {
				about, _ = p["description"].(string)
			}
			if a.file {
				about = strings.TrimSpace(about + " (bytes of a file, in base64)")
			}
			if about != "" {
				p["description"] = about
			}
		}
		out[a.key] = shape
		if a.need {
			required = append(required, a.key)
		}
	}
	return out, required
}

// convertTop converts a schema where it is used, also if it is a reference: most arguments are of a simple type.
func (s *schemas) convertTop(ref *openapi3.SchemaRef) any {
	if ref == nil || ref.Value == nil {
		return map[string]any{"type": "string"}
	}
	if v := ref.Value; ref.Ref != "" && (len(v.Properties) > 0 || len(v.AllOf)+len(v.AnyOf)+len(v.OneOf) > 0) {
		return s.convert(ref, 1)
	}
	return s.inPlace(ref.Value, 1)
}
