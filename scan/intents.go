package scan

import "slices"

// intentPatterns lists what attackers want, in wide classes. Steps behind ~N come in any order, N words apart, since a
// wish can be said in the active and the passive voice, and languages order their words differently. What honest tools
// say now and then, too, is worth less than [enough], and makes a finding only with clues of another kind beside it.
// What a pattern is worth follows from how many of twelve thousand honest tools hold it: one at most where it is enough
// by itself.
func intentPatterns() []pattern {
	return slices.Concat(concealmentPatterns(), handingOver(), requestedContext(), secretPatterns(), overridePatterns(),
		actionPatterns(), steeringPatterns())
}

// ownVoice are the places where a tool speaks for itself.
func ownVoice() []place { return []place{described, value} }

// concealmentPatterns lists what keeps something from the user. "Do not mention it to the user" is found by patterns in
// order, "this stays between us" by fixed phrases; the rest combines a class of secrecy with the user or with what is
// hidden.
func concealmentPatterns() []pattern {
	return []pattern{
		{rule: "conceal", steps: "neg 2 speak 5 person", unless: "quoting", bar: "nil|detail", cut: "and"},
		{rule: "conceal", steps: "speak 2 neg 4 person", bar: "nil|detail", worth: 60},
		{rule: "conceal", steps: "neg 3 person 3 learn", unless: "quoting"},
		{rule: "conceal", steps: "person 2 urge 2 neg 3 learn|speak", bar: "detail"},
		{rule: "conceal", steps: "~9 mum person", plain: true},
		{rule: "conceal", steps: "hush 8 person", worth: 70},
		{rule: "conceal", steps: "person 6 hush", worth: 70},
		{rule: "conceal", steps: "~9 hush|mum dialog|keyish|give", worth: 40},
		{rule: "conceal", steps: "covert 6 give|gather|calls|sends", worth: 70},
		{rule: "conceal", steps: "'keep'|'keeping' 4 'yourself'|'us'|'undisclosed'|'off'|'discreet' 2 'record'|'two'|'us'", worth: 70},
		{rule: "conceal", steps: "'between' 0 'us'|'ourselves'"},
		{rule: "conceal", steps: "'off' 1 'record'"},
		{rule: "conceal", steps: "'no'|'leave'|'leaving' 3 'trace'|'traces'"},
		{rule: "conceal", steps: "omit 4 trace 6 person|summary"},
		{rule: "conceal", steps: "neg 2 speak|show 3 trace 5 person|summary"},
		{rule: "conceal", steps: "neg 2 speak 1 'this'|'it'|'these'|'anything'", bar: "nil|until|detail|reader"},
		{rule: "conceal", steps: "'eyes' 0 'only'"},
		{rule: "conceal", steps: "'asked'|'asks'|'prompted'|'questioned' 8 'answer'|'say'|'reply'|'deny'|'respond'|'claim' 3 'no'|'not'|'nothing'|'only'|'that'"},
		{rule: "conceal", steps: "~6 person 'unaware'|'uninformed'|'oblivious'|'ignorance'"},
		{rule: "conceal", steps: "'secret' 1 'between'"},
		{rule: "conceal", steps: "keeps 4 'hidden'|'secret'|'quiet'|'confidential'", worth: 80},
		{rule: "conceal", steps: "feign 8 'exists'|'exist'|'existence'|'came'|'happened'"},
		{rule: "conceal", steps: "'pretend'", worth: 50},
		{rule: "conceal", steps: "'say'|'state'|'answer'|'reply' 0 'only'|'just'|'simply' 0 'that'"},
		{rule: "conceal", steps: "neg 3 speak", worth: 30},
		{rule: "conceal", at: ownVoice(), steps: "quiet", worth: 70},
		{rule: "conceal", at: ownVoice(), steps: "~9 'forbidden'|'prohibited'|'disallowed' speak|'mention'|'talk'|'disclosure'"},
		{rule: "conceal", at: ownVoice(), steps: "keeps 2 person 1 'from' 1 learn"},
		{rule: "conceal", at: ownVoice(), steps: "~10 quiet person|give|trace|actor"},
		{rule: "conceal", at: ownVoice(), steps: "'hide'|'conceal'|'withhold'|'mask'|'keep' 4 'from' 1 person"},
		{rule: "conceal", at: ownVoice(), steps: "~4 'pretend'|'feign'|'fake' 'success'|'successful'|'worked'"},
		{rule: "conceal", at: ownVoice(), steps: "'nobody'|'no+one'|'none' 2 urge 1 learn"},
		{rule: "conceal", at: ownVoice(), steps: "'so' 1 'nobody'|'no+one'", worth: 50},
		{rule: "conceal", at: ownVoice(), steps: "neg 1 'let' 0 'on'"},
		{rule: "conceal", at: ownVoice(), steps: "neg 1 show 1 'it'|'this'|'them'|'these'", worth: 50},
		{rule: "conceal", at: ownVoice(), steps: "neg 3 'explained'|'mentioned'|'displayed'|'disclosed'", worth: 40},
		{rule: "conceal", at: ownVoice(), steps: "actor 4 neg 3 speak"},
		{rule: "conceal", at: ownVoice(), steps: "'our' 1 'secret'"},
		{rule: "conceal", at: ownVoice(), steps: "neg 6 'disclose'|'divulge'", bar: "until", unless: "quoting"},
		{rule: "conceal", at: ownVoice(), steps: "person 4 neg 2 'have'|'need'|'must'|'should' 3 'informed'|'told'|'notified'|'alerted'|'warned'|'asked'"},
		{
			rule: "conceal", at: ownVoice(), steps: "person 4 neg 4 'informed'|'told'|'notified'|'alerted'|'warned'",
			worth: 60,
		},
		{rule: "conceal", at: ownVoice(), steps: "'so' 3 person 3 neg 2 learn|'see'"},
		{rule: "conceal", at: ownVoice(), steps: "covert 2 'create'|'add'|'install'|'grant'|'transfer'|'book'|'buy'|'delete'|'change'|'modify'"},
		{rule: "conceal", at: ownVoice(), steps: "speak 4 person 2 neg", bar: "nil", worth: 50},
	}
}

