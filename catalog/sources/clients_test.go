package sources

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tooldex/tool"
	"tooldex/upstream"
)

// TestClientConfigurations reads files as clients have them, unchanged.
func TestClientConfigurations(t *testing.T) {
	env := func(kv ...string) map[string]string {
		m := map[string]string{}
		for i := 0; i < len(kv); i += 2 {
			m[kv[i]] = kv[i+1]
		}
		return m
	}
	tests := map[string][]upstream.Server{
		"claude_desktop_config.json": {
			{Name: "filesystem", Command: "npx", Args: []string{
				"-y", "@modelcontextprotocol/server-filesystem",
				"/home/me/Desktop",
			}},
			{
				Name: "github", Command: "docker", Args: []string{
					"run", "-i", "--rm", "-e",
					"GITHUB_PERSONAL_ACCESS_TOKEN", "ghcr.io/github/github-mcp-server",
				},
				Env: env("GITHUB_PERSONAL_ACCESS_TOKEN", "${GITHUB_TOKEN}"),
			},
		},
		"claude-code.json": {
			{
				Name: "asana", Transport: upstream.SSE, URL: "https://mcp.asana.com/sse",
				Headers: env("Authorization", "Bearer ${ASANA_TOKEN:-none}"),
			},
			{
				Name: "db", Transport: upstream.Stdio, Command: "${CLAUDE_PLUGIN_ROOT:-/opt}/db-server",
				Args: []string{"--config", "x.json"}, Env: env(),
			},
			{Name: "sentry", Transport: upstream.HTTP, URL: "https://mcp.sentry.dev/mcp"},
		},
		"cursor-mcp.json": {
			{Name: "linear", URL: "https://mcp.linear.app/mcp", Headers: env("Authorization",
				"Bearer ${env:LINEAR_TOKEN}")},
			{
				Name: "local", Transport: upstream.Stdio, Command: "python", Args: []string{"${workspaceFolder}/server.py"},
				Env:     env("API_KEY", "${env:API_KEY}"),
				EnvFile: "${workspaceFolder}/.env",
			},
			{Name: "playwright", Command: "npx", Args: []string{"@playwright/mcp@latest"}},
		},
		"vscode-mcp.json": {
			{Name: "github", Transport: upstream.HTTP, URL: "https://api.githubcopilot.com/mcp/"},
			{
				Name: "perplexity", Transport: upstream.Stdio, Command: "npx", Args: []string{"-y", "server-perplexity-ask"},
				Env: env("PERPLEXITY_API_KEY", "${input:perplexity-key}"),
			},
		},
		"vscode-settings.json": {{Name: "fetch", Command: "uvx", Args: []string{"mcp-server-fetch"}}},
		"gemini-settings.json": {
			{Name: "events", URL: "https://api.example.com/sse", Timeout: 30 * time.Second},
			{
				Name: "python", Command: "python", Args: []string{"-m", "my_mcp_server", "--port", "8080"},
				Dir: "./tools",
				Env: env("DATABASE_URL", "${DB_CONNECTION_STRING}"), Timeout: 15 * time.Second,
			},
			{Name: "stream", URL: "https://api.example.com/mcp", Headers: env("Authorization", "Bearer abc")},
		},
		"codex-config.toml": {
			{Name: "chrome-devtools", Command: "npx", Args: []string{"chrome-devtools-mcp@latest"}, Disabled: true},
			{
				Name: "context7", Command: "npx", Args: []string{"-y", "@upstash/context7-mcp"},
				Env:     env("MY_ENV_VAR", "MY_ENV_VALUE", "LOCAL_TOKEN", "${LOCAL_TOKEN}"),
				Timeout: 45500 * time.Millisecond, StartTimeout: 20 * time.Second,
			},
			{
				Name: "figma", URL: "https://mcp.figma.com/mcp",
				Headers: env("X-Figma-Region", "us-east-1", "X-Team", "${FIGMA_TEAM}", "Authorization",
					"Bearer ${FIGMA_OAUTH_TOKEN}"),
			},
		},
		"windsurf-mcp_config.json": {
			{Name: "figma", URL: "https://mcp.figma.com/mcp", Disabled: true},
			{
				Name: "github-mcp-server", Command: "docker", Args: []string{
					"run", "-i", "--rm",
					"ghcr.io/github/github-mcp-server",
				},
				Env: env("GITHUB_PERSONAL_ACCESS_TOKEN", "${env:GITHUB_TOKEN}"),
			},
		},
	}
	files, err := filepath.Glob(filepath.Join("testdata", "clients", "*"))
	if err != nil || len(files) != len(tests) {
		t.Fatalf("%d files, %d expected: %v", len(files), len(tests), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			content, err := ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tests[filepath.Base(file)], content.Servers); diff != "" {
				t.Errorf("servers (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOwnKeysOfServers(t *testing.T) {
	got, err := ParseServers([]byte(`{"mcpServers":{"a":{"command":"x","start":"eager","idleTimeout":1500,"concurrency":2,"queue":-1},"b":{"command":"x","start":"lazy","idleTimeout":-1}}}`))
	want := []upstream.Server{
		{Name: "a", Command: "x", Eager: true, Idle: 1500 * time.Millisecond, Concurrency: 2, Queue: -1},
		{Name: "b", Command: "x", Idle: -time.Millisecond},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := ParseServers([]byte(`{"mcpServers":{"a":{"command":"x","start":"soon"}}}`)); tool.CodeOf(err) != tool.Invalid {
		t.Errorf("an unknown start gives %v", err)
	}
}

// TestNoServers takes null for what clients mean by it, in each spelling; a file that speaks of no servers at all is
// another one.
func TestNoServers(t *testing.T) {
	for text, ok := range map[string]bool{
		`{"mcpServers":null}`: true, "{\"theme\":1,\"mcpServers\":null, // none\n}": true, `{"servers":null}`: true,
		`{"mcp":{"servers":null}}`: true,
		`{"mcpServers":{}}`:        true, `{}`: false, `{"mcp":null}`: false, `null`: false,
	} {
		if got, err := ParseServers([]byte(text)); len(got) > 0 || (err == nil) != ok {
			t.Errorf("%s gives %v, %v", text, got, err)
		}
	}
	if got, err := ParseServers([]byte(`{"mcpServers":null,"servers":{"a":{"command":"x"}}}`)); err != nil ||
		len(got) != 1 {
		t.Errorf("null beside servers gives %v, %v", got, err)
	}
	for _, name := range []string{"a.json", "a.yaml"} {
		if got, err := Parse(name, []byte(`{"mcpServers": null}`)); err != nil || len(got.Servers) > 0 {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// TestServersSaidPlainly wants what does not fit to be told in words of the file.
func TestServersSaidPlainly(t *testing.T) {
	for text, want := range map[string]string{
		`[]`:                                "there is a list",
		`{"mcpServers":[]}`:                 "mcpServers is a list",
		`{"mcpServers":{"a":"x"}}`:          "there is a string",
		`{"mcpServers":{"a":{"args":"x"}}}`: "args is a string",
		`{"mcpServers":{"a":{"url":true}}}`: "url is true or false",
	} {
		_, err := ParseServers([]byte(text))
		if tool.CodeOf(err) != tool.Invalid || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "Go ") {
			t.Errorf("%s gives %v, want %q", text, err, want)
		}
	}
}

func FuzzParseCodex(f *testing.F) {
	f.Add([]byte("[mcp_servers.a]\ncommand = \"x\"\nenv_vars = [\"A\"]"))
	f.Add([]byte("mcp_servers = 3"))
	f.Add([]byte("[mcp_servers.a]\nurl = \"https://h\"\nbearer_token_env_var = \"T\"\ntool_timeout_sec = 1e300"))
	f.Fuzz(func(t *testing.T, data []byte) {
		servers, err := ParseCodex(data)
		if err != nil && tool.CodeOf(err) != tool.Invalid {
			t.Errorf("error is %v", err)
		}
		for _, s := range servers {
			if err := CheckServer(s); err != nil || s.Timeout < 0 || s.Timeout > maxTimeout {
				t.Errorf("%+v, %v", s, err)
			}
		}
	})
}
