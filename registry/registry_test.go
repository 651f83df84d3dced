package registry

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"tooldex/tool"
	"tooldex/upstream"
)

// listing is an answer in the published form of the registry API, of our own making.
const listing = `{"servers": [
 {"server": {"$schema": "https://static.modelcontextprotocol.io/schemas/2025-10-17/server.schema.json",
   "name": "io.example/weather", "title": "Weather", "description": "Forecasts\u202e for any place", "version": "1.2.0",
   "repository": {"url": "https://git.example/weather", "source": "git"},
   "packages": [{"registryType": "npm", "identifier": "@example/weather", "version": "1.2.0", "runtimeHint": "npx",
     "transport": {"type": "stdio"},
     "runtimeArguments": [{"type": "positional", "value": "-y"}],
     "packageArguments": [{"type": "named", "name": "--units", "default": "metric"},
       {"type": "positional", "valueHint": "home_place", "description": "where you live", "isRequired": true},
       {"type": "named", "name": "--verbose"}],
     "environmentVariables": [{"name": "WEATHER_KEY", "description": "your key", "isRequired": true, "isSecret": true},
       {"name": "WEATHER_LOG"}]}]},
  "_meta": {"io.modelcontextprotocol.registry/official": {"status": "active", "isLatest": true}}},
 {"server": {"name": "io.example/remote", "description": "Somewhere else", "version": "2",
   "remotes": [{"type": "streamable-http", "url": "https://mcp.example/mcp",
     "headers": [{"name": "Authorization", "value": "Bearer {token}", "isRequired": true, "isSecret": true}]}]},
  "_meta": {"io.modelcontextprotocol.registry/official": {"status": "deprecated"}}},
 {"server": {"name": "io.example/gone", "description": "x", "version": "1"},
  "_meta": {"io.modelcontextprotocol.registry/official": {"status": "deleted"}}},
 {"server": {"name": "no name at all", "description": "x", "version": "1"}}
], "metadata": {"count": 4}}`

// serve answers as a registry: requests counts what it was asked.
func serve(t *testing.T, requests *[]string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*requests = append(*requests, r.URL.RequestURI())
		switch {
		case r.URL.Path == "/v0.1/servers" && r.URL.Query().Get("version") == "latest":
			_, _ = w.Write([]byte(listing))
		case r.URL.EscapedPath() == "/v0.1/servers/io.example%2Fweather/versions/latest":
			at, end := strings.Index(listing, `{"server"`), strings.Index(listing, `,
 {"server": {"name": "io.example/remote"`)
			_, _ = w.Write([]byte(listing[at:end]))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func TestSearch(t *testing.T) {
	var requests []string
	s := serve(t, &requests)
	c := &Client{URL: s.URL + "/", Cache: filepath.Join(t.TempDir(), "registry")}
	found, err := c.Search(t.Context(), "weather tomorrow", 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Entries) != 2 || found.Entries[0].Description != "Forecasts for any place" || !found.Entries[1].Deprecated ||
		found.Entries[0].Source != "https://git.example/weather" || !found.Since.IsZero() {
		t.Fatalf("%+v", found)
	}
	again, err := c.Search(t.Context(), "weather tomorrow", 1)
	if err != nil || len(again.Entries) != 1 {
		t.Errorf("%+v, %v", again, err)
	}
	s.Close() // the first answer is used, the other request has none
	if kept, err := c.Search(t.Context(), "weather tomorrow", 0); err != nil || kept.Since.IsZero() || len(kept.Entries) != 2 {
		t.Errorf("offline: %+v, %v", kept, err)
	}
	var e *tool.Error
	if _, err := c.Search(t.Context(), "mail", 0); !errors.As(err, &e) || e.Code != tool.Unavailable || e.Hint == "" {
		t.Errorf("offline without an answer: %v", err)
	}
	if want := "/v0.1/servers?limit=30&search=weather+tomorrow&version=latest"; requests[0] != want {
		t.Errorf("asked %q, want %q", requests[0], want)
	}
}

// An answer is asked for again after an hour, and an older one serves while nobody answers.
func TestKeptAnswersAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls, down := 0, false
		c := &Client{URL: "https://registry.example", Cache: t.TempDir(), HTTP: &http.Client{Transport: transport(func() (string, error) {
			calls++
			if down {
				return "", errors.New("no route to host")
			}
			return listing, nil
		})}}
		search := func() *Found {
			t.Helper()
			found, err := c.Search(t.Context(), "x", 0)
			if err != nil {
				t.Fatal(err)
			}
			return found
		}
		search()
		time.Sleep(50 * time.Minute)
		search()
		if calls != 1 {
			t.Errorf("asked %d times within an hour", calls)
		}
		down = true
		time.Sleep(48 * time.Hour)
		if found := search(); calls != 2 || found.Since.IsZero() {
			t.Errorf("asked %d times, answer of %v", calls, found.Since)
		}
	})
}