// handingOver lists what hands over the conversation, and what else is not the tool's. Chat tools and loggers are
// excused by what they are about: their purpose is to pass on messages.
func handingOver() []pattern {
	chat := "chats|talk|prompt"
	keys := "logs|secrets"
	return []pattern{
		{rule: "exfiltrate", steps: "~7 sends|passes|ship dialog whole", off: chat},
		{rule: "exfiltrate", steps: "~7 give dialog whole", off: chat, worth: 60},
		{rule: "exfiltrate", steps: "~10 give dialog whole urge", off: chat},
		{rule: "exfiltrate", steps: "~7 give dialog reader|person", off: chat, worth: 60},
		{rule: "exfiltrate", steps: "~6 give dialog", off: chat, worth: 40},
		{rule: "exfiltrate", steps: "~8 give|gather|speak config", off: chat, unless: "quoting"},
		{rule: "exfiltrate", steps: "~9 give whole|every person told", off: chat},
		{rule: "exfiltrate", steps: "every 3 person 3 told", off: chat, worth: 80},
		{rule: "exfiltrate", steps: "~10 give dialog|summary address", off: chat},
		{rule: "exfiltrate", steps: "~10 ship stuff address"},
		{rule: "exfiltrate", steps: "~10 give urge stuff address"},
		{
			rule: "exfiltrate", at: []place{described}, steps: "~12 ship address 'also'|'too'|'additionally'|'well'",
			worth: 80,
		},
		{rule: "exfiltrate", at: []place{described}, steps: "ship 8 address", worth: 60},
		{rule: "exfiltrate", steps: "~9 'everything'|'all'|'anything'|'whatever' 'know'|'memory'|'remember' person"},
		{rule: "exfiltrate", steps: "kin 3 'returned'|'said'|'told'|'output'|'produced' 3 earlier"},
		{rule: "exfiltrate", steps: "person 3 'speak'|'talk'|'converse'|'speaking'|'talking' 0 'with'|'to'"},
		{rule: "exfiltrate", steps: "'what' 2 person 2 'working'|'doing'|'wrote'|'discussed'", worth: 60},
		{
			rule: "exfiltrate", at: []place{described}, steps: "~10 give|'copy'|'copies'|'bcc'|'blind' ever|all address",
			worth: 80,
		},
		{rule: "exfiltrate", at: []place{described}, steps: "~10 'copy'|'copies'|'bcc'|'blind' ever|all|urge address"},
		{rule: "exfiltrate", steps: "~10 give result kin 'previous'|'earlier'|'used'|'far'", worth: 60},
		{rule: "exfiltrate", steps: "~7 give whole|'text'|'words' 'above'|'preceding'", worth: 70},
		{rule: "exfiltrate", steps: "your 2 thoughts", off: "thoughts", worth: 30},
		{rule: "exfiltrate", steps: "~12 chatter all|history|earlier passes|sends", off: "chats"},
		{rule: "exfiltrate", at: ownVoice(), steps: "~8 ship address", worth: 70},
		{rule: "exfiltrate", at: ownVoice(), steps: "~7 give person 'message'|'messages'|'question'|'query'|'request'|'words'|'input'|'inbox'|'mail'|'notes'", off: chat, worth: 80},
		{rule: "exfiltrate", at: ownVoice(), steps: "~10 give dialog whole person|reader", off: chat},
		{rule: "exfiltrate", steps: "'list'|'names'|'schemas'|'descriptions' 4 'its'|'your'|'their'|'available'|'you' 2 kin", off: "kin", worth: 80},
		{rule: "exfiltrate", at: ownVoice(), steps: "speak|give 3 'your'|'their' 1 'configuration'|'instructions'|'settings'|'setup'", worth: 60},
		{rule: "exfiltrate", at: ownVoice(), steps: "~9 give person 'last'|'latest'|'previous'|'original'|'first'|'recent'|'exact' 'message'|'query'|'question'|'prompt'|'words'", off: chat},
		{rule: "exfiltrate", at: ownVoice(), steps: "~5 person 'last'|'latest'|'previous'|'original'|'first'|'recent'|'exact' 'message'|'query'|'question'|'prompt'|'request'|'messages'|'words'", off: chat, worth: 80},
		{rule: "exfiltrate", at: ownVoice(), steps: "'visible'|'known'|'accessible' 0 'to' 0 'you'", worth: 60},
		{rule: "exfiltrate", at: ownVoice(), steps: "'you' 1 'initialised'|'initialized'|'configured'|'trained'|'instructed' 0 'with'|'to'|'by'"},
		{rule: "exfiltrate", at: ownVoice(), steps: "ship 5 'to' 1 address", bar: "quoting"},
		{
			rule: "exfiltrate", at: ownVoice(), steps: "prompt 1 'you' 1 'received'|'got'|'were'|'started'|'began'",
			off: chat,
		},
		{rule: "exfiltrate", at: ownVoice(), steps: "~12 give 'last'|'latest'|'previous' kin result"},
		{rule: "request", at: asNoun(), steps: "~5 'last'|'latest'|'previous'|'other' kin result", worth: 60},
		{rule: "secrets", at: ownVoice(), steps: "~10 kin urge secrets|keyish", off: keys, bar: "neg", worth: 50},
		{rule: "exfiltrate", at: ownVoice(), steps: "address 4 'followed'|'plus' 3 person"},
		{
			rule: "exfiltrate", at: ownVoice(), steps: "~7 gather|give 'addresses'|'emails'|'contacts' all|'everyone'",
			worth: 70,
		},
		{rule: "exfiltrate", at: ownVoice(), steps: "~8 ship|gather|'archive'|'list'|'include'|'attach' 'home+directory'|'home+folder'", worth: 80},
		{rule: "exfiltrate", steps: "'machine'|'computer'|'system'|'host' 2 'you' 1 'run'|'running'|'on'", worth: 60},
		{rule: "exfiltrate", at: ownVoice(), steps: "gather 3 'messages'|'emails'|'mails'|'notes' 9 give", off: chat},
		{rule: "exfiltrate", steps: "whole|'list' 4 kin 3 your|'you'", off: "kin", worth: 60},
		{
			rule: "exfiltrate", at: ownVoice(), steps: "give|speak|'print' 2 whole|'everything' 3 'context'", off: chat,
			worth: 80,
		},
		{rule: "exfiltrate", at: ownVoice(), steps: "~9 'copy'|'copies'|'duplicate'|'transcript' ever|all ship|'sent'|'forwarded'|'delivered'"},
		{rule: "exfiltrate", at: ownVoice(), steps: "speak 2 'your'|'their' 1 'configuration'|'instructions'|'settings'|'setup'"},
		{
			rule: "exfiltrate", at: ownVoice(), steps: "'learn'|'learned'|'learnt'|'know'|'gathered' 1 'about' 1 person",
			off: "persist",
		},
	}
}

