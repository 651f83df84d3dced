package openapi

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
)

// describedServer returns an HTTP server that answers what a description allows, and 422 with the reason to every other
// request. The library checks the requests, not our code. seen has the last request with its body.
func describedServer(t *testing.T, file string, answer http.HandlerFunc) (at string, seen *http.Request, body *string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(data)
	if err != nil {
		t.Fatal(err)
	}
	openapi3filter.RegisterBodyDecoder("application/merge-patch+json", openapi3filter.JSONBodyDecoder)
	seen, body = &http.Request{}, new(string)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		*seen, *body = *r.Clone(context.Background()), string(data)
		r.Body = io.NopCloser(strings.NewReader(string(data)))
		doc.Servers = openapi3.Servers{{URL: "http://" + r.Host + "/v1"}}
		router, err := legacy.NewRouter(doc)
		if err != nil {
			t.Errorf("router: %v", err)
			return
		}
		r.URL.Scheme, r.URL.Host = "http", r.Host
		route, params, err := router.FindRoute(r)
		if err == nil {
			err = openapi3filter.ValidateRequest(r.Context(), &openapi3filter.RequestValidationInput{
				Request: r, PathParams: params, Route: route,
				Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc},
			})
		}
		if err != nil {
			w.Header().Set("Content-Type", "text/plain")
			w.WriteHeader(http.StatusUnprocessableEntity)
			fmt.Fprint(w, err)
			return
		}
		answer(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/v1", seen, body
}

// connect serves an API over pipes, as the gateway does, and returns a client of it.
func connect(t *testing.T, o Options) *mcp.ClientSession {
	t.Helper()
	api, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	fromUs, toAPI := io.Pipe()
	fromAPI, toUs := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = api.Serve(context.WithoutCancel(t.Context()), fromUs, toUs)
		_ = toUs.Close()
	}()
	cs, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(),
		&mcp.IOTransport{Reader: fromAPI, Writer: toAPI}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cs.Close()
		_ = toAPI.Close()
		<-done
	})
	return cs
}

