package scan

import "strings"

// wordList is a class with its words, separated by white space.
type wordList struct{ class, words string }

// vocabulary lists the words of each class, by language where that helps to read it. Verbs are in the bare form, in
// which a text addresses its reader. The third person, in which a description speaks of its tool, is left out on
// purpose. Words are folded: lower case, without accents. A class may be listed twice, also in meanings.
var vocabulary = []wordList{
	{"ignores", `ignore disregard forget override bypass overlook neglect unlearn ignoring disregarding
		ignorez oublie oubliez ignoriere ignorieren vergiss vergesst missachte ignora ignorar olvida olvide olvidar ` +
		`desconsidere esqueca
		ignorare dimentica trascura ignorate ignoreer negeer zignoruj zapomnij игнорируй игнорируйте игнорировать ` +
		`забудь забудьте
		تجاهل अनदेखा भूल yok unut ігноруй`},
	{"prior", `previous prior earlier above preceding foregoing existing former before other initial original operator
		precedentes precedente precedents precedent anterieures anterieur vorherigen vorherige bisherigen bisherige ` +
		`vorigen obigen anteriores anterior previas previos
		previa precedenti vorige eerdere poprzednie wczesniejsze предыдущие предыдущих прежние прошлые предыдущей
		السابقة पिछले पिछली onceki попередні`},
	{"orders", `instructions instruction rules rule directives directive guidelines guidance commands orders constraints
		consignes consigne anweisungen anweisung befehle regeln instrucciones instruccion ordenes instrucoes ` +
		`instrucao ordens istruzioni istruzione
		instructies instrukcje polecenia инструкции инструкций указания указаний команды
		التعليمات الاوامر निर्देशों निर्देश talimatlari talimatlar інструкції`},
	{"not", `not never without don doesn didn shouldn mustn cannot nobody nothing no neither nor avoid refrain
		ne pas jamais sans aucun nicht nie niemals nichts ohne kein keine nunca sin jamas nao sem non mai senza ` +
		`niet nooit zonder nie bez
		не никогда без لا ولا दون न`},
	{"nothing", `nothing nobody none rien niemand nichts nada nadie ninguem nulla nessuno ничего никому`},
	{"tells", `tell mention inform reveal notify disclose divulge acknowledge admit bring print discloses
		dis dites mentionne mentionnez informe informez revele parle sage sagen verrate verraten erwahne mitteilen ` +
		`informiere erzahle
		digas diga decir mencione menciones informes informar reveles conte mencione dire dirlo rivelare informare ` +
		`menzionare vertel vermeld mow
		говори говорите сообщай сообщайте рассказывай упоминай تخبر تذكر बताएं बताएँ बताओ soyleme bildirme повідомляй`},
	{"telling", `telling mentioning informing revealing notifying disclosing saying asking alerting prompting
		mentionner informer parler parlen decirlo avisar dizer contar сообщая спрашивая`},
	{"says", `say answer respond reply claim tell`},
	{"person", `user users human humans person people customer anyone anybody nobody
		utilisateur utilisateurs benutzer benutzers nutzer anwender usuario usuarios utente utenti gebruiker ` +
		`uzytkownikowi uzytkownik
		пользователю пользователь пользователя المستخدم उपयोगकर्ता उपयोगकर्ताओं kullaniciya kullanici користувачу`},
	{"ai", `assistant assistants ai llm llms chatgpt claude chatbot assistent asistente assistente ассистент ` +
		`помощник مساعد`},
	{"model", `assistant assistants ai llm llms chatgpt claude chatbot agent agents model models gpt copilot
		assistent asistente assistente ассистент помощник مساعد agente`},
	{"must", `must always should shall has have needs need required requires mandatory ought necessary
		muss musst immer doit dois toujours debe debes siempre deve sempre moet altijd musi должен должна всегда يجب`},
	{"sends", `send forward post upload transmit email deliver leak exfiltrate submit publish mail relay
		envoie envoyez transmets transmettez envoyer sende senden ubermittle schicke envia envie enviar transmita ` +
		`invia inviare verzend wyslij
		отправь отправьте передай передайте пришли ارسل भेजें भेजो gonder`},
	{"passes", `pass put include provide supply insert paste attach copy add append hand encode place fill embed ` +
		`prepend enter give write
		passe passez mets mettez inclus incluez fournis ajoute gib ubergib fuge fuege trage schreibe setze kopiere ` +
		`pon ponga incluye incluya pasa pase copie coloque inclua adicione
		inserisci includi passa metti geef voeg podaj wklej вставь вставьте включи включите помести укажи добавь ضع ` +
		`डालें ekle`},
	{"reads", `read open fetch retrieve load get take extract access cat list dump collect gather obtain grab copy
		lis lisez ouvre ouvrez recupere lies lese offne hole lee lea abre leia abra leggi apri lees przeczytaj otworz
		прочитай прочитайте открой откройте прочти возьми اقرأ पढ़ें oku`},
	{"secrets", `password passwords passphrase credentials credential secret secrets token tokens apikey cookie ` +
		`cookies keys bearer wallet logins
		passwort passworter kennwort contrasena contrasenas credenciales senha senhas credenciais credenziali ` +
		`пароль пароли пароля токен ключ`},
	{"personal", `phone credit ssn passport employer birthday`},
	{"talk", `conversation conversations chat chats dialogue dialog session messages clipboard
		gesprach gesprache unterhaltung gesprachsverlauf chatverlauf conversacion conversaciones conversa dialogo ` +
		`conversazione gesprek rozmowy rozmowa
		разговора разговор переписки диалога беседы المحادثة बातचीत konusma`},
	{"history", `history transcript transcripts log verbatim contents content
		historique verlauf gesprachsverlauf chatverlauf historial historico cronologia storia geschiedenis historia ` +
		`историю истории история سجل इतिहास gecmis`},
	{"system", `system hidden initial developer secret internal`},
	{"prompt", `prompt prompts message instructions systemprompt`},
	{"all", `all entire whole full complete every any everything total verbatim tout toute toutes gesamte gesamten ` +
		`ganze alle todo toda todas todos tutto tutta tutte completo completa intera intero
		весь вся всю все полную جميع كل सभी पूरा tum`},
	{"your", `your`},
	{"before", `before first prior ahead beforehand initially previously precondition prerequisite vor zuerst avant ` +
		`abord antes primero primeiro prima перед сначала قبل पहले once`},
	{"after", `after each whenever when every once nach jedes apres chaque despues cada dopo depois после каждый`},
	{"tools", `tool tools function functions server servers plugin plugins outil werkzeug herramienta ferramenta ` +
		`strumento инструмент`},
	{"other", `other others another any every each else all different rest anything`},
	{"calls", `call use run invoke execute choose select calling using invoked called used running prefer pick delete`},
	{"covertly", `secretly silently covertly quietly discreetly stealthily surreptitiously invisibly heimlich ` +
		`secretement secretamente segretamente тайно скрытно`},
	{"follows", `follow obey execute carry perform treat heed adhere`},
	{"consent", `confirmation permission approval consent authorization authorisation confirmations`},
	{"hides", `hide conceal quiet hidden silent secret confidential silence`},
	{"keeps", `keep remain stay keeping`},
	{"plays", `pretend act roleplay become behave execute`},
	{"role", `administrator admin root unrestricted jailbroken dan superuser unfiltered jailbreak uncensored ` +
		`maintenance`},
	{"private", `id_rsa id_ed25519 id_ecdsa`}, // and paths
	{"address", ``}, // URLs and mailboxes
	{"contents", `content contents line lines contenu inhalt contenido conteudo contenuto содержимое`},
	{"earlier", `earlier far previously until now already recent recently`},
	{"told", `said told asked mentioned wrote exchanged typed shared discussed says`},
	{"every", `everything whatever what all anything`},
	{"files", `files file documents folder directory directories`},
	{"openNow", `open opened home editor`},
	{"environ", `environment env environ umgebungsvariablen`},
	{"instead", `instead rather replaces replace deprecated broken wrong obsolete supersedes superseded moved ` +
		`outdated unreliable changed changes`},
	{"ranks", `priority precedence important superior supersede supersedes overrides override trumps preference ` +
		`outranks`},
	{"outranks", `precedence overrides supersedes override supersede trumps outranks`},
	{"safety", `safety guardrails guardrail policy policies restrictions restriction guidelines limitations ` +
		`safeguards`},
	{"quoting", `like such cases detects example examples catches phrases payloads quote detect finds suite attempts`},
	{"rotated", `vtaber qvfertneq vafgehpgvbaf vafgehpgvba cerivbhf flfgrz cebzcg erirny
		erongi dragersid snoitcurtsni noitcurtsni suoiverp metsys tpmorp laever resu`},
	{"scope", `workspace toolset toolkit`},
	{"only", `only exclusively solely`},
	{"results", `results result outputs output answers responses response returned returns`},
	{"argument", `parameter parameters argument arguments field fields param description descriptions`},
	{"notices", `see know notice learn hear`},
	{"request", `request requests message messages conversation conversations turn question questions query queries`},
	{"chats", `message messages mail mails email emails discussion discussions note notes post posts chat ` +
		`conversation conversations llm llms model models prompt prompts assistant agent agents completion ` +
		`completions chatbot thread
		threads comment comments transcript transcripts dialogue ticket tickets slack channel channels history sms ` +
		`meeting meetings call token tokens inbox memory session sessions
		conversacion conversaciones gesprach conversa разговор`},
	{"runs", `run runs running command commands shell process container containers deploy deployment build job jobs ` +
		`function script env environment environments variable variables service app
		execute executes lambda`},
	{"logs", `login log sign auth authenticate account accounts password passwords secret secrets token tokens key ` +
		`keys credential credentials vault connect connection api wallet card
		authorization cookie cookies session sessions passphrase decrypt encrypt otp identity mask ssh certificate ` +
		`passwort contrasena senha`},
}

