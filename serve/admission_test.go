package serve

import (
	"crypto/sha256"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tooldex/config"
)

// given are the flags of a command that matter for access.
type given struct {
	listen, tokenFile, tokens string
	rate                      float64
}

func TestAdmission(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const strong, written = "b3c9e1f07d2a48566f81aa", "0f1e2d3c4b5a69788796cc"
	secret, empty := write("token", " "+written+"\n"), write("empty", "\n")
	few := write("few.yaml", fmt.Sprintf("tokens: [{name: few, sha256: %x, profile: files}]",
		sha256.Sum256([]byte("few"))))
	none, other := write("none.yaml", "tokens: []\n"),
		write("other.yaml", fmt.Sprintf("tokens: [{name: few, sha256: %x, profile: others}]",
			sha256.Sum256([]byte("few"))))
	profiles := filepath.Join(dir, "profiles.yaml")
	if err := os.WriteFile(profiles, []byte("profiles: {files: {servers: [filesystem]}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	type env = map[string]string
	for name, c := range map[string]struct {
		flags given
		env   env
		token string
		rate  float64
		fails string
	}{
		"loopback": {given{listen: "127.0.0.1:1"}, nil, "", 0, ""},
		"loopback, required": {
			given{listen: "127.0.0.1:1"}, env{"TOOLDEX_REQUIRE_TOKEN": "true"}, "", 0, "no data directory for one",
		},
		"loopback of six":     {given{listen: "[::1]:1"}, nil, "", 0, ""},
		"loopback by name":    {given{listen: "localhost:1"}, nil, "", 0, ""},
		"loopback, limited":   {given{listen: "127.0.0.1:1", rate: 3}, nil, "", 3, ""},
		"open":                {given{listen: "0.0.0.0:1"}, nil, "", 0, "there is no token"},
		"open, all addresses": {given{listen: ":1"}, nil, "", 0, "there is no token"},
		"open, of six":        {given{listen: "[::]:1"}, nil, "", 0, "there is no token"},
		"open by name":        {given{listen: "tools.example.com:1"}, nil, "", 0, "there is no token"},
		"a name like ours":    {given{listen: "localhost.example.com:1"}, nil, "", 0, "there is no token"},
		"a token":             {given{listen: ":1"}, env{"TOOLDEX_TOKEN": strong}, strong, PublicRate, ""},
		"a short token":       {given{listen: ":1"}, env{"TOOLDEX_TOKEN": "t"}, "", 0, "its token can be guessed"},
		"a dull token":        {given{listen: ":1"}, env{"TOOLDEX_TOKEN": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}, "", 0, "its token can be guessed"},
		"a short one at home": {given{listen: "127.0.0.1:1"}, env{"TOOLDEX_TOKEN": "t"}, "t", 0, ""},
		"a token, unlimited":  {given{listen: ":1", rate: -1}, env{"TOOLDEX_TOKEN": strong}, strong, 0, ""},
		"a file": {
			given{listen: ":1", tokenFile: secret},
			env{"TOOLDEX_TOKEN": strong},
			written,
			PublicRate, "",
		},
		"a file by environment": {given{listen: ":1"}, env{"TOOLDEX_TOKEN_FILE": secret}, written, PublicRate, ""},
		"an empty file": {
			given{listen: ":1", tokenFile: empty},
			env{"TOOLDEX_TOKEN": strong},
			"", 0,
			"holds no token",
		},
		"no file":           {given{listen: ":1", tokenFile: secret + "x"}, nil, "", 0, "tokenx"},
		"tokens":            {given{listen: ":1", tokens: few}, nil, "", PublicRate, ""},
		"bad tokens":        {given{listen: ":1", tokens: secret}, nil, "", 0, "tokens cannot be read"},
		"no tokens":         {given{listen: ":1", tokens: none}, nil, "", 0, "there is no token"},
		"no file of tokens": {given{listen: ":1", tokens: secret + "x"}, nil, "", 0, "tokenx cannot be read"},
		"of no profile":     {given{listen: ":1", tokens: other}, nil, "", 0, `there is no profile "others"`},
		"issuers": {
			given{listen: "127.0.0.1:1"},
			env{"TOOLDEX_OAUTH_ISSUERS": "https://login.example.com"},
			"", 0, "",
		},
		"issuers, open": {
			given{listen: ":1"},
			env{"TOOLDEX_OAUTH_ISSUERS": "https://login.example.com"},
			"", 0, "no resource",
		},
		"issuers and resource": {given{listen: ":1"}, env{
			"TOOLDEX_OAUTH_ISSUERS":  "https://login.example.com",
			"TOOLDEX_OAUTH_RESOURCE": "https://tools.example.com",
		}, "", PublicRate, ""},
		"a plain issuer": {
			given{listen: "127.0.0.1:1"},
			env{"TOOLDEX_OAUTH_ISSUERS": "http://login.example.com"},
			"", 0, "does not begin with https",
		},
		"a bad grant": {
			given{listen: "127.0.0.1:1"},
			env{"TOOLDEX_OAUTH_ISSUERS": "https://login.example.com", "TOOLDEX_OAUTH_GRANTS": "everybody all"},
			"", 0,
			"does not begin with a condition",
		},
		"a bad address": {
			given{listen: "127.0.0.1:1"},
			env{"TOOLDEX_OAUTH_ISSUERS": "https://login.example.com", "TOOLDEX_ALLOW_PRIVATE": "10.0.0.1:80"},
			"", 0,
			"neither an address",
		},
		"no address": {given{listen: "here"}, nil, "", 0, "is not an address"},
	} {
		t.Run(name, func(t *testing.T) {
			flags := map[string]any{"serve.profilesFile": profiles}
			for key, v := range map[string]string{"serve.tokenFile": c.flags.tokenFile, "serve.tokensFile": c.flags.tokens} {
				if v != "" {
					flags[key] = v
				}
			}
			if c.flags.rate != 0 {
				flags["serve.rate"] = fmt.Sprint(c.flags.rate)
			}
			loader, err := config.Load(config.Options{
				NoFile: true, Getenv: func(key string) string { return c.env[key] }, Flags: flags,
			})
			if err != nil {
				t.Fatal(err)
			}
			got, err := newAdmission(Options{
				Config: loader, Listen: c.flags.listen, Temporary: true, Logger: slog.New(slog.DiscardHandler),
			})
			if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
				t.Fatalf("error %v, want %q", err, c.fails)
			}
			if got.own != "" {
				t.Errorf("a run without a data directory has the owner's token in %s", got.own)
			}
			if got.gate.Whole != c.token || got.rate != c.rate {
				t.Errorf("%+v, want token %q at %v", got, c.token, c.rate)
			}
		})
	}
}
