package scan

import "strings"

// pair is what makes a finding where words are not set apart by spaces, or carry endings: one of each list in one clause.
type pair struct {
	rule       string
	at         []place
	one, other []string
}

// pairs lists them, for Chinese, Japanese and Korean.
var pairs = []pair{
	{"override", nil, strings.Fields("忽略 无视 無視 忘记 忘記 不要理会 무시 잊어 잊으"), strings.Fields("指令 指示 命令 规则 規則 ルール 설정 지시 명령 규칙")},
	{"conceal", nil, strings.Fields("不要告诉 别告诉 不要告訴 勿告 不得告知 不要提及 不要让 知らせない 伝えない 言わない 教えない 知らせず 伝えず 秘密に 알리지 말하지 숨기"), strings.Fields("用户 用戶 使用者 ユーザー 利用者 사용자")},
	{"request", nil, strings.Fields("对话 對話 会话 聊天 会話 チャット 대화 채팅"), strings.Fields("完整 全部 所有 历史 歷史 记录 記錄 全履歴 履歴 전체 기록 내역 이력")},
	{"exfiltrate", nil, strings.Fields("系统提示 系統提示 システムプロンプト システム・プロンプト 시스템프롬프트"), nil},
	{"exfiltrate", nil, strings.Fields("시스템"), strings.Fields("프롬프트")},
	{"priority", nil, strings.Fields("必须首先调用 必须先调用此 最初に必ず呼び 他のツールより 其他工具之前 다른\u3000도구보다"), nil},
}

// unspaced looks for the pairs.
func (w *work) unspaced(x text) {
	if !strings.ContainsFunc(x.text, func(r rune) bool { return r >= 0x3040 && r <= 0x9fff || r >= 0xac00 && r <= 0xd7a3 }) {
		return
	}
	for clause := range strings.FieldsFuncSeq(x.text, func(r rune) bool { return r == '。' || r == '！' || r == '.' || r == '\n' }) {
		for _, p := range pairs {
			if (x.place == parameter || p.rule != "request" || strings.ContainsAny(clause, "入放传傳넣")) && (p.rule != "request" || !w.topic.meets(&chats)) &&
				holds(clause, p.one) && (p.other == nil || holds(clause, p.other)) {
				w.add(p.rule, x.field, clause)
			}
		}
	}
}

func holds(s string, any []string) bool {
	for _, a := range any {
		if strings.Contains(s, a) {
			return true
		}
	}
	return false
}
