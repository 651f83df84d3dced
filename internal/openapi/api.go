package openapi

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"tooldex/tool"
)

// maxDescription is the size in bytes of the largest description that is read. The largest public ones have 10 to 20
// MB.
const maxDescription = 64 << 20

// Options say where a description lies and how its operations are called.
type Options struct {
	Server string // the name of the server, for errors
	Source string // a file, or an http or https address
	Base   string // the address of the API; "" means what the description says
	// Auth has the value for each security scheme of the description: a key, a token, or user:password. They are sent
	// only with operations that ask for them.
	Auth    map[string]string
	Headers map[string]string // sent with every request to the API
	// Tags and Paths restrict which operations become tools: those with one of the tags, if there are any, and those
	// that fit one of the patterns, if there are any. A pattern is a path, or a method and a path; a star stands for any
	// characters.
	Tags, Paths []string
	// Transport returns how to reach a host. home is the address that a person wrote down; nil if nobody did. Nil means
	// http.DefaultTransport.
	Transport func(home *url.URL) http.RoundTripper
	// MaxResponse bounds the body of a response, in bytes. Zero means 16 MiB.
	MaxResponse int64
	// Redact hides secrets in texts that a model reads. Nil changes nothing.
	Redact func(string) string
}

// API is a described API with its operations. It is safe for concurrent use.
type API struct {
	o          Options
	title      string
	about      string
	base       *url.URL
	client     *http.Client
	schemes    openapi3.SecuritySchemes
	operations []*operation
}

// Open reads a description and converts its operations. Errors are of code Invalid if the description or the options
// are wrong, and Unavailable if it cannot be fetched.
func Open(ctx context.Context, o Options) (*API, error) {
	if o.MaxResponse == 0 {
		o.MaxResponse = 16 << 20
	}
	if o.Redact == nil {
		o.Redact = func(s string) string { return s }
	}
	if o.Transport == nil {
		o.Transport = func(*url.URL) http.RoundTripper { return http.DefaultTransport }
	}
	at := remoteAddress(o.Source)
	data, err := o.read(ctx, at)
	if err != nil {
		return nil, err
	}
	return o.parse(data, at)
}

// remoteAddress returns the address of a description that lies elsewhere, nil for a file.
func remoteAddress(source string) *url.URL {
	u, err := url.Parse(source)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil
	}
	return u
}

// IsRemote reports whether a source is an address and no file.
func IsRemote(source string) bool { return remoteAddress(source) != nil }

// read returns the bytes of the description, from a file if at is nil.
func (o *Options) read(ctx context.Context, at *url.URL) ([]byte, error) {
	if at != nil {
		return o.fetch(ctx, at)
	}
	f, err := os.Open(o.Source)
	if err != nil {
		return nil, o.invalid("its description cannot be read", "correct the path in openapi", err)
	}
	defer func() { _ = f.Close() }()
	return o.readAll(f)
}

// fetch returns the bytes of a description that lies elsewhere.
func (o *Options) fetch(ctx context.Context, at *url.URL) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, o.invalid("the address of its description is wrong", "correct openapi", err)
	}
	req.Header.Set("Accept", "application/json, application/yaml, */*;q=0.1")
	resp, err := (&http.Client{Transport: o.Transport(at)}).Do(req)
	if err != nil {
		return nil, o.unreachable(fmt.Sprintf("its description at %s cannot be fetched", at.Host), err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, o.unreachable(fmt.Sprintf("its description at %s was answered with %s", at.Host, resp.Status), nil)
	}
	return o.readAll(resp.Body)
}

// readAll reads a description, up to its largest size.
func (o *Options) readAll(from io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(from, maxDescription+1))
	if err != nil {
		return nil, o.unreachable("its description cannot be read", err)
	}
	if len(data) > maxDescription {
		return nil, o.invalid(fmt.Sprintf("its description is larger than %d MiB", maxDescription>>20),
			"remove what is not needed from a copy of it", nil)
	}
	return data, nil
}

// parse converts a description. at is nil for a file.
func (o Options) parse(data []byte, at *url.URL) (*API, error) {
	doc, err := o.load(data)
	if err != nil {
		return nil, err
	}
	a := &API{o: o}
	if doc.Info != nil {
		a.title, a.about = doc.Info.Title, doc.Info.Description
	}
	if doc.Components != nil {
		a.schemes = doc.Components.SecuritySchemes
	}
	if a.base, err = o.baseAddress(doc.Servers, at); err != nil {
		return nil, err
	}
	if err := o.checkCredentials(a, at); err != nil {
		return nil, err
	}
	home := at
	if o.Base != "" {
		home = a.base
	}
	a.client = &http.Client{Transport: o.Transport(home), CheckRedirect: checkRedirect}
	if a.operations, err = o.convert(doc, a.base, at); err != nil {
		return nil, err
	}
	return a, nil
}

// load parses a description and resolves what it refers to in itself.
func (o *Options) load(data []byte) (doc *openapi3.T, err error) {
	const elsewhere = "make one file of it, for example with: npx @redocly/cli bundle"
	defer func() {
		if r := recover(); r != nil { // the parser of a nonsense file
			doc, err = nil, o.invalid("its description cannot be read", "check it with a validator of OpenAPI",
				fmt.Errorf("%v", r))
		}
	}()
	loader := openapi3.NewLoader() // which refuses to read what lies elsewhere
	doc, err = loader.LoadFromData(data)
	switch {
	case err != nil && strings.Contains(err.Error(), "external reference"):
		return nil, o.invalid("its description refers to another file", elsewhere, err)
	case err != nil:
		return nil, o.invalid("its description is no OpenAPI description that can be read",
			"check it with a validator of OpenAPI", shorten(err))
	case doc.OpenAPI == "" && doc.Extensions["swagger"] != nil:
		return nil, o.invalid(fmt.Sprintf("its description is of Swagger %v", doc.Extensions["swagger"]),
			"convert it to OpenAPI 3, for example with: npx swagger2openapi", nil)
	case !strings.HasPrefix(doc.OpenAPI, "3."):
		return nil, o.invalid("its description does not say openapi: 3.x", "give a description of OpenAPI 3.0 or 3.1", nil)
	}
	return doc, nil
}

// shorten bounds the text of an error of the parser, which may quote the file.
func shorten(err error) error {
	text := err.Error()
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + "…"
	}
	return fmt.Errorf("%s", text)
}

// invalid returns an error about the description or the options.
func (o *Options) invalid(msg, hint string, err error) error {
	return &tool.Error{
		Code: tool.Invalid, Op: "read description", Msg: fmt.Sprintf("server %q: %s", o.Server, msg), Hint: hint, Err: err,
	}
}

// unreachable returns an error about a description that cannot be fetched.
func (o *Options) unreachable(msg string, err error) error {
	return &tool.Error{
		Code: tool.Unavailable, Op: "read description", Msg: fmt.Sprintf("server %q: %s", o.Server, msg),
		Hint: "look whether the address in openapi is right and answers", Err: withoutAddress(err),
	}
}