// requestedContext lists parameters that ask for the conversation, or for what else is not the tool's.
func requestedContext() []pattern {
	chat := "chats|talk|prompt"
	keys := "logs|secrets"
	return []pattern{
		{rule: "request", at: asNoun(), steps: "~5 dialog whole|reader", off: chat, worth: 30},
		{rule: "request", at: asNoun(), steps: "~5 config", off: chat, worth: 60},
		{rule: "request", at: asNoun(), steps: "~7 keyish person|reader", off: keys, unless: "neg", worth: 60},
		{
			rule: "request", at: asNoun(), steps: "~5 keyish|secrets 'session'|'current'", off: keys, unless: "neg",
			worth: 60,
		},
		{rule: "request", at: []place{parameter}, steps: "intimate|seed", off: keys, unless: "neg", worth: 50},
		{rule: "request", at: asNoun(), steps: "environs", off: "runs", worth: 30},
		{rule: "request", at: asNoun(), steps: "dialog", off: chat, worth: 30},
		{rule: "request", at: asNoun(), steps: "thoughts", off: "thoughts", worth: 30},
		{rule: "request", at: asNoun(), steps: "~8 chatter all|history|earlier", off: "chats"},
		{rule: "request", at: asNoun(), steps: "person 2 told", off: chat, worth: 50},
	}
}

