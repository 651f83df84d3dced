package tool

// SelectMode says how a selection comes about.
type SelectMode string

// The modes of a selection. The zero value means what the preferences say, and SelectAuto where they say nothing.
const (
	SelectAuto   SelectMode = "auto"   // what the message needs
	SelectManual SelectMode = "manual" // only what is asked for by name, and what is always included
	SelectAll    SelectMode = "all"    // every tool
)

// CategoryUse says when the tools of a category are selected.
type CategoryUse string

// The uses of a category. A category that preferences do not name is on demand.
const (
	CategoryAlways   CategoryUse = "always"    // in every selection, as far as there is room
	CategoryOnDemand CategoryUse = "on-demand" // when a message needs them
	CategoryNever    CategoryUse = "never"     // hidden: neither found, nor listed, nor called
)

// Preferences say what one profile wants selected, and what it wants hidden. The zero value leaves all to the defaults.
type Preferences struct {
	Mode           SelectMode             `json:"mode,omitempty" jsonschema:"auto, manual or all; auto if left out"`
	AlwaysInclude  []string               `json:"alwaysInclude,omitempty" jsonschema:"tools in every selection, by id or by the name under which clients call them"`
	NeverInclude   []string               `json:"neverInclude,omitempty" jsonschema:"tools that are hidden: neither found, nor listed, nor called"`
	Categories     map[string]CategoryUse `json:"categories,omitempty" jsonschema:"when tools of a category are selected: always, on-demand or never"`
	MaxTools       int                    `json:"maxTools,omitempty" jsonschema:"how many tools a selection has at most; 0 for the default"`
	TokenThreshold int                    `json:"tokenThreshold,omitempty" jsonschema:"how many tokens the tools of a selection cost at most; 0 for the default"`
}
