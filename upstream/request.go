package upstream

import (
	"encoding/json"

	"tooldex/tool"
)

// Request asks a server for something other than a tool: to read a resource, to fill in a prompt, to complete an
// argument.
type Request struct {
	Server string
	// resources/read, resources/subscribe, resources/unsubscribe, prompts/get or completion/complete
	Method string
	Params json.RawMessage // an object, in the server's own names
	// Client and Progress are as in a Call.
	Client   *tool.Client
	Progress func(tool.Progress)
}

// Features is what a server offers beside its tools. Each item is an object as the server wrote it.
type Features struct {
	Server    string            `json:"server"`
	Resources []json.RawMessage `json:"resources,omitempty"`
	Templates []json.RawMessage `json:"templates,omitempty"`
	Prompts   []json.RawMessage `json:"prompts,omitempty"`
}