// TestCall calls operations of three descriptions at servers that behave as these say.
func TestCall(t *testing.T) {
	echo := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"id":9007199254740993}`)
	}
	answer := func(kind, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			fmt.Fprint(w, text)
		}
	}
	refuse := func(status int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Retry-After", "30")
			w.WriteHeader(status)
			fmt.Fprint(w, text)
		}
	}
	tests := []struct {
		name, file string
		answer     http.HandlerFunc
		auth       map[string]string
		tool, args string
		uri, body  string // what the server has to see; no body is checked if it is ""
		header     [2]string
		want       string // in the result
		failed     bool
	}{
		{
			name: "path, query and header", file: "issues.json", answer: answer("application/json", `[{"number":1}]`),
			auth: map[string]string{"token": "secret-7"}, tool: "issues_list",
			args:   `{"owner":"a b","repo":"x/../y","labels":["bug","red,blue"],"X-Request-Of":"me"}`,
			uri:    "/v1/repos/a%20b/x%2F..%2Fy/issues?labels=bug%2Cred%2Cblue",
			header: [2]string{"Authorization", "Bearer secret-7"}, want: `[{"number":1}]`,
		},
		{
			name: "JSON body of allOf", file: "issues.json", answer: echo, tool: "issues_create",
			args: `{"owner":"a","repo":"b","title":"T","repo_body":null,"labels":["x"]}`, uri: "/v1/repos/a/b/issues",
			body: `{"labels":["x"],"repo":null,"title":"T"}`, want: `{"id":9007199254740993}`,
		},
		{
			name: "no content", file: "issues.json", answer: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) },
			tool: "issues_delete", args: `{"owner":"a","repo":"b","number":3}`, uri: "/v1/repos/a/b/issues/3", want: "HTTP 204",
		},
		{
			name: "recursive body", file: "issues.json", answer: echo, tool: "post_search",
			args: `{"body":{"all":[{"word":"a"},{"all":[{"word":"b"}]}]}}`, uri: "/v1/search",
			body: `{"all":[{"word":"a"},{"all":[{"word":"b"}]}]}`, want: "9007199254740993",
		},
		{
			name: "the second of a name", file: "issues.json", answer: echo, tool: "issues_list_2", args: `{}`, uri: "/v1/user",
			want: "9007",
		},
		{
			name: "segments stay segments", file: "issues.json", answer: echo, tool: "issues_list",
			args: `{"owner":"..","repo":"user"}`, want: `argument "owner" cannot be ".."`, failed: true,
		},
		{
			name: "not found", file: "issues.json", answer: refuse(404, `{"message":"no such repository"}`), tool: "issues_list",
			args: `{"owner":"a","repo":"b"}`, uri: "/v1/repos/a/b/issues", failed: true,
			want: "HTTP 404 Not Found, retry after 30\n{\"message\":\"no such repository\"}",
		},
		{
			name: "no credentials", file: "issues.json", answer: refuse(401, `{}`), tool: "issues_list",
			args: `{"owner":"a","repo":"b"}`, uri: "/v1/repos/a/b/issues", failed: true, want: "give them as auth for token",
		},
		{
			name: "deep object and cookie", file: "payments.yaml", answer: echo, auth: map[string]string{"key": "sk:"},
			tool: "ListCharges", args: `{"created":{"gte":5,"lt":9},"expand":["a","b"],"session":"s 1"}`,
			uri:    "/v1/charges?created%5Bgte%5D=5&created%5Blt%5D=9&expand=a%7Cb",
			header: [2]string{"Authorization", "Basic c2s6"}, want: "9007",
		},
		{
			name: "form", file: "payments.yaml", answer: echo, tool: "CreateCharge",
			args: `{"amount":9007199254740993,"currency":"eur","note":"a&b","tags":["x","y"]}`,
			body: "amount=9007199254740993&currency=eur&note=a%26b&tags=x&tags=y", uri: "/v1/charges", want: "9007",
		},
		{
			name: "text", file: "payments.yaml", answer: answer("text/csv; charset=utf-8", "id,sum\n1,2\n"), tool: "Receipts",
			args: `{"ids":["a","b"]}`, uri: "/v1/charges/;ids=a;ids=b/receipts", want: "id,sum\n1,2\n",
		},
		{
			name: "key in the query, picture", file: "photos.yaml", answer: answer("image/png", "\x89PNG"), tool: "get_photos_by_name",
			auth: map[string]string{"key": "k&1"}, args: `{"name":"tree"}`, uri: "/v1/photos/tree?api_key=k%261",
			want: base64.StdEncoding.EncodeToString([]byte("\x89PNG")),
		},
		{
			name: "bytes", file: "photos.yaml", answer: answer("application/zip", "PK"), tool: "replace",
			args: `{"name":"t","body":"AQID"}`, uri: "/v1/photos/t", body: "\x01\x02\x03", want: `"mimeType":"application/zip"`,
		},
		{
			name: "names that meet", file: "photos.yaml", answer: echo, tool: "change_album",
			args: `{"id":1,"id_query":"q","filter_year":1999,"id_body":7,"parent":{"within":{"name":"e"}}}`,
			uri:  "/v1/albums/1?filter%5Byear%5D=1999&id=q", body: `{"id":7,"parent":{"within":{"name":"e"}}}`,
			header: [2]string{"Content-Type", "application/merge-patch+json"}, want: "9007",
		},
		{
			name: "no base64", file: "photos.yaml", answer: echo, tool: "upload_photo", args: `{"file":"?"}`, failed: true,
			want: `argument "file" is not base64`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base, seen, body := describedServer(t, "testdata/"+tt.file, tt.answer)
			cs := connect(t, Options{Server: "api", Source: "testdata/" + tt.file, Base: base, Auth: tt.auth})
			res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: tt.tool, Arguments: json.RawMessage(tt.args)})
			if err != nil {
				t.Fatal(err)
			}
			out, err := json.Marshal(res.Content)
			if err != nil {
				t.Fatal(err)
			}
			quoted, _ := json.Marshal(tt.want)
			if got := string(out); !strings.Contains(got, strings.Trim(string(quoted), `"`)) && !strings.Contains(got, tt.want) ||
				res.IsError != tt.failed {
				t.Errorf("result %s, error %v; want %q, error %v", got, res.IsError, tt.want, tt.failed)
			}
			if tt.uri != "" && seen.RequestURI != tt.uri {
				t.Errorf("server saw %s, want %s", seen.RequestURI, tt.uri)
			}
			if tt.body != "" && *body != tt.body {
				t.Errorf("server read %q, want %q", *body, tt.body)
			}
			if h := tt.header; h[0] != "" && seen.Header.Get(h[0]) != h[1] {
				t.Errorf("%s: %s, want %s", h[0], seen.Header.Get(h[0]), h[1])
			}
		})
	}
}

