package mcpsrv

import (
	"encoding/json"
	"fmt"
	"strings"

	"tooldex/internal/orderedjson"
)

// resultPrefix begins the URIs of what was left out of results: tooldex-result://ID. Of several contents, the further
// ones have the place of their part added: tooldex-result://ID/2.
const resultPrefix = "tooldex-result://"

// link returns the part of a result's content by which a client finds what was left out of it.
func (r *keptResult) link() json.RawMessage {
	return object{
		jsonMember("type", "resource_link"), jsonMember("uri", resultPrefix+r.id), jsonMember("name", "rest of the result"),
		jsonMember("mimeType", r.contents()[0].kind), jsonMember("size", r.leftSize()),
	}.Bytes()
}

// leftSize returns how many bytes were left out.
func (r *keptResult) leftSize() int {
	n := len(r.text) - r.shown
	for _, i := range r.left {
		n += len(r.parts[i])
	}
	return n
}

// leftContent is a content of what was left out.
type leftContent struct {
	kind string // its media type
	raw  json.RawMessage
}

// contents returns what was left out as a client reads it: the rest of the text, then the parts. There is at least one.
func (r *keptResult) contents() []leftContent {
	var out []leftContent
	add := func(place, kind, key, value string) {
		out = append(out, leftContent{kind, object{
			jsonMember("uri", resultPrefix+r.id+place), jsonMember("mimeType", kind), jsonMember(key, value),
		}.Bytes()})
	}
	if r.shown < len(r.text) {
		add("", "text/plain", "text", r.text[r.shown:])
	}
	for _, i := range r.left {
		place, part := fmt.Sprintf("/%d", i), r.parts[i]
		if len(out) == 0 {
			place = ""
		}
		if data := r.media(i); data != "" {
			add(place, stringMember(part, "mimeType"), "blob", data)
		} else if resource, ok := orderedjson.Find(part, "resource"); ok && r.isContent(i) && orderedjson.Kind(resource) == "object" {
			out = append(out, leftContent{stringMember(resource, "mimeType"), resource})
		} else {
			add(place, "application/json", "text", string(part))
		}
	}
	return out
}

// restOf returns the result of resources/read for the URI of a result that was cut, and false for any other URI. The
// principal must be that of the call.
func (k *keptResults) restOf(uri, owner string) (json.RawMessage, bool) {
	id, ok := strings.CutPrefix(uri, resultPrefix)
	if !ok {
		return nil, false
	}
	kept := k.find(id, owner)
	if kept == nil {
		return nil, false
	}
	var raws []json.RawMessage
	for _, c := range kept.contents() {
		raws = append(raws, c.raw)
	}
	return object{{Key: "contents", Value: joinArray(raws)}}.Bytes(), true
}
