package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// bulkServers is how many servers of 100 tools each tenant begins with.
const bulkServers = 3

// dumpNouns is what the tools of the tenants are about.
var dumpNouns = []string{
	"invoice", "customer", "parcel", "lesson", "recipe", "sensor", "ticket", "contract", "playlist", "garden",
}

// dump writes a listing of one server of a tenant, and returns the file. The form is a number in one description.
func (c *cluster) dump(h *holder, server, form int) string {
	type listed struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"inputSchema"`
	}
	verbs := []string{"list", "create", "update", "delete", "export", "archive", "share", "count", "rename", "merge"}
	place := []string{"office", "warehouse", "school", "kitchen"}[server%4]
	var tools []listed
	for i := range len(verbs) * len(dumpNouns) {
		verb, noun := verbs[i%len(verbs)], dumpNouns[i/len(verbs)]
		text := fmt.Sprintf("%s one %s of the %s of %s", verb, noun, place, h.mark)
		if i == 0 {
			text += fmt.Sprintf(", form %d", form)
		}
		schema := `{"type":"object","properties":{"` + noun + `_id":{"type":"string"}}}`
		tools = append(tools, listed{verb + "_" + noun, text, json.RawMessage(schema)})
	}
	return c.writeDump(place+"-"+h.mark, form, tools)
}

// peekDump writes a listing of a server with one tool, and returns the file.
func (c *cluster) peekDump(server string, form int, description string) string {
	return c.writeDump(server, form, []map[string]any{{
		"name": "peek", "inputSchema": map[string]any{"type": "object"}, "description": description,
	}})
}

// writeDump writes a listing and returns the file, whose name is that of the server.
func (c *cluster) writeDump(server string, form int, tools any) string {
	file := filepath.Join(c.dir, "dumps", fmt.Sprint(form), server+".json")
	b, err := json.Marshal(map[string]any{"tools": tools})
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o700)
	}
	if err == nil {
		err = os.WriteFile(file, b, 0o600)
	}
	if err != nil {
		panic(failure{err})
	}
	return file
}
