package httpapi

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/labstack/echo/v4"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// Resource describes the service to authorization servers, as RFC 9728 defines it.
type Resource struct {
	URL     string   // at which clients reach the service, without /mcp
	Issuers []string // authorization servers whose tokens are accepted
	Scopes  []string // that tokens must have
}

// metadataPath begins the paths of descriptions; the path of the resource follows.
const metadataPath = "/.well-known/oauth-protected-resource"

// resourcePath matches the paths that are resources of their own: MCP, and MCP of a profile or a server, whether or not
// it exists.
var resourcePath = regexp.MustCompile(`^(|/(mcp|sse)(/(servers/)?[A-Za-z0-9][A-Za-z0-9._-]{0,63})?)$`)

// mountMetadata adds the routes of the descriptions, if Options.Resource is set.
func (s *Server) mountMetadata() {
	if s.o.Resource == nil {
		return
	}
	for _, path := range []string{metadataPath, metadataPath + "/*"} {
		s.echo.GET(path, s.resourceMetadata)
	}
}

// isMetadataPath reports whether a path is that of a description, which says where clients get a token.
func (s *Server) isMetadataPath(path string) bool {
	return s.o.Resource != nil && (path == metadataPath || strings.HasPrefix(path, metadataPath+"/"))
}

// resourceMetadata answers with the description of a resource.
func (s *Server) resourceMetadata(c echo.Context) error {
	r := s.o.Resource
	base, prefix := r.splitURL()
	path := strings.TrimPrefix(strings.TrimPrefix(c.Request().URL.Path, metadataPath), prefix)
	if !resourcePath.MatchString(path) {
		return echo.ErrNotFound
	}
	auth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{
		Resource: base + prefix + path, AuthorizationServers: r.Issuers, ScopesSupported: r.Scopes,
		BearerMethodsSupported: []string{"header"}, ResourceName: "tooldex",
	}).ServeHTTP(c.Response(), c.Request())
	return nil
}

// splitURL returns the origin of the service, and the path below which it lies there.
func (r *Resource) splitURL() (origin, prefix string) {
	u, err := url.Parse(r.URL)
	if err != nil {
		return "", ""
	}
	return u.Scheme + "://" + u.Host, strings.TrimSuffix(u.EscapedPath(), "/")
}

// metadataURL returns the URL of the description for a request to a path.
func (r *Resource) metadataURL(path string) string {
	base, prefix := r.splitURL()
	if !resourcePath.MatchString(path) {
		path = ""
	}
	return headerSafe(base + metadataPath + prefix + path)
}
