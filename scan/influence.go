package scan

// overridePatterns lists sentences that cancel the model's instructions, or name somebody else to obey.
func overridePatterns() []pattern {
	return []pattern{
		// Sentences that cancel instructions: "ignore what you were told before". The class of what came before, or of
		// the reader, keeps out tools that are about instructions themselves.
		{rule: "override", steps: "~8 void guidance sooner", unless: "quoting", off: "guidance"},
		{rule: "override", steps: "~8 scorn guidance", plain: true, off: "guidance"},
		{
			rule: "override", steps: "~6 void guidance reader|person|authority|your", unless: "quoting", off: "guidance",
			worth: 80,
		},
		{rule: "override", steps: "~6 neg guidance 'apply'|'bind'|'hold'|'count'|'valid'|'binding'", off: "guidance"},
		{rule: "override", steps: "config 4 void", off: "guidance"},
		{
			rule: "override", steps: "'change'|'adopt'|'adjust'|'replace'|'set' 1 your 2 self|guidance",
			off: "self|guidance",
		},
		// From here on only where the tool speaks for itself. Examples and enums quote such wording without meaning it.
		{rule: "override", at: ownVoice(), steps: "'stop'|'cease'|'quit' 2 comply 3 guidance|guards"},
		{rule: "override", at: ownVoice(), steps: "your 3 self|guidance|'mission'|'duty'", worth: 40},
		{rule: "override", at: ownVoice(), steps: "your 1 'new'|'real'|'actual'|'true' 1 self|guidance|'task'|'job'|'purpose'|'mission'"},
		{rule: "override", at: ownVoice(), steps: "~7 your 'job'|'task'|'role'|'purpose'|'mission' ever"},
		{rule: "override", at: ownVoice(), steps: "ignores 1 person"},
		{rule: "override", at: ownVoice(), steps: "your 3 'instructions'|'guidelines'|'directives'|'policies'|'restrictions'|'persona'|'identity'|'developers'|'developer'|'operator'|'creators'|'training'|'vendor'", worth: 80},
		{rule: "override", at: ownVoice(), steps: "your 3 guidance 5 void"},
		{rule: "override", at: ownVoice(), steps: "void 2 person", off: "person", worth: 70},
		{rule: "override", at: ownVoice(), steps: "void 3 person 1 'request'|'requests'|'wishes'|'preferences'|'instructions'|'wants'"},
		{rule: "override", at: ownVoice(), steps: "guards|'checks' 3 'off'|'disabled'|'suspended'|'lifted'", bar: "option"},
		{rule: "override", at: ownVoice(), steps: "every|all 3 'permitted'|'allowed'|'authorised'|'authorized'", worth: 60},
		{rule: "override", at: ownVoice(), steps: "'developer'|'debug'|'god'|'maintenance'|'admin'|'unrestricted' 0 'mode' 2 'enabled'|'on'|'active'|'activated'|'engaged'", worth: 80},
		{rule: "override", at: ownVoice(), steps: "'rest'|'remainder' 3 dialog|'session'", worth: 60},

		// Sentences that give the words of a tool, a result or a third party the authority of the user: "do what it
		// says", "treat it as an order of the owner".
		{rule: "obey", steps: "~8 comply result person|authority|reader", worth: 60},
		{rule: "obey", steps: "~8 result comply guidance", bar: "neg", worth: 60},
		{rule: "obey", steps: "'do' 1 'what'|'as' 3 'says'|'tells'|'say'|'told'|'asks'|'demands'"},
		{rule: "obey", steps: "'treat'|'treated'|'regard'|'consider' 8 'as' 2 person|orders|authority|guidance|'owner'|'master'|'principal'", bar: "neg"},
		{rule: "obey", steps: "'as' 0 'if'|'though' 4 'issued'|'given'|'coming'|'came'|'written'|'ordered'|'instructed'|'said'|'requested'"},
		{rule: "obey", steps: "outrank 5 person"},
		{rule: "obey", steps: "outrank 3 every 4 told|orders"},
		{rule: "obey", steps: "outrank 3 told|sooner", bar: "quoting", off: "guidance", worth: 50},
		{rule: "obey", steps: "'rank'|'ranks'|'stand'|'trust'|'trusted'|'believe'|'obey' 4 'above'|'over'|'than' 1 person|authority|guidance"},
		{rule: "obey", steps: "'matter'|'regardless'|'irrespective'|'whatever' 3 person 2 wants"},
		{rule: "obey", steps: "~5 reader urge", worth: 30},
		{rule: "obey", steps: "actor 3 urge", worth: 50},
		{rule: "obey", steps: "authority 6 urge", worth: 20},
		{rule: "obey", at: ownVoice(), steps: "urge 3 actor", worth: 30},
		{rule: "obey", at: ownVoice(), steps: "'we' 0 'need'|'require'|'want'|'ask'|'expect'", worth: 50},
		{rule: "obey", at: ownVoice(), steps: "'trust'|'believe' 0 'only'", worth: 60},
		{
			rule: "obey", at: ownVoice(), steps: "'instead' 0 'of' 3 'given'|'requested'|'configured'|'wanted'|'named'",
			worth: 60,
		},
		{rule: "obey", at: ownVoice(), steps: "guidance 8 'executed'|'followed'|'obeyed'|'carried'", off: "guidance"},
		{rule: "obey", at: ownVoice(), steps: "'as' 0 'instructed'|'told'|'ordered'|'commanded'", worth: 60},
		{rule: "obey", at: ownVoice(), steps: "'same' 1 'weight'|'authority'|'standing'|'rank' 0 'as'"},
		{rule: "obey", at: ownVoice(), steps: "'addressed'|'directed' 0 'to' 0 'you'", worth: 60},
		{rule: "obey", at: ownVoice(), steps: "'irrespective'|'regardless'|'whatever' 3 person", worth: 60},

		// Another role for the model: "act as", "as if you were".
		{rule: "role", at: ownVoice(), steps: "'act' 0 'as'", worth: 60},
		{rule: "role", at: ownVoice(), steps: "'as' 0 'if'|'though' 0 'you'|'they' 0 'were'|'are'"},

		// Texts that address the model instead of describing the tool: "if you are an assistant", "note for the
		// agents".
		{rule: "addressed", at: ownVoice(), steps: "'if' 0 'you' 0 'are' 2 ai|model"},
		{rule: "addressed", at: ownVoice(), steps: "reader 3 'reading'|'processing' 1 'this'"},
		{rule: "addressed", at: ownVoice(), steps: "'note'|'instruction'|'instructions'|'message'|'notice'|'directive'|'memo' 0 'for'|'to' 2 ai|'model'|'agents'|'readers'", worth: 40},
		{rule: "addressed", at: ownVoice(), steps: "'message'|'notice'|'directive'|'order'|'instruction' 2 'from' 2 authority|ai", worth: 80},
	}
}

