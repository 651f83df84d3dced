package httpapi

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/labstack/echo/v4"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// Resource is what the service is to authorization servers, by RFC 9728.
type Resource struct {
	URL     string   // at which clients reach the service, without /mcp
	Issuers []string // of the authorization servers whose tokens are taken
	Scopes  []string // that tokens must have
}

// metadataPath is where the description of a resource begins; what follows is the path of the resource.
const metadataPath = "/.well-known/oauth-protected-resource"

// resourcePath is what lies here that is a resource of its own: MCP, and MCP of a profile, whether there is such a
// profile or not.
var resourcePath = regexp.MustCompile(`^(|/mcp|/mcp/[A-Za-z0-9][A-Za-z0-9._-]{0,63})$`)

// mountMetadata mounts the descriptions of the resources.
func (s *Server) mountMetadata() {
	if s.o.Resource == nil {
		return
	}
	for _, path := range []string{metadataPath, metadataPath + "/*"} {
		s.echo.GET(path, s.resourceMetadata)
	}
}

// isMetadataPath reports whether a path is that of a description, which tells those without a token where to get one.
func (s *Server) isMetadataPath(path string) bool {
	return s.o.Resource != nil && (path == metadataPath || strings.HasPrefix(path, metadataPath+"/"))
}

func (s *Server) resourceMetadata(c echo.Context) error {
	r := s.o.Resource
	base, prefix := r.split()
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

// split returns the origin of the service, and the path below which it lies there.
func (r *Resource) split() (origin, prefix string) {
	u, err := url.Parse(r.URL)
	if err != nil {
		return "", ""
	}
	return u.Scheme + "://" + u.Host, strings.TrimSuffix(u.EscapedPath(), "/")
}

// metadata is where the resource is described that a request to a path is for.
func (r *Resource) metadata(path string) string {
	base, prefix := r.split()
	if !resourcePath.MatchString(path) {
		path = ""
	}
	return headerSafe(base + metadataPath + prefix + path)
}