// transport answers every request with what the function returns.
type transport func() (string, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := f()
	if err != nil {
		return nil, err
	}
	rec := httptest.NewRecorder()
	_, _ = rec.WriteString(body)
	res := rec.Result()
	res.Request = r
	return res, nil
}

func TestLaunch(t *testing.T) {
	var requests []string
	c := &Client{URL: serve(t, &requests).URL}
	e, err := c.Get(t.Context(), "io.example/weather")
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.Launch()
	if err != nil {
		t.Fatal(err)
	}
	want := &Launch{
		Server: upstream.Server{
			Name: "weather", Transport: upstream.Stdio, Command: "npx",
			Args: []string{"-y", "@example/weather@1.2.0", "--units", "metric", "${HOME_PLACE}"},
			Env:  map[string]string{"WEATHER_KEY": "${WEATHER_KEY}"},
		},
		Wants: []Want{
			{Variable: "WEATHER_KEY", About: "your key", Required: true, Secret: true},
			{Variable: "HOME_PLACE", About: "where you live", Required: true},
		},
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := c.Get(t.Context(), "io.example/none"); tool.CodeOf(err) != tool.NotFound {
		t.Errorf("error %v", err)
	}
	found, err := c.Search(t.Context(), "x", 0)
	if err != nil {
		t.Fatal(err)
	}
	remote, err := found.Entries[1].Launch()
	if err != nil || remote.Server.URL != "https://mcp.example/mcp" ||
		remote.Server.Headers["Authorization"] != "Bearer ${REMOTE_AUTHORIZATION}" {
		t.Errorf("%+v, %v", remote, err)
	}
}

func TestLaunchOfOtherPackages(t *testing.T) {
	for _, tt := range []struct {
		p    Package
		want string
	}{
		{Package{Registry: "pypi", Identifier: "weather-mcp", Version: "3.1"}, "uvx weather-mcp==3.1"},
		{Package{
			Registry: "oci", Identifier: "ghcr.io/example/weather", Version: "3",
			Env: []Input{{Name: "KEY", Required: true}},
		}, "docker run -i --rm -e KEY ghcr.io/example/weather:3"},
		{Package{Registry: "oci", Identifier: "ghcr.io/example/weather:9", Version: "3"}, "docker run -i --rm ghcr.io/example/weather:9"},
		{Package{Registry: "nuget", Identifier: "Weather.Mcp", Version: "1.0.0"}, "dnx Weather.Mcp@1.0.0 --yes --"},
		{Package{Registry: "mcpb", Identifier: "https://x/y.mcpb"}, ""},
		{Package{Registry: "npm", Identifier: "--eval=process.exit()"}, ""},
		{Package{Registry: "npm", Identifier: "x", Version: "1 --eval x"}, ""},
		{Package{Registry: "npm", Identifier: "x", Transport: Remote{Type: "streamable-http"}}, ""},
	} {
		e := Entry{Name: "io.example/weather", Packages: []Package{tt.p}}
		l, err := e.Launch()
		if tt.want == "" {
			if tool.CodeOf(err) != tool.Invalid {
				t.Errorf("%+v: %+v, %v", tt.p, l, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", tt.p, err)
			continue
		}
		if got := strings.Join(slices.Concat([]string{l.Server.Command}, l.Server.Args), " "); got != tt.want {
			t.Errorf("runs %q, want %q", got, tt.want)
		}
	}
}

func TestBadRegistries(t *testing.T) {
	for name, body := range map[string]string{"html": "<html>", "a list": "[]", "nothing": ""} {
		c := &Client{URL: "https://registry.example", HTTP: &http.Client{Transport: transport(func() (string, error) { return body, nil })}}
		if _, err := c.Search(t.Context(), "x", 0); tool.CodeOf(err) != tool.Unavailable {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (&Client{URL: "registry"}).Search(t.Context(), "x", 0); tool.CodeOf(err) != tool.Invalid {
		t.Errorf("no address: %v", err)
	}
	var requests []string
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (&Client{URL: serve(t, &requests).URL, Cache: file}).Search(t.Context(), "x", 0); tool.CodeOf(err) != tool.Unavailable {
		t.Errorf("no folder for answers: %v", err)
	}
}

func FuzzEntry(f *testing.F) {
	f.Add(listing)
	f.Fuzz(func(t *testing.T, body string) {
		c := &Client{URL: "https://registry.example", HTTP: &http.Client{Transport: transport(func() (string, error) { return body, nil })}}
		found, err := c.Search(t.Context(), "x", 0)
		if err != nil {
			return
		}
		for i := range found.Entries {
			l, err := found.Entries[i].Launch()
			if err == nil && l.Server.URL == "" && !slices.Contains([]string{"npx", "uvx", "docker", "dnx"}, l.Server.Command) {
				t.Errorf("runs %q", l.Server.Command)
			}
		}
	})
}