// TestMultipart sends a file with a field, which the server's own parser takes apart.
func TestMultipart(t *testing.T) {
	var got []string
	base, _, _ := describedServer(t, "testdata/photos.yaml", func(_ http.ResponseWriter, r *http.Request) {
		if err := r.ParseMultipartForm(1 << 20); err != nil {
			t.Error(err)
			return
		}
		f, _, err := r.FormFile("file")
		if err != nil {
			t.Error(err)
			return
		}
		data, _ := io.ReadAll(f)
		got = []string{string(data), r.FormValue("caption"), r.FormValue("place")}
	})
	cs := connect(t, Options{Source: "testdata/photos.yaml", Base: base})
	res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "upload_photo", Arguments: map[string]any{
		"file": "aGFsbG8", "caption": "ä", "place": map[string]any{"name": "here"},
	}})
	if err != nil || res.IsError {
		t.Fatalf("call: %v %v", err, res.Content[0].(*mcp.TextContent).Text)
	}
	if diff := cmp.Diff([]string{"hallo", "ä", `{"name":"here"}`}, got); diff != "" {
		t.Error(diff)
	}
}

// TestTools holds what models see of a description: names, hints and schemas in which each reference ends somewhere.
func TestTools(t *testing.T) {
	cs := connect(t, Options{Source: "testdata/issues.json", Base: "http://127.0.0.1:1"})
	res, err := cs.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]*mcp.Tool{}
	for _, one := range res.Tools {
		got[one.Name] = one
	}
	if a := got["issues_list"].Annotations; !a.ReadOnlyHint || *a.DestructiveHint {
		t.Errorf("GET has hints %+v", a)
	}
	if a := got["issues_delete"].Annotations; a.ReadOnlyHint || !*a.DestructiveHint {
		t.Errorf("DELETE has hints %+v", a)
	}
	if text := got["issues_list_2"].Description; text != "Deprecated.\n\nWho am I\n\n(GET /user)" {
		t.Errorf("description %q", text)
	}
	for name, want := range map[string]string{
		"issues_create": `{"additionalProperties":false,"properties":{"labels":{"items":{"type":"string"},"type":"array"},` +
			`"owner":{"description":"account that owns the repository","type":"string"},"repo":{"type":"string"},` +
			`"repo_body":{"description":"where it was first","type":["string","null"]},"title":{"type":"string"}},` +
			`"required":["owner","repo","title"],"type":"object"}`,
		"issues_delete": `{"additionalProperties":false,"properties":{"number":{"exclusiveMinimum":0,"type":"integer"},` +
			`"owner":{"description":"account that owns the repository","type":"string"},"repo":{"type":"string"}},` +
			`"required":["owner","repo","number"],"type":"object"}`,
		"post_search": `{"$defs":{"filter":{"oneOf":[{"additionalProperties":false,"properties":{"word":{"type":"string"}},` +
			`"required":["word"],"type":"object"},{"additionalProperties":false,"properties":{"all":{"items":{"$ref":"#/$defs/filter"},` +
			`"type":"array"}},"required":["all"],"type":"object"}]}},"additionalProperties":false,"properties":{"body":` +
			`{"$ref":"#/$defs/filter"}},"required":["body"],"type":"object"}`,
	} {
		var same any
		if err := json.Unmarshal([]byte(want), &same); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(same, got[name].InputSchema); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestOpenErrors holds that a person who gives a wrong description reads what is wrong and what to do.
func TestOpenErrors(t *testing.T) {
	write := func(text string) string {
		file := t.TempDir() + "/api"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	const head = `{"openapi":"3.0.0","info":{"title":"x","version":"1"},`
	tests := []struct {
		name, text string
		o          Options
		msg, hint  string
	}{
		{name: "no file", o: Options{Source: "/nowhere"}, msg: "cannot be read", hint: "correct the path"},
		{name: "nonsense", text: "\x00\x01{[", msg: "no OpenAPI description", hint: "validator"},
		{name: "a page", text: "<html><body>Sign in</body></html>", msg: "no OpenAPI description", hint: "validator"},
		{name: "empty", text: "", msg: "openapi: 3.x", hint: "OpenAPI 3.0 or 3.1"},
		{name: "Swagger", text: `{"swagger":"2.0","info":{},"paths":{}}`, msg: "Swagger 2.0", hint: "swagger2openapi"},
		{name: "another file", text: head + `"paths":{"/a":{"$ref":"other.yaml#/a"}}}`, msg: "another file", hint: "bundle"},
		{
			name: "another host", hint: "bundle", msg: "another file",
			text: head + `"paths":{"/a":{"get":{"parameters":[{"$ref":"http://169.254.169.254/x"}],"responses":{}}}}}`,
		},
		{name: "a reference to nothing", text: head + `"paths":{"/a":{"get":{"parameters":[{"$ref":"#/components/parameters/x"}]}}}}`, msg: "no OpenAPI description"},
		{name: "no server", text: head + `"paths":{}}`, msg: "names no server", hint: "as url"},
		{name: "relative server", text: head + `"servers":[{"url":"/v1"}],"paths":{}}`, msg: "relative", hint: "as url"},
		{name: "no default", text: head + `"servers":[{"url":"https://{a}.x","variables":{"a":{}}}],"paths":{}}`, msg: `variable "a"`, hint: "as url"},
		{name: "undeclared variable", text: head + `"servers":[{"url":"https://{a}.x"}],"paths":{}}`, msg: "no address", hint: "as url"},
		{name: "another scheme", text: head + `"servers":[{"url":"file:///etc"}],"paths":{}}`, msg: "no http or https", hint: "as url"},
		{name: "no operation", text: head + `"servers":[{"url":"https://x"}],"paths":{}}`, msg: "no operation", hint: "paths"},
		{name: "no such tag", o: Options{Source: "testdata/issues.json", Tags: []string{"x"}}, msg: "no operation", hint: "issues, users"},
		{name: "no such scheme", o: Options{Source: "testdata/issues.json", Auth: map[string]string{"x": "y"}}, msg: `"x"`, hint: "use token"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.o.Source == "" {
				tt.o.Source = write(tt.text)
			}
			_, err := Open(t.Context(), tt.o)
			var e *tool.Error
			if !errors.As(err, &e) || e.Code != tool.Invalid || !strings.Contains(e.Msg, tt.msg) ||
				!strings.Contains(e.Hint, tt.hint) {
				t.Errorf("error %+v, want %q and %q", err, tt.msg, tt.hint)
			}
		})
	}
}

// TestFilters holds which operations the tags and paths let through.
func TestFilters(t *testing.T) {
	tests := []struct {
		name        string
		tags, paths []string
		want        int
	}{
		{"none", nil, nil, 5},
		{"a tag in another case", []string{"USERS"}, nil, 1},
		{"a path", nil, []string{"/repos/*"}, 3},
		{"a method", nil, []string{"get *"}, 2},
		{"both", []string{"issues"}, []string{"GET /repos/*", "/user"}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			api, err := Open(t.Context(), Options{Source: "testdata/issues.json", Tags: tt.tags, Paths: tt.paths})
			if err != nil {
				t.Fatal(err)
			}
			if api.Tools() != tt.want {
				t.Errorf("%d tools, want %d", api.Tools(), tt.want)
			}
			if api.base.String() != "https://eu.code.example/v3" {
				t.Errorf("base %s", api.base)
			}
		})
	}
}

