package sources

import (
	"bytes"
	"encoding/json"
	"fmt"

	"tooldex/internal/sanitize"
	"tooldex/tool"
)

// readDump makes a source of an array of tools as MCP servers return it. Unknown members are ignored, since servers add
// their own.
func (d *document) readDump(tools span) (*Content, error) {
	name := d.baseName()
	if name == "" {
		return nil, d.invalidAt(0, nil, "rename it",
			"the name of the file is to be the name of the server, and is empty")
	}
	src := &File{name: name, data: [][]byte{d.data}, parse: func() ([]*tool.Tool, []sanitize.Finding, error) {
		return d.dumpTools(name, tools)
	}}
	return &Content{Sources: []Source{src}}, nil
}

// dumpTools decodes all tools of a dump. Elements that are no objects become findings.
func (d *document) dumpTools(server string, list span) ([]*tool.Tool, []sanitize.Finding, error) {
	var tools []*tool.Tool
	var found []sanitize.Finding
	err := list.eachElement(func(v span) error {
		if v.kind() != '{' {
			found = append(found, sanitize.Finding{Problem: fmt.Sprintf("line %d of %s is not a tool", d.lineAt(v.off),
				d.path), Repair: "left out", Refused: true})
			return nil
		}
		t, f := dumpTool(server, v)
		tools = append(tools, t)
		found = append(found, f...)
		return nil
	})
	return tools, found, err
}

// dumpTool decodes one tool. Members of a wrong type are left out and reported; a missing name is left to
// sanitize.Tool.
func dumpTool(server string, v span) (*tool.Tool, []sanitize.Finding) {
	t := &tool.Tool{Server: server}
	var wrong []string
	text := func(into *string, key string, v span) {
		if v.kind() == '"' {
			*into = unquoteString(v.raw)
		} else if v.kind() != 'n' {
			wrong = append(wrong, key)
		}
	}
	_ = v.eachMember(func(key string, v span) error { // fn never fails
		switch key {
		case "name":
			text(&t.Name, key, v)
		case "title":
			text(&t.Title, key, v)
		case "description":
			text(&t.Description, key, v)
		case "inputSchema":
			t.InputSchema = bytes.Clone(v.raw)
		case "outputSchema":
			t.OutputSchema = bytes.Clone(v.raw)
		case "_meta":
			t.Meta = bytes.Clone(v.raw)
		case "icons":
			t.Icons = bytes.Clone(v.raw)
		case "annotations":
			if t.Annotations = decodeAnnotations(v); t.Annotations == nil && v.kind() != 'n' {
				wrong = append(wrong, key)
			}
		}
		return nil
	})
	var found []sanitize.Finding
	for _, key := range wrong {
		found = append(found, sanitize.Finding{
			Tool: t.ID(), Field: key, Problem: "is not of the type that MCP demands",
			Repair: "left out",
		})
	}
	return t, found
}

// decodeAnnotations decodes the hints of an object one by one, so that a wrong one does not affect the others. It
// returns nil if v is no object.
func decodeAnnotations(v span) *tool.Annotations {
	if v.kind() != '{' {
		return nil
	}
	a := &tool.Annotations{}
	_ = v.eachMember(func(key string, v span) error { // fn never fails
		var hint *bool
		if v.kind() == 't' || v.kind() == 'f' {
			said := v.kind() == 't'
			hint = &said
		}
		switch key {
		case "title":
			if v.kind() == '"' {
				a.Title = unquoteString(v.raw)
			}
		case "readOnlyHint":
			a.ReadOnlyHint = hint
		case "destructiveHint":
			a.DestructiveHint = hint
		case "idempotentHint":
			a.IdempotentHint = hint
		case "openWorldHint":
			a.OpenWorldHint = hint
		}
		return nil
	})
	return a
}

// appendJSONString appends s as a JSON string, without the escapes for HTML that json.Marshal adds.
func appendJSONString(out []byte, s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) != nil { // a string always encodes
		return append(out, `""`...)
	}
	return append(out, bytes.TrimRight(b.Bytes(), "\n")...)
}
