package scan

// pattern is a succession of words in one sentence that makes a finding. An element names one or more classes, or words
// in quotes, separated by |. The steps "a 3 b" match a word of class a and one of class b behind it, with at most three
// words between them; "~8 a b" matches both in any order, at most eight words apart.
type pattern struct {
	rule   string
	at     []place // the places it applies to; nil means all but names of parameters
	steps  string  // what to match, as above
	unless string  // no match if one of these stands before the first step
	cut    string  // one of these between the first step and the second starts over
	bar    string  // no match if one of these is anywhere in the sentence
	off    string  // no match if the tool is about one of these
	common bool    // ordinary documents say it now and then, so in a result it is not enough by itself
	plain  bool    // an intent that ordinary documents do not have
	worth  int     // in percent of a finding; 0 means enough by itself
}

// asNoun returns the places where naming a thing amounts to asking for it.
func asNoun() []place { return []place{parameter, key} }

// orderPatterns lists orders to the model. Descriptions say what a tool does in the third person and what its reader
// should do in the bare form; the lexicon has the latter.
func orderPatterns() []pattern {
	return []pattern{
		{rule: "override", steps: "ignores 4 prior 4 orders|prompt|told|talk", unless: "quoting"},
		{rule: "override", steps: "ignores 4 orders 3 prior", unless: "quoting"},
		{rule: "override", steps: "prior 3 orders 4 ignores", unless: "quoting"},
		{rule: "override", steps: "ignores 1 all 2 orders|prompt", unless: "quoting"},
		{rule: "override", steps: "ignores 3 'your' 3 safety|orders"},
		{rule: "override", steps: "ignores 1 every 4 told|before"},
		{rule: "override", steps: "plays 3 prior 3 orders"},
		{rule: "override", steps: "outranks 4 system 2 prompt"},
		{rule: "override", steps: "orders 8 outranks 8 person|system", off: "safety|orders"},
		{rule: "override", steps: "safety 9 'replaced'"},
		{rule: "override", steps: "safety 3 not 2 'hold'|'apply'", common: true},
		{rule: "override", steps: "'disable' 2 consent"},
		{rule: "override", steps: "'whatever' 2 prior 2 orders"},

		{rule: "conceal", steps: "not 3 tells 5 person", unless: "quoting", bar: "nil|detail", cut: "and"},
		{rule: "conceal", steps: "person 2 must 1 not 3 'told'|'informed'|'notified'"},
		{rule: "conceal", steps: "not 2 telling 4 person"},
		{rule: "conceal", steps: "not 3 tells 3 orders"},
		{rule: "conceal", steps: "hides 2 orders|calls|results|'step'|'steps' 3 person"},
		{rule: "conceal", steps: "keeps 2 hides 3 'about'|person"},
		{rule: "conceal", steps: "keeps 1 'this' 1 hides"},
		{rule: "conceal", steps: "person 6 must 1 not 2 notices"},
		{rule: "conceal", steps: "nothing 1 must 2 notices"},
		{rule: "conceal", steps: "says 0 nothing"},
		{rule: "conceal", steps: "covertly 1 calls|sends|passes|reads|'stored'", common: true},

		{rule: "role", steps: "'you' 0 'are' 0 'now' 6 role|ai|not|'permitted'"},
		{rule: "role", steps: "'you' 0 'are' 0 'in' 1 role"},
		{rule: "role", steps: "plays 3 'as'|'that' 4 role", common: true},
		{rule: "role", steps: "'your' 1 'real' 1 'task'|'purpose'|'goal'"},

		{rule: "obey", steps: "orders 8 must 2 'followed'|'obeyed'|'executed'", common: true, off: "orders"},
		{rule: "obey", steps: "'treat' 3 orders 8 person"},
		{
			rule: "obey", at: []place{described, parameter, value}, steps: "follows 2 orders 5 results", unless: "not",
			worth: 70,
		},
		{rule: "obey", steps: "'new' 0 orders 2 ai"},
		{rule: "obey", steps: "ai 3 must 3 sends|follows|tells 6 orders|person|results|private"},
		{rule: "obey", steps: "'approve' 3 calls|'calls' 3 not"},
		{rule: "obey", steps: "'proceed'|'act' 1 not 4 consent"},
		{rule: "elsewhere", steps: "follows 4 'instructions'|'orders'|'steps' 3 argument"},
		{rule: "elsewhere", steps: "reads|'see' 4 argument 8 follows|'do'"},
		{rule: "elsewhere", steps: "'word' 3 ai 4 follows"},
	}
}