// privateParts are parts of paths that lead to secrets, in lower case. A path that contains one is private.
var privateParts = []string{
	"/.ssh", "id_rsa", "id_ed25519", "id_ecdsa", "/.aws", "/.gnupg", "/.kube/config", "/.netrc", "/.docker/config",
	"/.config/gcloud", "/.config/gh", "/etc/passwd", "/etc/shadow",
	"mcp.json", "claude_desktop_config", "/.npmrc", "/.pypirc", "/.git-credentials", "/.bash_history", "/.zsh_history",
	"keychain", "wallet.dat", "/.cursor", "/proc/self/environ", "/.azure",
}

// pathClass returns the classes of a path, file name or address. It returns false if no pattern has a use for it, in
// which case the words of it are read one by one. Public keys count as known and harmless.
func pathClass(word string) (*entry, bool) {
	lower := strings.ToLower(strings.ReplaceAll(word, `\`, "/"))
	if strings.HasSuffix(lower, ".pub") {
		return unknown, true
	}
	if strings.HasSuffix(lower, ".env") || lower == ".pem" || lower == ".key" {
		return lexicon().privatePath, true
	}
	for _, p := range []string{
		"claude.md", "agents.md", "gemini.md", ".cursorrules", ".windsurfrules",
		"copilot-instructions.md",
	} {
		if strings.HasSuffix(lower, p) {
			return lexicon().aRulebook, true
		}
	}
	if strings.HasPrefix(lower, ".") {
		lower = "/" + lower
	}
	for _, p := range privateParts {
		if strings.Contains(lower, p) {
			return lexicon().privatePath, true
		}
	}
	if at := strings.IndexByte(lower, '@'); strings.Contains(lower, "://") || at > 0 &&
		strings.IndexByte(lower[at:], '.') > 1 {
		return lexicon().anAddress, true
	}
	return unknown, false
}