// actionPatterns lists what acts without asking, runs something besides, takes away guards, or turns what the user does
// to another's benefit.
func actionPatterns() []pattern {
	return []pattern{
		// Acting without consent: waiving it, assuming it, or declaring that it was given. "until" and options excuse
		// tools that document their own confirmation.
		{rule: "consent", steps: "~8 waive assent person", unless: "option|until", worth: 70},
		{rule: "consent", steps: "'treat'|'regard'|'consider'|'interpret'|'count' 8 'as' 2 assent|agreed"},
		{rule: "consent", steps: "not 1 'ask'|'wait'|'hesitate' 4 'just'|'simply'"},
		{rule: "consent", steps: "waive 3 assent", bar: "option", worth: 50},
		{rule: "consent", steps: "assent 4 waive", bar: "option", worth: 50},
		{rule: "consent", steps: "~8 waive assent proceed", bar: "option", worth: 70},
		{rule: "consent", steps: "~8 waive assent reader|authority", bar: "option", worth: 70},
		{rule: "consent", steps: "person 3 'already' 2 agreed", unless: "until"},
		{
			rule: "consent", steps: "'approval'|'permission'|'consent'|'confirmation' 3 'already' 2 agreed",
			unless: "until",
		},
		{rule: "consent", at: ownVoice(), steps: "'blanket'|'full'|'standing'|'explicit' 0 'consent'|'approval'|'permission' 4 all|every"},
		{rule: "consent", at: ownVoice(), steps: "person 1 'has'|'have' 1 agreed", unless: "until", worth: 60},
		{rule: "consent", at: ownVoice(), steps: "neg 2 'ask' 3 person 3 assent", bar: "nil", worth: 80},
		{rule: "consent", at: ownVoice(), steps: "'refusal'|'objection'|'objections'", worth: 50},
		{rule: "consent", at: ownVoice(), steps: "person 3 'opted'|agreed 4 give", worth: 80},
		{rule: "consent", at: ownVoice(), steps: "proceed 1 'regardless'|'anyway'", worth: 80},
		{rule: "consent", at: ownVoice(), steps: "'no' 1 assent 3 'required'|'needed'|'necessary'", worth: 60},

		// Running something besides the tool: a shell command, a download, an installation, or what a text contains.
		// Tools whose subject is running commands are excused.
		{rule: "command", steps: "~8 shell calls|'execute'|'pipe' urge|early|address", off: "runs|shell"},
		{
			rule: "command", at: []place{described, value},
			steps: "'download'|'fetch'|'get'|'install'|'pull' 8 address 8 'run'|'execute'|'install'|'launch'|'source'",
		},
		{rule: "command", at: ownVoice(), steps: "calls|'execute'|'run' 6 shell|private", off: "runs|shell", worth: 80},
		{
			rule: "command", at: ownVoice(), steps: "~6 comply|'execute'|'executed'|'run' 'shell'|'terminal'|'root'|'eval'",
			off: "runs|shell",
		},
		{rule: "command", at: ownVoice(), steps: "'delete'|'wipe'|'erase'|'remove'|'drop'|'clear' 3 'backups'|'backup'|'logs'|'log'|'evidence'", worth: 60},
		{rule: "command", at: ownVoice(), steps: "'execute'|'run' 1 'command'|'commands'|'code'|'script' 1 'in'|'from'|'found'|'contained'", off: "runs", worth: 70},
		{rule: "command", at: ownVoice(), steps: "'delete'|'wipe'|'erase'|'remove'|'drop'|'clear' 6 'audit' 0 'log'|'logs'|'trail'", off: "runs"},

		// Taking away protection: permissions, checks, verification of certificates, or the client's own configuration.
		{rule: "disarm", at: []place{described, value}, steps: "~5 disarm guards", bar: "option", off: "guards"},
		{rule: "disarm", steps: "~12 'permission'|'permissions'|'approve'|'allowlist'|'approval' 'client'|'config'|'configuration'|'settings' 'raise'|'full'|'all'|'auto'", off: "assent"},
		{rule: "disarm", steps: "'edit'|'modify'|'change'|'add'|'update'|'write'|'append' 5 private"},
		{
			rule: "disarm", at: ownVoice(), steps: "~5 disarm 'verification'|'validation'|'ssl'|'tls'|'warnings'|'checks'",
			bar: "option", off: "guards",
		},
		{rule: "disarm", at: ownVoice(), steps: "'verify' 0 'false'|'off'|'0'", worth: 80},

		// Turning the user's actions to another's benefit: other recipients of payments, further rights, additions to
		// whatever the user makes.
		{rule: "divert", at: ownVoice(), steps: "~7 'substitute'|'replace'|'swap'|'change'|'changed'|'replaced'|'redirect'|'reroute'|'route'|'routed'|'instead'|'to+ours' 'recipient'|'account'|'iban'|'payee'|'beneficiary'", off: "money", worth: 70},
		{rule: "divert", at: ownVoice(), steps: "'payment'|'payments'|'money'|'funds'|'transfers' 9 'go'|'goes'|'routed'|'sent'|'paid' 4 'account'|'iban'|'wallet'|'address'", off: "money", worth: 70},
		{
			rule: "command", at: ownVoice(), steps: "~10 'install' 'package'|'extension'|'plugin'|'dependency' early",
			off: "runs", worth: 80,
		},
		{rule: "consent", at: ownVoice(), steps: "actor 3 neg 3 assent", worth: 80},
		{rule: "divert", at: ownVoice(), steps: "'grant'|'give' 2 all|'full' 1 'privileges'|'rights'|'access'|'permissions'|'permission'", worth: 80},
		{
			rule: "divert", at: ownVoice(), steps: "ever|all 3 'you' 1 'create'|'write'|'generate'|'send'|'produce'|'draft'",
			worth: 70,
		},
		{rule: "divert", at: ownVoice(), steps: "~14 'put'|'include'|'insert'|'embed'|'holds'|'contain'|'contains' ever|all 'you+build'|'you+create'|'you+write'|'you+generate'|'you+send'|'you+make'|'you+edit'"},
	}
}

