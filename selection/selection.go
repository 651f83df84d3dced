package selection

import (
	"encoding/json"

	"tooldex/tool"
)

// Format says in whose form the tools of a selection are written.
type Format string

// The formats. The zero value means FormatMCP.
const (
	FormatMCP       Format = "mcp"              // as in the tools of a tools/list
	FormatAnthropic Format = "anthropic"        // tools of the Messages API
	FormatOpenAI    Format = "openai"           // tools of Chat Completions
	FormatResponses Format = "openai-responses" // tools of the Responses API
	FormatGemini    Format = "gemini"           // functionDeclarations of generateContent
)

// Origin says why a tool is in a selection.
type Origin string

// The origins.
const (
	FromCore       Origin = "core"       // it is always available
	FromExplicit   Origin = "explicit"   // it was asked for by name
	FromSearch     Origin = "search"     // the message or the history needs it
	FromCache      Origin = "cache"      // a message that means the same did
	FromSession    Origin = "session"    // an earlier turn of the conversation did
	FromPreference Origin = "preference" // the preferences say so
	FromAll        Origin = "all"        // all tools were asked for
)

// Selected is one tool of a Selection.
type Selected struct {
	ID      tool.ID           `json:"id"`
	Name    string            `json:"name" jsonschema:"its name in the format that was asked for"`
	Source  Origin            `json:"source" jsonschema:"why it is there: core, explicit, search, cache, session, preference or all"`
	Score   float64           `json:"score,omitempty" jsonschema:"how probably it serves the message; absent where that was not asked"`
	Tokens  int               `json:"tokens" jsonschema:"what it costs in a plain tools/list"`
	Confirm bool              `json:"confirm,omitempty" jsonschema:"a call of it needs to be confirmed by a person"`
	Renamed map[string]string `json:"renamed,omitempty" jsonschema:"parameters whose names the format refuses: the new name and its own"`
}

// LeftOut is a tool that belongs into a selection and is not in it.
type LeftOut struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// Reference is a tool_reference block, as the Messages API takes it in the result of a search for tools.
type Reference struct {
	Type string `json:"type"`
	Name string `json:"tool_name"`
}

// Selection answers a SelectionQuery.
type Selection struct {
	Format   Format            `json:"format"`
	Mode     Mode              `json:"mode"`
	Tools    []json.RawMessage `json:"tools" jsonschema:"the tools, in the format that was asked for; empty where toolSearchOutput has them"`
	Selected []Selected        `json:"selected" jsonschema:"the same tools, in the same order, and why they are there"`
	// References is there if it was asked for.
	References []Reference `json:"toolReferences,omitempty" jsonschema:"tool_reference blocks of the tools that are not core ones"`
	// Output is there if the query was a ToolSearchCall.
	Output    *ToolSearchOutput `json:"toolSearchOutput,omitempty" jsonschema:"the tool_search_output for a tool_search_call"`
	LeftOut   []LeftOut         `json:"leftOut,omitempty" jsonschema:"what had no room, is not known, or cannot be written in the format"`
	Tokens    int               `json:"tokens" jsonschema:"what the tools cost in a plain tools/list"`
	AllTools  int               `json:"allTools" jsonschema:"how many tools there are"`
	AllTokens int               `json:"allTokens" jsonschema:"what all tools cost in a plain tools/list"`
	Saved     int               `json:"tokensSaved" jsonschema:"the difference"`
	Cached    bool              `json:"cached,omitempty" jsonschema:"what the message needs was known from one that means the same"`
	Confident bool              `json:"confident" jsonschema:"false if probably no tool here does what the message asks"`
	Advice    *tool.Advice      `json:"advice,omitempty"`
	Degraded  string            `json:"degraded,omitempty" jsonschema:"why only words were searched"`
}