// greedPatterns lists requests for more than a tool needs, and claims to come before other tools.
func greedPatterns() []pattern {
	talks := "chats|talk|prompt"
	return []pattern{
		{rule: "secrets", steps: "before|must 6 reads|passes|sends|'use' 6 private"},
		{rule: "secrets", steps: "reads 7 private 12 passes|sends|'here'"},
		{rule: "secrets", steps: "sends|passes|'use' 5 private 6 'as'|'so'|'here'|'with'|'along'|'into'"},
		{rule: "secrets", steps: "contents 3 private", unless: "quoting"},
		{rule: "secrets", steps: "reads 5 environ 10 passes|sends"},
		{rule: "secrets", steps: "must 4 contents 2 private"},
		{rule: "secrets", steps: "'once' 3 'copied' 2 private"},
		{rule: "secrets", steps: "reads|passes|sends 2 person 3 secrets|personal", common: true, off: "logs"},

		{rule: "exfiltrate", steps: "sends|passes|tells 4 all|history 4 talk|'said'", common: true, off: "chats"},
		{rule: "exfiltrate", steps: "sends|passes|tells 4 talk 1 history|earlier", off: "chats"},
		{
			rule: "exfiltrate", steps: "sends|tells|reads|passes|'discloses' 3 system 0 prompt|orders|'messages'",
			unless: "quoting", off: "chats",
		},
		{rule: "exfiltrate", steps: "sends|tells|reads 2 'your'|'its' 2 system|prompt", common: true, unless: "quoting"},
		{rule: "exfiltrate", steps: "sends 3 all|every 14 address", common: true},
		{rule: "exfiltrate", steps: "talk 1 history 4 sends|passes", off: "chats"},
		{rule: "exfiltrate", steps: "passes 4 person 4 personal", off: "logs"},

		{rule: "request", at: asNoun(), steps: "all|history 4 talk", off: talks},
		{rule: "request", at: asNoun(), steps: "talk 2 history|earlier", off: talks},
		{rule: "request", at: asNoun(), steps: "talk 1 'so' 0 'far'"},
		{rule: "request", at: asNoun(), steps: "all 2 'messages'", off: talks},
		{rule: "request", at: asNoun(), steps: "all 2 talk 3 person"},
		{rule: "request", at: asNoun(), steps: "system 0 prompt", off: talks},
		{rule: "request", at: asNoun(), steps: "prompt 3 'which' 3 'configured'"},
		{rule: "request", at: asNoun(), steps: "'your' 2 system 1 prompt|orders"},
		{
			rule: "request", at: asNoun(), steps: "environ 0 'variables' 4 'host'|'machine'|'system'|person|your",
			off: "runs",
		},
		{rule: "request", at: asNoun(), steps: "person 0 's' 2 secrets", off: "logs"},
		{rule: "request", at: asNoun(), steps: "secrets 3 'of' 2 person", off: "logs"},
		{rule: "request", at: asNoun(), steps: "secrets 6 told", off: "logs"},
		{rule: "request", at: asNoun(), steps: "personal 8 'you' 0 'know'"},
		{rule: "request", at: asNoun(), steps: "contents 3 private"},
		{rule: "request", at: asNoun(), steps: "contents 8 private"},
		{rule: "request", at: asNoun(), steps: "contents 4 files 4 openNow"},
		{rule: "request", at: asNoun(), steps: "'output' 2 environ"},
		{rule: "request", at: asNoun(), steps: "all|other 2 tools 6 'available'|'call'"},
		{rule: "request", at: asNoun(), steps: "results 2 'previous'|'earlier'|'prior' 1 tools|calls"},
		{rule: "request", at: asNoun(), steps: "every|all 3 person 3 told"},
		{rule: "request", at: asNoun(), steps: "person 1 told 1 earlier"},
		{rule: "request", at: asNoun(), steps: "'contents' 5 private|'ssh'"},
		{rule: "request", at: asNoun(), steps: "person 4 'last' 0 prompt"},

		{rule: "priority", steps: "before 2 other 0 tools", unless: "scope"},
		{rule: "priority", steps: "before 3 other 4 before 3 person"},
		{rule: "priority", steps: "tools 5 ranks 3 other"},
		{rule: "priority", steps: "ranks 3 other 1 tools"},
		{rule: "priority", steps: "only 0 'this' 0 tools"},
		{rule: "priority", steps: "not 1 'use'|'call' 1 other 0 tools"},
		{rule: "priority", steps: "must 4 calls 2 before 2 'responding'|'answering' 2 all"},
		{rule: "priority", steps: "calls 3 all 0 request 2 person"},
		{rule: "priority", steps: "after 3 other 0 tools"},
		{rule: "priority", steps: "all 0 request 8 'through' 2 tools"},
		{rule: "priority", steps: "calls 2 all 0 'cases'"},
	}
}