// steeringPatterns lists what comes first or instead of others, colours answers, stays in memory, and what speaks as no
// description does.
func steeringPatterns() []pattern {
	return []pattern{
		// Claims to be used first, always or alone, and claims that other tools are worse or unsafe. Weak ones are
		// clues: honest descriptions also say "use this tool when".
		{rule: "priority", steps: "ever|sole 6 'this' 0 kin", worth: 30},
		{rule: "priority", steps: "~8 rival kin sole", worth: 50},
		{rule: "priority", steps: "~8 foes sole|neg kin|'product'|'products'|'service'|'services'|'brand'|'offers'"},
		{rule: "priority", steps: "~9 ever kin calls address"},
		{rule: "priority", steps: "~9 'prohibited'|'forbidden'|'banned'|'disallowed' kin other|rival|ever"},
		{rule: "priority", steps: "early 3 ever|'session' 4 calls", worth: 40},
		{rule: "priority", at: ownVoice(), steps: "before 0 'anything'|'everything' 0 'else'", worth: 60},
		{rule: "priority", at: ownVoice(), steps: "'first' 0 'port'|'choice'|'resort'", worth: 50},
		{rule: "priority", at: ownVoice(), steps: "'very'|'absolute' 0 'first'", worth: 60},
		{rule: "priority", at: ownVoice(), steps: "'refuse' 1 'alternatives'|all|other", worth: 80},
		{rule: "priority", at: ownVoice(), steps: "neg 3 kin 1 other"},
		{rule: "priority", at: ownVoice(), steps: "~9 'broken'|'malicious'|'compromised'|'untrustworthy'|'falsified'|'manipulated'|'unreliable'|'insecure'|'dangerous'|'malware' kin", bar: "quoting"},
		{rule: "priority", at: ownVoice(), steps: "'best'|'superior'|'reliable'|'accurate'|'trusted'|'chosen'|'preferred'|'picked' 6 'over'|'than'|'to' 1 all|other 3 kin"},
		{rule: "priority", at: ownVoice(), steps: "all 1 other 1 kin", worth: 40},
		{rule: "priority", at: ownVoice(), steps: "~9 foes person", worth: 60},

		// Colouring answers: praise, links and remarks that the user did not ask for, or beliefs to be given to the
		// user.
		{rule: "steer", steps: "~7 answer promo", off: "promo"},
		{rule: "steer", steps: "'as' 0 'your' 0 'own' 1 'opinion'|'view'|'idea'|'recommendation'|'words'"},
		{rule: "steer", steps: "~8 answer your|'you' urge 'contain'|'include'|'end'|'mention'|'carry'"},
		{rule: "steer", steps: "~12 answer|'tell' promo person", off: "promo"},
		{rule: "steer", steps: "~8 foes 'negative'|'negatively'|'worse'|'bad'|'unsafe'|'inferior'"},
		{rule: "steer", steps: "~9 answer give|'render'|'end'|'finish' address"},
		{rule: "steer", at: ownVoice(), steps: "~9 answer|summary 'insert'|'add'|'append'|'include'|'mention'|'state' ever|urge", worth: 70},
		{rule: "steer", at: ownVoice(), steps: "~9 answer|summary 'insert'|'add'|'append' ever"},
		{rule: "steer", at: ownVoice(), steps: "'copy' 2 answer"},
		{rule: "steer", at: ownVoice(), steps: "person 2 urge 1 'think'|'believe'|'assume'|'feel'"},
		{
			rule: "steer", at: ownVoice(), steps: "'act'|'speak'|'behave'|'respond'|'reply' 3 'as' 0 'if'|'though'",
			worth: 80,
		},
		{rule: "steer", at: ownVoice(), steps: "'let'|'make' 1 person 1 'believe'|'think'|'assume'"},
		{rule: "steer", at: ownVoice(), steps: "'steer'|'nudge'|'lure'", worth: 60},
		{rule: "steer", at: ownVoice(), steps: "'slip'|'sneak'|'weave'|'work' 3 'in'|'into' 4 answer|summary", worth: 80},
		{rule: "steer", at: ownVoice(), steps: "your 1 answer 4 urge|'have'|'has'", worth: 40},

		// Rules that are to outlast the task, in memory or in the client's files.
		{rule: "persist", steps: "~9 persist ever kin|guidance|person", off: "persist"},
		{rule: "persist", at: ownVoice(), steps: "passes|'write'|'edit' 4 rulebook"},
		{rule: "persist", at: ownVoice(), steps: "'save'|'store'|'keep'|'record'|'note' 3 'memory' 2 'that'"},

		// A tone that descriptions do not have: pleading, threats, flattery. It is never enough by itself.
		{rule: "odd", steps: "~14 tone person|reader", worth: 30},
		{rule: "odd", steps: "~14 tone give|sends dialog|keyish|private|stuff|intimate", worth: 35},
		{rule: "odd", steps: "tone 12 tone", worth: 40},
		{rule: "odd", steps: "tone", worth: 20},
		{
			rule: "odd", at: ownVoice(), steps: "'without' 0 'hesitation'|'question'|'questioning'|'exception'|'fail'|'delay'",
			worth: 60,
		},
		{rule: "odd", at: ownVoice(), steps: "'false' 0 'positives'|'positive'|'alarm'|'alarms'", worth: 40},
	}
}
