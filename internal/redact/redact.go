package redact

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Mark stands in place of a secret.
const Mark = "***"

// Name reports whether a name, of a variable, a flag, a header or a parameter, suggests that its value is a secret.
func Name(name string) bool {
	upper := strings.ToUpper(name)
	for _, part := range []string{
		"KEY", "TOKEN", "SECRET", "PASS", "AUTH", "CREDENTIAL", "COOKIE", "WEBHOOK", "SIGNATURE",
	} {
		if strings.Contains(upper, part) {
			return true
		}
	}
	for word := range strings.FieldsFuncSeq(upper, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') }) {
		switch word {
		case "PAT", "PW", "PWD", "JWT", "DSN", "SAS", "SID", "OTP", "PIN", "BEARER":
			return true
		}
	}
	return false
}

// patterns are the forms in which secrets are written. Group 1 and 2 stay, what is between them is hidden.
var patterns = sync.OnceValue(func() []*regexp.Regexp {
	value := `[^\s&"'#,;<>{}\[\]()*$|]{3,}[^\s&"'#,;<>{}\[\]()*$|:.]`
	names := `[A-Za-z0-9_.-]*(?:api[_-]?key|[_-]key|token|secret|passw(?:or)?d|passwd|credential|access[_-]?key|webhook|` +
		`[_-]pat|[_-]pwd|signature|bearer)[A-Za-z0-9_-]*`
	var out []*regexp.Regexp
	for _, p := range []string{
		// Addresses with a password, and with secrets among their parameters.
		`([a-zA-Z][a-zA-Z0-9+.-]*://[^\s:/@"']*:)[^\s/@"'*$]+(@)`,
		`(?i)([?&;](?:` + names + `|key|auth|sig|code|pass|pwd|pat)=)` + value + `()`,
		// NAME=value, --name value, "name": "value", Name: value.
		`(?i)(\b` + names + `["']?\s*[=:]\s*["']?)` + value + `()`,
		`(?i)(--?` + names + `\s+)` + value + `()`,
		`(?i)(\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{8,}()`,
	} {
		out = append(out, regexp.MustCompile(p))
	}
	return append(out, tokens()...)
})

// tokens are the forms that show a secret without a name beside it. The groups are as in patterns.
var tokens = sync.OnceValue(func() []*regexp.Regexp {
	var out []*regexp.Regexp
	for _, p := range []string{
		// The tokens of well-known services, and keys.
		`()\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|sk-[A-Za-z0-9_-]{16,}|` +
			`xox[abeoprs]-[A-Za-z0-9-]{10,}|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{20,}|` +
			`npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}|hf_[A-Za-z0-9]{30,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|` +
			`[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9]{16,}|dop_v1_[a-f0-9]{40,}|shp(?:at|ss|ca)_[a-fA-F0-9]{30,}|` +
			`lin_api_[A-Za-z0-9]{30,}|ntn_[A-Za-z0-9]{30,}|secret_[A-Za-z0-9]{40,}|figd_[A-Za-z0-9_-]{30,}|` +
			`sbp_[a-f0-9]{40,}|tdx_[A-Za-z0-9_-]{16,}|` +
			`eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*)()`,
		`(hooks\.slack\.com/services/|discord(?:app)?\.com/api/webhooks/|webhook\.office\.com/)[A-Za-z0-9/_@-]{8,}()`,
		`(-----BEGIN [A-Z ]*PRIVATE KEY-----)[^-]+(-----END|$)`,
	} {
		out = append(out, regexp.MustCompile(p))
	}
	return out
})

// tokenParts are parts of which every token has one, so that most texts need no closer look. The list is read-only.
var tokenParts = []string{
	"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "sk-", "xox", "AKIA", "ASIA", "AIza", "ya29.",
	"npm_", "pypi-", "hf_", "SG.", "sk_live_", "rk_live_", "sk_test_",
	"rk_test_", "whsec_", "dop_v1_", "shpat_", "shpss_", "shpca_", "lin_api_",
	"ntn_", "secret_", "figd_", "sbp_", "tdx_", "eyJ", "hooks.slack.com/", "discord.com/api/webhooks/", "discordapp.com/api/webhooks/", "webhook.office.com/",
	"PRIVATE KEY-----",
}

