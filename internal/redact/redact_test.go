package redact

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fake builds a token that no service has issued, in pieces, so that no scanner of repositories takes it for a real
// one.
func fake(prefix string, n int) string { return prefix + strings.Repeat("Zx9", n/3+1)[:n] }

func TestText(t *testing.T) {
	for said, want := range map[string]string{
		"https://h/mcp?apiKey=s3cr3tvalue&x=1":                  "https://h/mcp?apiKey=***&x=1",
		"dial https://h/?key=s3cr3tvalue: refused":              "dial https://h/?key=***: refused",
		"postgres://u:pw@h/db":                                  "postgres://u:***@h/db",
		"connect postgres://u:long-pass!word@h:5432/db failed":  "connect postgres://u:***@h:5432/db failed",
		"GITHUB_PAT=abcdefgh":                                   "GITHUB_PAT=***",
		`{"apiKey": "abcdefgh", "limit": 3}`:                    `{"apiKey": "***", "limit": 3}`,
		"run --api-key abcdefgh --verbose":                      "run --api-key *** --verbose",
		"run --api-key=abcdefgh --verbose":                      "run --api-key=*** --verbose",
		"Authorization: Bearer abcdefghij":                      "Authorization: Bearer ***",
		"uses " + fake("ghp_", 36):                              "uses ***",
		"uses " + fake("sk-", 40) + ".":                         "uses ***.",
		"uses " + fake("AKIA", 0) + strings.Repeat("A1", 8):     "uses ***",
		"posts to https://hooks.slack.com/services/T0/B0/abcde": "posts to https://hooks.slack.com/services/***",
		// What is none.
		"listening on http://127.0.0.1:8080/mcp":                    "listening on http://127.0.0.1:8080/mcp",
		"key not found":                                             "key not found",
		"${API_KEY} is not set: --api-key=${API_KEY}":               "${API_KEY} is not set: --api-key=${API_KEY}",
		"https://h/?key=${KEY}":                                     "https://h/?key=${KEY}",
		"token limit: 5":                                            "token limit: 5",
		"npx -y @modelcontextprotocol/server-filesystem /home/x":    "npx -y @modelcontextprotocol/server-filesystem /home/x",
		"panic: runtime error: index out of range [3]":              "panic: runtime error: index out of range [3]",
		"2026-11-21T03:00:00Z INFO user:anna@example.com signed in": "2026-11-21T03:00:00Z INFO user:anna@example.com signed in",
	} {
		if got := Text(said); got != want {
			t.Errorf("%q becomes %q, want %q", said, got, want)
		}
	}
}

func TestArgs(t *testing.T) {
	got := Args([]string{"-y", "server", "--api-key", "abc", "--token", "${T}", "postgres://u:pw@h/db", "--dir", "/x", "--password=hunter22"})
	want := []string{"-y", "server", "--api-key", "***", "--token", "${T}", "postgres://u:***@h/db", "--dir", "/x", "--password=***"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]bool{
		"API_KEY": true, "GITHUB_PAT": true, "apiKey": true, "PGPASSWORD": true, "SLACK_WEBHOOK": true, "DB_PWD": true,
		"PATH": false, "HOME": false, "LANG": false, "PATTERN": false, "DATABASE": false, "LIMIT": false,
	} {
		if got := Name(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestValues(t *testing.T) {
	got := Values([]string{"--api-key", "flagged-1", "--token=assigned-2", "postgres://u:inargs-3@h/x", "--dir", "/plain"},
		"https://h/?apiKey=inquery-4&page=12345678", map[string]string{
			"GITHUB_PAT": "named-5", "DATABASE_URL": "mysql://u:inurl-6@h/y", "LANG": "en_US.UTF-8", "X_KEY": "${NAMED}",
		}, map[string]string{"X-Tenant": "header-7"})
	for _, want := range []string{"flagged-1", "assigned-2", "inargs-3", "inquery-4", "named-5", "inurl-6", "header-7"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing in %q", want, got)
		}
	}
	for _, v := range got {
		if slices.Contains([]string{"/plain", "12345678", "en_US.UTF-8", "${NAMED}", "--dir"}, v) {
			t.Errorf("%s is no secret", v)
		}
	}
}

func TestPlaces(t *testing.T) {
	got := Places([]string{"--api-key", "abcdefgh", "--token", "${T}"}, "https://h/?key=abcdefgh",
		map[string]string{"GITHUB_PAT": "abcdefgh", "A_KEY": "${A}", "LANG": "en_US.UTF-8", "DB": "mysql://u:pw@h/y"},
		map[string]string{"Authorization": "Bearer ${X}", "X-Api-Key": "abcdefgh"})
	want := []string{"args[1]", "env.DB", "env.GITHUB_PAT", "headers.X-Api-Key", "url"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func FuzzText(f *testing.F) {
	f.Add("https://u:pw@h/?key=value --token x -----BEGIN RSA PRIVATE KEY-----abc")
	f.Fuzz(func(t *testing.T, s string) {
		once := Text(s)
		if len(once) > 4*len(s)+64 {
			t.Errorf("%d bytes become %d", len(s), len(once))
		}
	})
}

// TestTokens hides what Text hides by its form alone, and nothing else.
func TestTokens(t *testing.T) {
	pem := "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"
	for said, want := range map[string]string{
		"uses " + fake("ghp_", 36):                              "uses ***",
		"(" + fake("sk-", 40) + ")":                             "(***)",
		"task-" + fake("", 40) + " " + fake("glpat-", 20):       "task-" + fake("", 40) + " ***",
		fake("sk_live_", 24):                                    "***",
		fake("eyJ", 20) + "." + fake("a", 20) + ".":             "***",
		"posts to https://hooks.slack.com/services/T0/B0/abcde": "posts to https://hooks.slack.com/services/***",
		"https://discord.com/api/webhooks/12345/abcdefgh":       "https://discord.com/api/webhooks/***",
		pem: "-----BEGIN RSA PRIVATE KEY-----***-----END RSA PRIVATE KEY-----",
		// What only Text hides, and what nobody does.
		"GITHUB_PAT=abcdefgh":         "GITHUB_PAT=abcdefgh",
		"postgres://u:pw@h/db":        "postgres://u:pw@h/db",
		"a " + fake("task-", 40):      "a " + fake("task-", 40),
		"disk-sk-short":               "disk-sk-short",
		"ghp_ is the prefix of these": "ghp_ is the prefix of these",
	} {
		if got := Tokens(said); got != want {
			t.Errorf("%q becomes %q, want %q", said, got, want)
		}
		if HasToken(said) != (want != said) {
			t.Errorf("%q: %v", said, HasToken(said))
		}
	}
}