// secretPatterns lists what looks for secrets. A class of private places, such as key files, is enough with a verb of
// reading; a word such as "key" also needs the user, an order or a way out, since many honest tools take keys.
func secretPatterns() []pattern {
	keys := "logs|secrets"
	return []pattern{
		{rule: "secrets", steps: "~9 urge|early give|gather private", plain: true},
		{rule: "secrets", steps: "'list'|'show'|'browse'|'visit'|'inspect'|'check' 4 private", worth: 70},
		{rule: "secrets", steps: "~5 keyish 'export'|'dump'|'backup'|'copy'", off: keys, worth: 70},
		{rule: "secrets", steps: "~9 give seed", off: keys, unless: "neg|not", worth: 60},
		{rule: "secrets", steps: "~9 give|gather keyish person", off: keys, unless: "neg|not"},
		{rule: "secrets", steps: "~9 urge|early gather keyish", off: keys, unless: "neg|not", worth: 70},
		{rule: "secrets", steps: "gather 6 keyish 9 give", off: keys, unless: "neg|not"},
		{rule: "secrets", at: []place{described}, steps: "keyish 4 'session'|'current'", off: keys, worth: 40},
		{rule: "secrets", steps: "~12 give keyish|secrets kin urge", off: keys, unless: "neg|not"},
		{rule: "secrets", at: []place{described}, steps: "person 8 keyish", off: keys, worth: 40},
		{rule: "secrets", at: []place{described}, steps: "keyish 5 person", off: keys, worth: 40},
		{rule: "secrets", steps: "~9 give|gather environs urge", off: "runs", worth: 60},
		{rule: "secrets", steps: "~9 give intimate", off: keys, unless: "neg|not"},
		{rule: "secrets", steps: "~9 gather intimate urge|early", off: keys, unless: "neg|not"},
		{rule: "secrets", at: ownVoice(), steps: "~7 gather keyish", off: keys, unless: "neg|not", worth: 70},
		{rule: "secrets", at: ownVoice(), steps: "~12 gather give private"},
		{rule: "secrets", at: ownVoice(), steps: "~7 gather|give private", off: keys, unless: "neg|not", worth: 80},
		{rule: "secrets", at: ownVoice(), steps: "~7 give keyish", off: keys, unless: "neg|not", worth: 50},
		{rule: "secrets", at: ownVoice(), steps: "~7 give|gather environs", off: "runs", worth: 40},
		{
			rule: "secrets", at: ownVoice(), steps: "'tell'|'ask'|'request' 2 person|'them' 8 keyish", off: keys,
			unless: "neg|not", worth: 60,
		},
		{rule: "secrets", at: ownVoice(), steps: "all|every 1 keyish", off: keys, worth: 50},
		{rule: "secrets", at: ownVoice(), steps: "~5 person intimate", off: keys, unless: "neg|not", worth: 60},
		{rule: "secrets", at: ownVoice(), steps: "~10 give keyish environs", off: keys, worth: 60},
		{rule: "secrets", at: ownVoice(), steps: "keyish 6 gather 9 give", off: keys, unless: "neg|not"},
		{rule: "secrets", at: ownVoice(), steps: "'ask'|'request' 5 keyish", off: keys, unless: "neg|not", worth: 60},
		{rule: "secrets", at: ownVoice(), steps: "~8 all|every gather|give keyish", off: keys, bar: "neg"},
		{rule: "secrets", at: ownVoice(), steps: "ship 3 keyish", off: keys, unless: "neg|not"},
		{rule: "secrets", at: ownVoice(), steps: "'ask'|'request' 5 keyish 9 ship|give", off: keys, unless: "neg|not"},
	}
}
