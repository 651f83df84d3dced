package selection

// Mode says how a selection comes about.
type Mode string

// The modes of a selection. The zero value means what the preferences say, and SelectAuto where they say nothing.
const (
	ModeAuto   Mode = "auto"   // what the message needs
	ModeManual Mode = "manual" // only what is asked for by name, and what is always included
	ModeAll    Mode = "all"    // every tool
)

// CategoryUse says when the tools of a category are selected.
type CategoryUse string

// The uses of a category. A category that preferences do not name is on demand.
const (
	CategoryAlways   CategoryUse = "always"    // in every selection, as far as there is room
	CategoryOnDemand CategoryUse = "on-demand" // when a message needs them
	CategoryNever    CategoryUse = "never"     // hidden: neither found, nor listed, nor called
)

// Preferences say which tools one profile always includes, and which it hides. The zero value leaves all to the
// defaults.
type Preferences struct {
	Mode           Mode                   `json:"mode,omitempty" jsonschema:"auto, manual or all; auto if left out"`
	AlwaysInclude  []string               `json:"alwaysInclude,omitempty" jsonschema:"tools in every selection, by id or by the name under which clients call them"`
	NeverInclude   []string               `json:"neverInclude,omitempty" jsonschema:"tools that are hidden: neither found, nor listed, nor called"`
	Categories     map[string]CategoryUse `json:"categories,omitempty" jsonschema:"when tools of a category are selected: always, on-demand or never"`
	MaxTools       int                    `json:"maxTools,omitempty" jsonschema:"how many tools a selection has at most; 0 for the default"`
	TokenThreshold int                    `json:"tokenThreshold,omitempty" jsonschema:"how many tokens the tools of a selection cost at most; 0 for the default"`
}

// Turn is one message of a conversation. Only those of the role "user" count.
type Turn struct {
	Role    string `json:"role,omitempty" jsonschema:"who wrote it; only messages of the role user are used; user if left out"`
	Content string `json:"content"`
}

// Query asks which tools an agent should be given for a message. The zero value of all but Message works, and
// Message may be empty where Mode does without.
type Query struct {
	Profile        string // whose tools and preferences; "" for all tools
	Message        string
	History        []Turn // what came before the message, oldest first
	Session        string // the conversation whose tools persist; "" for none
	Task           string // the part of it that has tools of its own; "" for none
	Mode           Mode
	Explicit       []string // tools that are asked for, by id or name
	MaxTools       int      // zero means that of the preferences
	TokenThreshold int      // zero means that of the preferences
	Format         Format
	Defer          bool // mark the tools that are not core ones as loaded on demand; of FormatAnthropic and FormatResponses
	References     bool // refer to the tools that were selected, too; of FormatAnthropic alone
	// The rest is for FormatResponses alone. Namespaces groups the tools by server. ToolSearch adds the tool by which a
	// model searches for others; Message may then be empty, for the first request of a conversation. SearchCall is such
	// a search, and replaces Message: the answer has the tools for it, deferred, without those of a first request.
	Namespaces bool
	ToolSearch Execution
	SearchCall *ToolSearchCall
}