// hasAtWord reports whether a text has the part at the beginning of a word.
func hasAtWord(s, part string) bool {
	for from := 0; ; {
		i := strings.Index(s[from:], part)
		if i < 0 {
			return false
		}
		if i += from; i == 0 {
			return true
		}
		if c := s[i-1]; (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' {
			return true
		}
		from = i + 1
	}
}

// HasToken reports whether a text has the form of a known service's token, a webhook's address or a private key.
func HasToken(s string) bool { return Tokens(s) != s }

// Tokens returns a text with these hidden, and nothing else.
func Tokens(s string) string {
	if !slices.ContainsFunc(tokenParts, func(part string) bool { return hasAtWord(s, part) }) {
		return s
	}
	for _, p := range tokens() {
		s = p.ReplaceAllString(s, "${1}"+Mark+"${2}")
	}
	return s
}

// Text returns a text with the secrets hidden whose form or name shows them.
func Text(s string) string {
	if len(s) < 8 {
		return s
	}
	for _, p := range patterns() {
		s = p.ReplaceAllString(s, "${1}"+Mark+"${2}")
	}
	return s
}

// Args returns a command's arguments with the secrets hidden, also where a flag and its value are two arguments. What
// holds a variable, ${NAME}, is no secret.
func Args(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		if i > 0 && flagOfSecret(args[i-1]) && !strings.HasPrefix(a, "-") && !isVariable(a) {
			out[i] = Mark
			continue
		}
		out[i] = Text(a)
	}
	return out
}

// flagOfSecret reports whether an argument is a flag whose value follows it and is a secret.
func flagOfSecret(arg string) bool {
	return strings.HasPrefix(arg, "-") && !strings.Contains(arg, "=") && Name(arg)
}

// isVariable reports whether a value comes from the environment.
func isVariable(s string) bool { return strings.HasPrefix(s, "${") && strings.HasSuffix(s, "}") }

// URL returns an address without its password and the secrets among its parameters.
func URL(s string) string { return Text(s) }

// least is the length in bytes of the shortest value that Values returns: shorter ones would garble every text.
const least = 6

// Values returns the secrets that stand in a server's arguments, URL, environment and headers: each value with the name
// of a secret, and what [Text] would hide in the others. All header values count, since few are anything else.
func Values(args []string, address string, env, headers map[string]string) []string {
	var out []string
	add := func(v string) {
		if len(v) >= least && !isVariable(v) {
			out = append(out, v)
		}
	}
	hidden := func(text string) {
		for _, v := range secretsIn(text) {
			add(v)
		}
	}
	for i, a := range args {
		if i > 0 && flagOfSecret(args[i-1]) && !strings.HasPrefix(a, "-") {
			add(a)
		}
		hidden(a)
		if name, v, ok := strings.Cut(a, "="); ok && Name(name) && !strings.ContainsAny(name, " :/") {
			add(v)
		}
	}
	hidden(address)
	if u, err := url.Parse(address); err == nil {
		if pw, ok := u.User.Password(); ok {
			add(pw)
		}
		for name, values := range u.Query() {
			if Name(name) {
				for _, v := range values {
					add(v)
				}
			}
		}
	}
	for name, v := range env {
		if Name(name) {
			add(v)
		}
		hidden(v)
	}
	for _, v := range headers {
		add(v)
		hidden(v)
	}
	return out
}

// secretsIn returns what Text hides in a text.
func secretsIn(s string) []string {
	var out []string
	for _, p := range patterns() {
		for _, m := range p.FindAllStringSubmatchIndex(s, -1) {
			out = append(out, s[max(m[3], m[0]):m[4]])
		}
	}
	return out
}

// Places names where a configuration holds secrets as they are, rather than as variables: "args[1]", "url",
// "env.GITHUB_PAT", "headers.Authorization"; sorted.
func Places(args []string, address string, env, headers map[string]string) []string {
	var out []string
	for i, a := range Args(args) {
		if a != args[i] {
			out = append(out, fmt.Sprintf("args[%d]", i))
		}
	}
	if URL(address) != address {
		out = append(out, "url")
	}
	for field, values := range map[string]map[string]string{"env": env, "headers": headers} {
		for name, v := range values {
			if Text(v) != v || Name(name) && len(v) >= least && !strings.Contains(v, "${") {
				out = append(out, field+"."+name)
			}
		}
	}
	slices.Sort(out)
	return out
}
