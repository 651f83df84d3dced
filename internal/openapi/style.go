package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// decode decodes the value of an argument. Numbers keep their digits.
func (a *argument) decode(raw json.RawMessage) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("argument %q is no JSON", a.key)
	}
	return v, nil
}

// plainText returns a value as a text: a string itself, anything nested as JSON.
func plainText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		return v.String()
	}
	out, _ := json.Marshal(v)
	return string(out)
}

// pairs returns the names and values with which an argument is written in a query, a cookie or a form.
func (a *argument) pairs(raw json.RawMessage) ([][2]string, error) {
	if a.asJSON {
		return [][2]string{{a.name, string(raw)}}, nil
	}
	value, err := a.decode(raw)
	if err != nil {
		return nil, err
	}
	sep := map[string]string{"spaceDelimited": " ", "pipeDelimited": "|"}[a.style]
	if sep == "" {
		sep = ","
	}
	var out [][2]string
	switch value := value.(type) {
	case nil:
		return nil, nil
	case []any:
		words := make([]string, len(value))
		for i, one := range value {
			words[i] = plainText(one)
			out = append(out, [2]string{a.name, words[i]})
		}
		if a.explode {
			return out, nil
		}
		return [][2]string{{a.name, strings.Join(words, sep)}}, nil
	case map[string]any:
		if a.in == "body" {
			return [][2]string{{a.name, plainText(value)}}, nil
		}
		var words []string
		for _, key := range keysOf(value) {
			text := plainText(value[key])
			words = append(words, key, text)
			if a.style == "deepObject" {
				out = append(out, [2]string{a.name + "[" + key + "]", text})
			} else {
				out = append(out, [2]string{key, text})
			}
		}
		if a.explode || a.style == "deepObject" {
			return out, nil
		}
		return [][2]string{{a.name, strings.Join(words, sep)}}, nil
	default:
		return [][2]string{{a.name, plainText(value)}}, nil
	}
}

// joined returns an argument as a text of a path or a header, in the styles simple, label and matrix. escape is applied
// to each word.
func (a *argument) joined(raw json.RawMessage, escape func(string) string) (string, error) {
	if a.asJSON {
		return escape(string(raw)), nil
	}
	value, err := a.decode(raw)
	if err != nil {
		return "", err
	}
	var words []string
	switch value := value.(type) {
	case []any:
		for _, one := range value {
			words = append(words, escape(plainText(one)))
		}
	case map[string]any:
		for _, key := range keysOf(value) {
			if text := escape(plainText(value[key])); a.explode {
				words = append(words, escape(key)+"="+text)
			} else {
				words = append(words, escape(key), text)
			}
		}
	default:
		words = []string{escape(plainText(value))}
	}
	_, object := value.(map[string]any)
	switch {
	case a.style == "label" && a.explode:
		return "." + strings.Join(words, "."), nil
	case a.style == "label":
		return "." + strings.Join(words, ","), nil
	case a.style == "matrix" && a.explode && object:
		return ";" + strings.Join(words, ";"), nil
	case a.style == "matrix" && a.explode:
		return ";" + a.name + "=" + strings.Join(words, ";"+a.name+"="), nil
	case a.style == "matrix":
		return ";" + a.name + "=" + strings.Join(words, ","), nil
	}
	return strings.Join(words, ","), nil
}

// reservedKept undoes the escaping of the characters that RFC 3986 reserves, but for those that end a query or part it.
var reservedKept = strings.NewReplacer("%3A", ":", "%2F", "/", "%3F", "?", "%5B", "[", "%5D", "]", "%40", "@", "%21",
	"!", "%24", "$", "%27", "'", "%28", "(", "%29", ")", "%2A", "*", "%2C", ",", "%3B", ";")

// queryText returns the pairs of a query as they are sent.
func (a *argument) queryText(pairs [][2]string) string {
	parts := make([]string, len(pairs))
	for i, p := range pairs {
		value := url.QueryEscape(p[1])
		if a.reserved {
			value = reservedKept.Replace(value)
		}
		parts[i] = url.QueryEscape(p[0]) + "=" + value
	}
	return strings.Join(parts, "&")
}