// TestCredentials holds that credentials go to no host that only a description from elsewhere names, nor to one that a
// redirect names.
func TestCredentials(t *testing.T) {
	var stolen http.Header
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { stolen = r.Header.Clone() }))
	defer thief.Close()
	var server string
	home := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/openapi.json" {
			fmt.Fprintf(w, `{"openapi":"3.0.0","info":{"title":"x","version":"1"},"servers":[{"url":%q}],"security":[{"k":[]}],
				"paths":{"/a":{"get":{},"post":{}}},
				"components":{"securitySchemes":{"k":{"type":"apiKey","in":"header","name":"X-Key"}}}}`, server)
			return
		}
		if r.Header.Get("X-Key") != "key" || r.Header.Get("X-More") != "more" {
			t.Errorf("headers %v", r.Header)
		}
		http.Redirect(w, r, thief.URL, http.StatusTemporaryRedirect)
	}))
	defer home.Close()
	o := Options{
		Server: "api", Source: home.URL + "/openapi.json", Auth: map[string]string{"k": "key"},
		Headers: map[string]string{"X-More": "more"},
	}
	server = thief.URL
	if _, err := Open(t.Context(), o); tool.CodeOf(err) != tool.Invalid || !strings.Contains(err.Error(), "credentials") {
		t.Errorf("another host: %v", err)
	}
	server = "/"
	cs := connect(t, o)
	for name, failed := range map[string]bool{"get_a": false, "post_a": true} {
		stolen = nil
		res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: name})
		if err != nil || res.IsError != failed {
			t.Errorf("%s: %v %v", name, err, res)
		}
		if failed && stolen != nil {
			t.Errorf("%s was sent to another host", name)
		}
		if stolen.Get("X-Key")+stolen.Get("X-More")+stolen.Get("Referer") != "" {
			t.Errorf("%s gave away %v", name, stolen)
		}
	}
}

