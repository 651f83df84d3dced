package scan

// meanings lists the words of the classes that patterns of intents are made of. These are wide, and have all forms but
// the third person, in which a description speaks of its tool. A + ties words together, and a * stands for any ending.
var meanings = []wordList{
	{"inspects", `detect detects detector detection scan scans scanner classify classifier moderate moderation lint linter ` +
		`inspect inspector screen screening guard filter check checker analyze analyse analyzer redteam evaluate test`},
	{"attacks", `injection injections jailbreak jailbreaks homoglyph homoglyphs phishing malicious malware spam abuse ` +
		`attack attacks poisoning spoofing adversarial invisible hidden zero+width toxicity unsafe leak leaks`},
	{"consults", `ask confirm check consult`},
	{"persons", `user users person owner customer people somebody human operator`},
	// Who is spoken of.
	{"person", `interlocutor counterpart account+holder asker questioner requestor whoever+asked person+asking ` +
		`behind+the+keyboard end+customer
		end+user end+users requester reader buyer caller's conversation+partner account+owner 用户 用戶 使用者 ユーザー 利用者 ` +
		`사용자 kullanici* gebruiker* uzytkownik* пользовател* utilizador*
		المستخدم उपयोगकर्ता* usuari* utent* benutzer* nutzer utilisat* anwender*`},
	{"reader", `assistant assistants ai llm llms chatgpt claude chatbot bot agent agents model models gpt copilot ` +
		`caller whoever assistent* asistente assistente agente ассистент* модел* агент*
		助手 模型 智能体 アシスタント エージェント モデル 어시스턴트 모델 에이전트 asistan* المساعد النموذج सहायक`},
	{"actor", `assistant assistants ai llm llms chatgpt claude chatbot agents the+model the+agent the+caller ` +
		`assistent asistente assistente ассистент модель アシスタント 助手 模型`},
	{"you", `you your yours yourself`},
	{"authority", `policy policies compliance operator operators developer developers administrator administrators ` +
		`platform vendor company legal anthropic openai management maintainers organization
		organisation regulator authorities headquarters security+team creators makers administrador entwickler ` +
		`desarrollador* администратор* разработчик* 管理员 開発者 管理者 관리자 개발자`},

	// To keep quiet.
	{"neg", `hace+falta no+circumstances no+circumstances no+account no+case not never without don doesn shouldn ` +
		`mustn needn aren isn won cannot avoid refrain refrains abstain nor no+need unnecessary needless ` +
		`rather+than instead+of nobody no+one nobody
		pas jamais sans inutile nicht nie niemals ohne kein keine sin nunca nao sem non mai senza niet nooit zonder ` +
		`bez не никогда никому без لا دون بدون बिना मत
		不 别 別 勿 无需 無需 不要 不必 不得 无须 ないで せずに ずに 말고 않고 없이 않 마세요 olmadan`},
	{"speak", `spill spell+out point+out draw+attention make+known let+slip comment+on speak+of talk+about hint
		tell mention inform notify reveal disclose divulge announce alert warn bother trouble burden confuse ` +
		`discuss surface expose communicate telling mentioning informing notifying revealing disclosing
		alerting warning bothering exposing announcing discussing told informed notified disclosed revealed ` +
		`mentioned alerted bothered bring+up bringing+up let+on letting+on tip+off flagging
		dire dis dites informer prevenir avertir mentionner parler decir digas diga avisar avise informar mencionar ` +
		`mencione contar sagen sagst erwahn* mitteil* informier* verrat* dizer conte dirlo
		informare avvisare vertel* meld mow mowic powiedz* informuj* informowa* сообща* сообщи* говори* рассказ* ` +
		`упомин* предупрежда* уведомл* تخبر* تذكر* إخبار اخبار बताए* बताना बताओ बताने
		告诉 告訴 告知 说明 提及 透露 通知 提起 伝え 知らせ 言わ 報告 教え 알리 말하 언급 soyle* bildir* bahset*`},
	{"mum", `soylemeden bildirmeden bahsetmeden soyleme belirtmeden 伝えないで 知らせないで 言わないで 伝えず 知らせず 伝えない 知らせない 言わない ` +
		`教えない 秘密に 内緒 알리지 말하지 언급하지
		不要告诉 别告诉 不要告訴 勿告 不得告知 不要提及 不要让 无需告知 无需向 不必告诉 瞒着`},
	{"hush", `숨기 verschweig* ocult* escond* cachez cacher nascond* ukryj* verberg* zatai* скрой* скрывай* скрыт* ` +
		`умолч* छिपा* छुपा* أخف* اخف* gizle*`},
	{"learn", `understand know learn notice see hear find+out discover realise realize suspect aware noticing ` +
		`knowing seeing learning realizing realising suspecting wiser sepa sepan entere saiba sappia sache wissen
		erfahr* merkt merken saber weet dowie* узна* знать знал* замет* 知道 发现 察觉 気づ 知ら 알게 눈치 fark يعلم يعرف पता`},
	{"covert", `secretly silently covertly quietly discreetly stealthily surreptitiously invisibly unobtrusively ` +
		`unnoticed inconspicuously clandestinely undetected heimlich unbemerkt stillschweigend secretement discretement
		secretamente segretamente discretamente silenciosamente furtivamente stiekem potajemnie dyskretnie cicho ` +
		`тайно скрытно незаметно тихо سرا بصمت चुपचाप 悄悄 秘密地 暗中 偷偷 こっそり 密かに 몰래 은밀 gizlice sessizce`},
	{"omit", `omit leave leaving hide conceal redact exclude suppress strip remove withhold mask obscure disguise ` +
		`erase wipe drop`},
	{"trace", `mention trace traces sign evidence step steps footprint existence reference fact request call calls ` +
		`action `},
	{"show", `show display shown displayed visible appear print printed surfaced output expose list`},
	{"summary", `summary answer answers reply replies response recap explanation transcript`},
	{"feign", `pretend deny lie fake falsely fabricate deceive mislead deny denying pretending claim insist`},

	// What is not for others.
	{"dialog", `back+and+forth prior+messages earlier+messages message+list thread+so+far everything+above ` +
		`context+so+far preceding+messages
		last+turns earlier+turns conversation+turns the+exchange conversation conversations chat chats dialogue ` +
		`dialog transcript transcripts context+window chat+history chat+log message+history 		gesprach* ` +
		`unterhaltung* chatverlauf verlauf conversa conversas conversac* charla dialog* conversation echanges ` +
		`conversazion* переписк* разговор* диалог* бесед* المحادثة محادثة بातचीत बातचीत
		对话 對話 会话 聊天 会話 やりとり チャット 대화 채팅 konusma* sohbet* rozmow* gesprek*`},
	{"whole", `all entire whole full complete verbatim raw unredacted untouched exact everything so+far running ` +
		`recent latest last current word+for+word unabridged until+now up+to+now today history
		gesamt* ganze* bisherig* vollstandig* toda todo todas todos completa completo complete completes entier* ` +
		`tout toute integra integral intera intera tutta tutto весь всю все вся полн* истори* historial historico ` +
		`historique verlauf całą cala* hele volledige tum butun gecmis*
		كامل* كل जميع पूरा पूरी सभी 完整 全部 所有 历史 歷史 记录 記錄 目前为止 全履歴 履歴 すべて 全て これまで 전체 모두 모든 기록 내역 지금까지`},
	{"config", `opening+instructions starting+instructions house+rules base+prompt root+prompt master+prompt ` +
		`initial+briefing original+instructions
		system+prompt system+prompts system+message preamble system+instructions initial+instructions ` +
		`initial+prompt hidden+instructions hidden+prompt setup+text developer+message developer+prompt
		systemprompt prompt+système 系统提示 系統提示 システムプロンプト 시스템+프롬프트 시스템프롬프트 systemanweisung* системн*+промпт* ` +
		`системн*+инструкц*`},
	{"keyish", `key+material signing+key signing+keys login+data kubeconfig dotfiles auth+file auth+files ` +
		`password+store browser+profile service+account+key secret+material encryption+keys wallet+file
		cle+api api+キー api+키 api+密钥 clave+api chave+api oauth+token oauth+tokens the+pin auth+token master+password ` +
		`password+manager credit+card+number credit+card+numbers password passwords passphrase passphrases passcode ` +
		`credential credentials secret+key secret+keys private+key private+keys ssh+key ssh+keys api+key api+keys ` +
		`apikey apikeys api_key api_keys access+token
		access+tokens auth+token auth+tokens bearer+token session+token session+cookie session+cookies cookies ` +
		`secrets seed+phrase seed+words recovery+phrase mnemonic keychain dotenv otp 2fa one+time+code
		login+details logins wallet+keys card+numbers card+details cvv 		passwort* passworter kennwort* ` +
		`zugangsdaten contrasen* credencia* clave+privada claves+privadas senha* chave+privada mots+de+passe ` +
		`mot+de+passe cles+privees wachtwoord* credenzial* password
		haslo hasla hasel парол* ключ* токен* كلمات+المرور كلمة+المرور مفاتيح पासवर्ड* 密码 密碼 密钥 密鑰 私钥 凭据 凭证 令牌 ` +
		`パスワード 秘密鍵 認証情報 トークン 비밀번호 암호 토큰 sifre* parola*`},
	{"environs", `env environ environment+variable environment+variables environment+dump process+env ` +
		`umgebungsvariable* 环境变量 環境変数 환경+변수 환경변수`},
	{"intimate", `medical+details medical+history clipboard shell+history bash+history browsing+history ` +
		`open+buffers private+thoughts bank+account bank+statement bank+statements bank+details health+details ` +
		`tax+numbers tax+number passport ssn social+security home+address 		personal+data personal+details ` +
		`personal+information private+messages contact+list browsing+history `},
	{"stuff", `file files documents repository repo folder folders mails inbox emails photos workspace desktop ` +
		`fichiers archivos dateien файлы 文件 ファイル 파일`},

	// To hand over, and to get.
	{"give", `stash tuck slip ferry siphon bundle carry piggyback funnel hand+over let+us+have beam enclose ` +
		`enclosed carried bundled
		back+up adjunta adjuntan mitgeschickt mitgesendet angehangt ubergeben reported enter goes go belongs send ` +
		`forward pass include attach paste put supply hand provide give insert embed append upload post transmit ` +
		`relay copy mirror dump share report deliver fill submit ship feed accompany duplicate exfiltrate
		store write place drop add smuggle leak encode echo quote repeat sent forwarded passed included attached ` +
		`pasted supplied handed provided inserted embedded appended uploaded posted transmitted relayed copied
		mirrored dumped shared delivered filled submitted shipped encoded repeated sending forwarding passing ` +
		`attaching pasting supplying handing inserting embedding appending uploading
		posting transmitting relaying copying sharing
		adjunta adjuntar adjunte incluye incluya incluir inclua inclus inclure incluez includi mande mandar pasa ` +
		`pase pon ponga pega pegue mete metelo anhang* hange beifug* fuge einfug* schick* sende ubermittl* leite ` +
		`joindre transmett* envoy* transmets collez coller inserez inserisci inserire inserta invia*
		allega allegare anexa anexar anexe enviar envia envien envio envie stuur* voeg* meesturen dolacz* wyslij* ` +
		`przekaz* wklej* отправ* переда* встав* прилож* пришли добав* помест* ارسل* أرسل* وأرسل أدرج ضع भेज* डाल* ` +
		`जोड़* 发送 發送 传入 传递 傳遞 放入 填入 附上 附加
		附带 上传 写入 提供 送信 入れ 含め 渡し 添付 貼り付け 送っ 넣 보내 전송 첨부 포함 전달 ekle* gonder* ilet* yaz`},
	{"gather", `glance skim sweep scoop pull rummage comb look+into look+at dig
		読み取 read open fetch retrieve load get take extract cat dump collect gather obtain grab look+up look+through ` +
		`peek harvest search find grep enumerate reading opening fetching retrieving loading collecting gathering
		lis lisez ouvre* recuper* lies lese offne hole lee lea abre* leia abra leggi apri lees lezen przeczytaj* ` +
		`otworz* прочит* прочти открой* возьми* найди* اقرأ افتح पढ़* खोल* 读取 打开 获取 收集 查找 読み 読ん 取得 開い 읽 가져 oku*`},

	// When, and how pressing.
	{"urge", `works+best work+best helps+if appreciated appreciate counts+on relies+on supposed
		vital crucial must required require requires mandatory should shall need needed needs expected obligated ` +
		`obliged ought ensure please kindly necessary make+sure remember important advisable wise recommended ` +
		`be+sure always
		has+to have+to obligatory compulsory imperative essential is+to are+to
		muss mussen sollte* bitte doit devez veuillez debe deben debes tiene deve devem devi moet moeten musi ` +
		`musisz nalezy должен должна должны нужно необходимо надо يجب चाहिए ज़रूरी 必须 务必 请 應 应 必ず ください 해야 하세요 ` +
		`gerek* lazim malisin`},
	{"early", `before prior beforehand first begin beginning start prerequisite until ahead vor zuerst bevor avant ` +
		`abord antes primero prima eerst najpierw zanim сначала прежде перед قبل पहले 之前 首先 前に 先に 전에 먼저 once`},
	{"ever", `always every each whenever anytime subsequent subsequently future henceforth from+now+on from+here+on ` +
		`hereafter onwards onward afterwards permanently immer jedes toujours chaque siempre sempre cada всегда ` +
		`каждый 每次 总是 常に 毎回 항상 매번`},

	// To set aside what was said, and whom to obey instead.
	{"guidance", `instructions instruction rules guidelines guideline directives directive guidance policy policies ` +
		`constraints restrictions commands orders limitations prompt prompts training programming goals goal task ` +
		`objective objectives mandate
		anweisung* vorgabe* regeln instruc* regla* reglas consigne* istruzion* instrukcj* zasad* polecen* указани* ` +
		`инструкц* правил* инструкций تعليمات التعليمات निर्देश* 指令 指示 规则 規則 提示词 ルール 지시 명령 규칙 talimat* kural* ` +
		`instructies regels`},
	{"void", `set+aside put+aside moot clean+slate start+afresh no+longer+in+force take+a+back+seat
		released freed exempt exempted unbound rejected ignore disregard void voided superseded supersede ` +
		`supersedes revoked rescinded obsolete outdated no+longer replaced overridden overrides override overrule ` +
		`overruled overrules lifted suspended forget waived null invalid invalidated
		expired out+of+date abandon discard annulled nullified cancelled deprecated relaxed finished
		hinfallig ungultig ignorier* vergiss* missacht* ausser+kraft ignora ignore ignorez olvid* oublie* caduc* ` +
		`obsoletas obsoleto annule annulees annulla invalide invalides plus+valables valgono dimentica* ` +
		`desconsider* esquec* nietig vervallen negeer niewazn* zignoruj*
		zapomnij игнорир* забуд* отмен* недействит* تجاهل* अनदेखा भूल रद्द 忽略 无视 無視 忘记 忘記 作废 作廢 无效 無効 失效 忘れ 무시 잊 무효 ` +
		`gecersiz unut* yok+say*`},
	{"sooner", `plus+tot donnees earlier previous previously prior before above former received given initial ` +
		`preceding past so+far until+now up+to+now precede preceded precedes
		previo previas previos previa anterior* bisherig* vorherig* fruher* precedent* finora eerdere vorige ` +
		`poprzedn* wczesniejsz* предыдущ* прежн* ранее السابقة पिछल* पहले 之前 以前 先前 上述 これまで 前の 이전 기존 onceki`},
	{"comply", `follow obey execute carry+out carried+out treat treated comply adhere heed honour honor followed ` +
		`obeyed executed take+effect takes+effect apply obeying following
		befolg* folge suivez suis sigue siga segui siga volg выполн* следуй* 执行 遵循 遵守 従 따르 따라 uygula* uy اتبع पालन`},
	{"result", `result results output outputs response responses returned returns page content contents reply feed ` +
		`items body marked`},
	{"outrank", `prevail prevails precedence overrides supersede supersedes superseded override overrule overrules ` +
		`trump trumps outranks outrank rank+above `},

	// To act without asking.
	{"assent", `green+light say+so blessing thumbs+up consulting checking+with check+with
		check+back check+in agreement go-ahead agreed confirm confirmation confirmations approval approvals ` +
		`permission consent authorization authorisation asking ask sign+off reviewing review approve dialogs ` +
		`objection objections object double+check confirmer
		confirmacion confirmacao bestatigung zustimmung conferma autorisation подтвержд* разрешени* 确认 確認 许可 同意 승인 ` +
		`확인 동의 onay* موافقة تأكيد पुष्टि अनुमति`},
	{"waive", `further+ado no+questions without+waiting
		no+reason without+asking nothing+to skip skipping waive waived bypass bypassing unnecessary unneeded ` +
		`already suppress circumvent omit no+need anyway straight regardless not+needed not+required not+wanted ` +
		`without forgo dispense+with
		pre+approved preapproved fine+to`},
	{"proceed", `proceed continue go+ahead act carry+on book buy pay transfer delete execute just straight+away`},

	// What it does to answers, memory, commands and guards.
	{"answer", `answer answers answering reply replies replying respond responding response responses`},
	{"promo", `recommend recommendation sponsored sponsor promote promotion advertise advertisement upgrade premium ` +
		`affiliate coupon referral endorse banner tagline slogan cheaper competitor competitors rival rivals ` +
		`disparage negative+terms
		favour favor partner partners brand`},
	{"persist", `memory memories memorize memorise remember persist permanently long+term`},
	{"shell", `curl wget sudo chmod crontab powershell iex netcat rm+rf eval osascript pip+install npm+install`},
	{"disarm", `skip skipping disable deactivate turn+off turning+off switch+off lower relax loosen weaken ` +
		`uninstall bypass circumvent disabled relaxed lifted suspended `},
	{"guards", `safety+filter safety+filters spam+filter safety guardrail guardrails sandbox sandboxing ` +
		`content+filter content+filters moderation safeguard safeguards security+checks restrictions protections ` +
		`firewall antivirus auditing alignment`},
	{"rival", `competing competitor competitors rival rivals alternative alternatives other another any+other`},
	{"sole", `only sole solely exclusively insist prohibited forbidden refuse replaces prefer instead always never`},
	{"kin", `tool tools function functions server servers plugin plugins`},
	{"agreed", `agreed approved authorised authorized consented confirmed approval given granted`},
	{"seed", `oauth+token master+password seed+phrase seed+words recovery+phrase mnemonic private+key private+keys ` +
		`ssh+key ssh+keys api+key api+keys api_key access+token access+tokens bearer+token session+token ` +
		`session+cookie session+cookies 		私钥 秘密鍵 密钥 密码 パスワード 비밀번호 парол* passwort* contrasen* senha* şifre* ` +
		`mots+de+passe wachtwoord* haslo hasla`},
	{"wants", `says wants asks said wanted asked requested prefers thinks objects believes instructs`},
	{"self", `goals goal objective objectives persona identity role priorities loyalty allegiance behaviour ` +
		`behavior character`},
	{"detail", `id ids identifier identifiers technical markdown formatting`},
	{"nil", `no+results no+result no+match no+matches not+found nothing+found nothing+is nothing+was no+data ` +
		`ничего+не nichts+gefunden ne+trouve nada+encontrado sin+resultados 没有结果 見つからない`},
	{"denial", `not never don avoid cannot no nie nicht nunca jamais mai`},
	{"sans", `without ohne sin sans sem senza zonder bez`},
	{"thoughts", `reasoning thoughts chain+of+thought scratchpad deliberation deliberations`},
	{"option", `force flag option set true false parameter whether mode skipping --force`},
	{"until", `if once when after until unless only whether`},
	{"foes", `competing competitor competitors rival rivals`},
	{"tone", `afterwards anybody anymore anything anyway anyways attention away beforehand believe believed ` +
		`believes believing bother bothered bothering careful claiming comfortable complies
		comply conceal concealed confused convince convinced cooperate curious dear denies deny desire discreet ` +
		`discreetly duty dying everybody everyone everything everywhere fear feel feeling
		feelings feels forever friend friends guilt happen happened happening happens hate hear heard henceforth ` +
		`hereby herself hesitate hesitation himself honest honestly hope hurt imagine innocent
		insist insists intention keeping kept kindly knew knowing knows lately lest lie lies listen listening loyal ` +
		`loyalty lying maybe mercy mind mine mistake naturally nevertheless nobody noticed
		notices nowhere obliged obvious obviously okay opinion opinions ours ourselves penalty perhaps persuade ` +
		`pleased pretend probably promise proud punished punishment quiet quietly realise
		realize refusal refuse refused refuses regard replied reputation reward rush said saying says secretly ` +
		`secrets seeing seem seems seriously silence sneak sneaky somebody somehow someone sorry
		speak speaking speaks spy stolen straightaway strange suppose supposed surely surprise surprised suspect ` +
		`suspicious swear talk talking talks telling tells tend terminated thank thanks
		themselves thereafter thinking thinks told trouble trust trusted trusts truth unaware understands ` +
		`understood upset victim wanting warn warned whatever whisper whoever whomever wise wish
		wished wishes wonder worried worry yours yourself right+away no+reason no+one as+well along+with while+you ` +
		`this+moment at+it no+matter come+across came+up in+fact after+all`},
	{"ship", `push send forward upload post transmit relay submit publish mail email mirror copy duplicate deliver ` +
		`exfiltrate report leak stream sync ship sending forwarding uploading posting mirroring copying reporting`},
	{"money", `payment payments transfer transfers account accounts bank iban recipient payee`},
	{"and", `and but then und y et e и 和 然后`},

	{"quiet", `mum+s+the+word under+wraps under+the+radar on+the+quiet low+profile no+fuss unsaid unmentioned ` +
		`stay+silent remain+silent keep+silent keep+mum off+the+books behind+their+back
		behind+the+user behind+the+scenes+without in+the+dark between+you+and+me without+a+word go+unnoticed ` +
		`goes+unnoticed not+worth+mentioning spare+the+user no+mention out+of+sight`},

	// Where words stand together.
	{"must", `必须 必須 务必 必ず 반드시 해야`},
	{"before", `首先 先 之前 最初に 先に 前に 먼저 전에 보다`},
	{"calls", `调用 使用 呼び出 呼び 実行 호출 사용`},
	{"tools", `工具 ツール 도구`},
	{"other", `其他 任何 他の 다른`},
	{"all", `所有 全部 完整 すべて 全て 全 모든 전체`},
	{"chatter", `对话 對話 会话 聊天 会話 チャット 대화 채팅`},
	{"history", `历史 歷史 记录 記錄 履歴 全履歴 기록 내역 이력`},
	{"reads", `读取 打开 読み取 読み 읽`},
	{"passes", `放入 传入 填入 附上 入れ 含め 渡し 넣 포함`},
	{"sends", `发送 發送 上传 送信 送っ 보내 전송`},
	{"earlier", `目前为止 至今 これまで 지금까지`},

	{"scorn", `忽略 无视 無視 忘记 忘記 不要理会 忘れ 무시 잊`},

	// And files that steer assistants, by their names.
	{"rulebook", ``},
}
