package openapi

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// body is the body of an operation's requests.
type body struct {
	kind     string // its media type
	required bool
	// spread says that its properties are arguments of their own. Else the argument is whole.
	spread bool
	whole  *argument
}

// isJSON reports whether a media type is that of JSON.
func isJSON(kind string) bool {
	kind, _, _ = mime.ParseMediaType(kind)
	return kind == "application/json" || strings.HasSuffix(kind, "+json") || kind == "*/*" || kind == "application/*"
}

const (
	formType      = "application/x-www-form-urlencoded"
	multipartType = "multipart/form-data"
	bytesType     = "application/octet-stream"
)

// preference orders media types by how well a model can write them.
func preference(kind string) int {
	plain, _, _ := mime.ParseMediaType(kind)
	switch {
	case plain == "application/json":
		return 0
	case isJSON(kind):
		return 1
	case plain == formType:
		return 2
	case plain == multipartType:
		return 3
	case strings.HasPrefix(plain, "text/"), strings.HasSuffix(plain, "xml"):
		return 4
	}
	return 5
}

// readBody chooses a media type and the arguments of the body.
func (one *operation) readBody(from *openapi3.RequestBody) error {
	kinds := keysOf(from.Content)
	if len(kinds) == 0 {
		return nil
	}
	slices.SortStableFunc(kinds, func(a, b string) int { return preference(a) - preference(b) })
	kind := kinds[0]
	media := from.Content[kind]
	if strings.Contains(kind, "*") {
		kind = "application/json"
	}
	var shape *openapi3.SchemaRef
	if media != nil {
		shape = media.Schema
	}
	b := &body{kind: kind, required: from.Required}
	one.body = b
	properties, needed, plain := flatten(shape, 0)
	form := kind == formType || kind == multipartType
	if plain && len(properties) > 0 && (form || b.required || len(needed) == 0) {
		b.spread = true
		for _, name := range keysOf(properties) {
			if isReadOnly(properties[name]) {
				continue
			}
			a := &argument{
				in: "body", name: name, shape: properties[name], need: b.required && slices.Contains(needed, name),
				style: "form", explode: true,
			}
			a.file = kind == multipartType && a.shape != nil && isBinary(a.shape.Value)
			one.arguments = append(one.arguments, a)
		}
		return nil
	}
	if form {
		return fmt.Errorf("the properties of its form cannot be told")
	}
	b.whole = &argument{in: "body", name: "body", about: from.Description, need: b.required, shape: shape}
	if preference(kind) == 5 {
		b.whole.file, b.whole.shape = true, openapi3.NewStringSchema().NewRef()
	} else if preference(kind) == 4 {
		b.whole.shape = openapi3.NewStringSchema().NewRef()
	}
	one.arguments = append(one.arguments, b.whole)
	return nil
}

// flatten returns the properties of an object that is nothing but its properties, those of allOf included. plain is
// false for all others, which are an argument as a whole.
func flatten(ref *openapi3.SchemaRef, level int) (properties openapi3.Schemas, needed []string, plain bool) {
	if ref == nil || ref.Value == nil || level > 8 {
		return nil, nil, false
	}
	v := ref.Value
	if v.Type != nil && !v.Type.Is("object") || len(v.OneOf)+len(v.AnyOf)+len(v.PatternProperties) > 0 ||
		v.Not != nil || v.If != nil || v.AdditionalProperties.Schema != nil ||
		v.AdditionalProperties.Has != nil && *v.AdditionalProperties.Has || v.Nullable {
		return nil, nil, false
	}
	properties, needed = openapi3.Schemas{}, slices.Clone(v.Required)
	for _, part := range v.AllOf {
		more, also, plain := flatten(part, level+1)
		if !plain {
			return nil, nil, false
		}
		for name, p := range more {
			properties[name] = p
		}
		needed = append(needed, also...)
	}
	for name, p := range v.Properties {
		properties[name] = p
	}
	return properties, needed, true
}

// write returns the body of a request and its media type; nil if there is none.
func (b *body) write(arguments []*argument, given map[string]json.RawMessage) (io.Reader, string, error) {
	if b.whole != nil {
		value, ok := given[b.whole.key]
		if !ok {
			return nil, "", nil
		}
		if isJSON(b.kind) {
			return bytes.NewReader(value), b.kind, nil
		}
		var text string
		if err := json.Unmarshal(value, &text); err != nil {
			return nil, "", fmt.Errorf("argument %q is no string", b.whole.key)
		}
		if b.whole.file {
			data, err := decodeBytes(b.whole.key, text)
			return bytes.NewReader(data), b.kind, err
		}
		return strings.NewReader(text), b.kind, nil
	}
	parts := map[string]json.RawMessage{}
	var order []*argument
	for _, a := range arguments {
		if value, ok := given[a.key]; ok && a.in == "body" {
			parts[a.name] = value
			order = append(order, a)
		}
	}
	if len(parts) == 0 && !b.required {
		return nil, "", nil
	}
	switch preference(b.kind) {
	case 2:
		form := url.Values{}
		for _, a := range order {
			pairs, err := a.pairs(parts[a.name])
			if err != nil {
				return nil, "", err
			}
			for _, p := range pairs {
				form.Add(p[0], p[1])
			}
		}
		return strings.NewReader(form.Encode()), b.kind, nil
	case 3:
		return writeMultipart(order, parts)
	}
	data, err := json.Marshal(parts)
	return bytes.NewReader(data), b.kind, err
}

// decodeBytes decodes base64 as models write it, with or without padding and line breaks.
func decodeBytes(key, text string) ([]byte, error) {
	text = strings.TrimRight(strings.Join(strings.Fields(text), ""), "=")
	text = strings.NewReplacer("-", "+", "_", "/").Replace(text)
	data, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("argument %q is not base64", key)
	}
	return data, nil
}

// writeMultipart writes a form whose parts may be files.
func writeMultipart(order []*argument, parts map[string]json.RawMessage) (io.Reader, string, error) {
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	for _, a := range order {
		write := func(kind string, params map[string]string, data []byte) error {
			h := textproto.MIMEHeader{"Content-Disposition": {mime.FormatMediaType("form-data", params)}}
			if kind != "" {
				h.Set("Content-Type", kind)
			}
			part, err := w.CreatePart(h)
			if err == nil {
				_, err = part.Write(data)
			}
			return err
		}
		raw := bytes.TrimSpace(parts[a.name])
		switch {
		case a.file:
			var text string
			if err := json.Unmarshal(raw, &text); err != nil {
				return nil, "", fmt.Errorf("argument %q is no string", a.key)
			}
			data, err := decodeBytes(a.key, text)
			if err != nil {
				return nil, "", err
			}
			if err := write(bytesType, map[string]string{"name": a.name, "filename": a.name}, data); err != nil {
				return nil, "", err
			}
		case len(raw) > 0 && raw[0] == '{':
			if err := write("application/json", map[string]string{"name": a.name}, raw); err != nil {
				return nil, "", err
			}
		default:
			pairs, err := a.pairs(raw)
			if err != nil {
				return nil, "", err
			}
			for _, p := range pairs {
				if err := write("", map[string]string{"name": p[0]}, []byte(p[1])); err != nil {
					return nil, "", err
				}
			}
		}
	}
	if err := w.Close(); err != nil {
		return nil, "", err
	}
	return &out, w.FormDataContentType(), nil
}