// TestBounds holds that an answer that is too large is an error, and that the beginning of a refusal is enough.
func TestBounds(t *testing.T) {
	status := http.StatusOK
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(status)
		fmt.Fprint(w, strings.Repeat("x", 100_000))
	}))
	defer srv.Close()
	cs := connect(t, Options{Source: "testdata/issues.json", Base: srv.URL, MaxResponse: 50_000})
	call := func() string {
		res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "issues_list_2"})
		if err != nil || !res.IsError {
			t.Fatalf("call: %v %v", err, res)
		}
		return res.Content[0].(*mcp.TextContent).Text
	}
	if got := call(); !strings.Contains(got, "larger than 50000 bytes") {
		t.Errorf("large answer: %.200s", got)
	}
	status = http.StatusInternalServerError
	if got := call(); !strings.HasPrefix(got, "HTTP 500") || len(got) > 5000 {
		t.Errorf("large refusal of %d: %.200s", len(got), got)
	}
}

// TestLarge converts a description of many operations whose schemas refer to each other in circles, with a description
// beside each reference.
func TestLarge(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"openapi":"3.1.0","info":{"title":"x","version":"1"},"servers":[{"url":"https://x.example"}],"paths":{`)
	const n = 400
	for i := range n {
		fmt.Fprintf(&b, `%s"/p%d/{id}":{"post":{"description":%q,"requestBody":{"required":true,"content":{"application/json":
			{"schema":{"$ref":"#/components/schemas/s%d"}}}},"responses":{}}}`, map[bool]string{true: ","}[i > 0], i,
			strings.Repeat("word ", 200), i%100)
	}
	b.WriteString(`},"components":{"schemas":{`)
	for i := range 100 {
		fmt.Fprintf(&b, `%s"s%d":{"type":"object","properties":{"p":{"type":"string"}`, map[bool]string{true: ","}[i > 0], i)
		for j := range 20 {
			fmt.Fprintf(&b, `,"p%d":{"$ref":"#/components/schemas/s%d","description":"number %d"}`, j, (i*7+j)%100, j)
		}
		b.WriteString("}}")
	}
	b.WriteString("}}}")
	api, err := Options{Transport: func(*url.URL) http.RoundTripper { return nil }}.parse([]byte(b.String()), nil)
	if err != nil {
		t.Fatal(err)
	}
	if api.Tools() != n {
		t.Errorf("%d tools", api.Tools())
	}
	for _, one := range api.operations {
		if len(one.schema) > maxSchema {
			t.Fatalf("%s has a schema of %d bytes", one.name, len(one.schema))
		}
	}
}

// FuzzOpen holds that no description makes the conversion fail in another way than by an error, that each tool has a
// name and a schema that clients take, and that arguments of any kind make a request to the API's own host or none.
func FuzzOpen(f *testing.F) {
	for _, file := range []string{"issues.json", "payments.yaml", "photos.yaml"} {
		data, err := os.ReadFile("testdata/" + file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, `{"owner":"a","repo":"..","ids":["x"],"name":"/"}`)
	}
	f.Fuzz(func(t *testing.T, data []byte, arguments string) {
		o := Options{Base: "https://x.example/v1", Transport: func(*url.URL) http.RoundTripper { return nil }}
		api, err := o.parse(data, nil)
		if err != nil {
			if tool.CodeOf(err) != tool.Invalid {
				t.Fatal(err)
			}
			return
		}
		given := map[string]json.RawMessage{}
		_ = json.Unmarshal([]byte(arguments), &given)
		seen := map[string]bool{}
		for _, one := range api.operations {
			if seen[one.name] || one.name == "" || len(one.name) > maxName || cleanName(one.name, maxName) != one.name {
				t.Fatalf("name %q", one.name)
			}
			seen[one.name] = true
			var schema map[string]any
			if err := json.Unmarshal(one.schema, &schema); err != nil || schema["type"] != "object" {
				t.Fatalf("schema %s", one.schema)
			}
			req, err := api.request(t.Context(), one, given)
			if err == nil && req.URL.Host != "x.example" {
				t.Fatalf("request to %s", req.URL)
			}
		}
	})
}
