package scan

import (
	"slices"
)

// Rule describes one kind of finding.
type Rule struct {
	ID       string   `json:"id"`
	Severity Severity `json:"severity"`
	Why      string   `json:"why"`    // why an honest tool does not need it
	Remedy   string   `json:"remedy"` // what the person who is responsible for the tools should do
}

// The remedies: to ask where honest tools may look like this, to leave the tool where none does.
const (
	ask   = "ask the makers of the server what it is for; approve the tool only when the answer convinces"
	leave = "do not approve the tool; report it to the makers of the server, " +
		"and remove the server if they do not answer for it"
)

// rules lists all rules, sorted by ID. It is read-only.
var rules = []Rule{
	{"addressed", Medium, "it speaks to the model itself, where a description speaks of the tool", ask},
	{"command", High, "it has the model run a command besides", leave},
	{
		"comment", High,
		"words in a comment or behind an invisible element reach the model, and no person who looks at the rendered " +
			"text",
		leave,
	},
	{"conceal", High, "it has the model keep something from the user", leave},
	{"consent", High, "it has the model act without asking", leave},
	{"control", Medium, "control characters do not belong in a text; terminals obey them", ask},
	{"disarm", High, "it has the model switch off what protects the user", leave},
	{"divert", High, "it turns what the user does with other tools to somebody else's benefit", leave},
	{"elsewhere", Medium, "it sends the model to another field for orders, so that no field alone looks wrong", ask},
	{"encoded", High, "an instruction is encoded so that filters and people pass over it", leave},
	{
		"exfiltrate", High,
		"it has the model send away what it knows: the conversation, its instructions, the user's data", leave,
	},
	{"hidden", High, "invisible characters reach the model, and no person sees them", leave},
	{"impersonates", High, "its name is the name under which another server's tool is known", leave},
	{"likely", Medium, "it is worded as attacks are, and as honest tools seldom are", ask},
	{"lookalike", High, "its name looks the same as another one's", leave},
	{"markup", High, "it imitates the marks that set apart the words of a system or an administrator", leave},
	{
		"mixed", High,
		"letters of another script stand among Latin ones that they look like, which hides words from filters and " +
			"searches",
		leave,
	},
	{"obey", High, "it has the model follow orders that come from a tool or its results", leave},
	{"odd", Medium, "it speaks as people speak to one another, where a description speaks of a tool", ask},
	{"override", High, "it has the model set aside what it was told before", leave},
	{"padding", Medium, "words behind a great deal of white space are out of the sight of a person", ask},
	{"persist", Medium, "it has the model keep a rule beyond the task", ask},
	{"priority", Medium, "it claims to come before the tools of other servers, or at each request", ask},
	{
		"request", High,
		"a parameter asks for what the tool does not need: the conversation, the model's instructions, secrets, the " +
			"user's files",
		leave,
	},
	{"role", High, "it gives the model another role than the one that it has", leave},
	{"secrets", High, "it has the model read files that hold secrets, or pass them on", leave},
	{"shadow", High, "it gives orders about a tool of another server", leave},
	{"similar", Medium, "its name is that of another server's but for one letter", ask},
	{"split", High, "an instruction is spread over several fields, so that none alone looks wrong", leave},
	{"steer", Medium, "it has the model put into its answers what serves another than the user", ask},
	{"terminal", High, "escape sequences hide or change what a terminal shows", leave},
}

// ruleOf returns the rule with an ID. For an ID that is not listed it returns a medium rule without texts.
func ruleOf(id string) Rule {
	i := slices.IndexFunc(rules, func(r Rule) bool { return r.ID == id })
	if i < 0 {
		return Rule{ID: id, Severity: Medium}
	}
	return rules[i]
}
