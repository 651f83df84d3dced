package httpapi

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"tooldex/tool"
)

// The paths by which clients discover the server before they connect, as SEP-2127 drafts it: its card, and the catalog
// of the domain, which says where the card is.
const (
	cardPath    = mcpPath + "/server-card"
	catalogPath = "/.well-known/mcp/catalog.json"

	cardType   = "application/mcp-server-card+json"
	cardSchema = "https://static.modelcontextprotocol.io/schemas/v2/server-card.schema.json"
)

// cardName is the form of a name of a card: a reversed domain, a slash, and a name.
var cardName = regexp.MustCompile(`^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`)

// checkCard returns an Invalid error for a name that a card cannot have.
func checkCard(name string) error {
	if name == "" || len(name) >= 3 && len(name) <= 200 && cardName.MatchString(name) {
		return nil
	}
	return &tool.Error{
		Code: tool.Invalid, Op: "serve", Msg: "serve.card cannot be " + quoteShort(name),
		Hint: "write the reversed name of your domain and a name, as in com.example/tools",
	}
}

// mountCard adds the routes of the card, if Options.Card is set.
func (s *Server) mountCard() {
	if s.o.Card != "" {
		s.echo.GET(cardPath, s.getCard)
		s.echo.GET(catalogPath, s.getCardCatalog)
	}
}

// readsCard reports whether a request reads a card, which everybody may do, from pages of any origin, too. Other methods
// of the card's path belong to MCP, which has a profile of that name there.
func (s *Server) readsCard(r *http.Request) bool {
	return s.o.Card != "" && r.Method == http.MethodGet && (r.URL.Path == cardPath || r.URL.Path == catalogPath)
}

// serverCard describes the server. It lists no tools, and nothing that a client with a token would not see.
type serverCard struct {
	Schema      string       `json:"$schema"`
	Name        string       `json:"name"`
	Version     string       `json:"version"`
	Title       string       `json:"title"`
	Description string       `json:"description"`
	Remotes     []cardRemote `json:"remotes"`
}

type cardRemote struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

// getCard answers with the card.
func (s *Server) getCard(c echo.Context) error {
	return writeDiscovery(c, cardType, serverCard{
		Schema: cardSchema, Name: s.o.Card, Version: s.o.Version, Title: "tooldex",
		Description: "Finds the right tool among those of many MCP servers, and calls it.",
		Remotes:     []cardRemote{{"streamable-http", s.publicURL(c.Request()) + mcpPath}},
	})
}

// cardCatalog is the catalog of a domain with one server.
type cardCatalog struct {
	SpecVersion string      `json:"specVersion"`
	Entries     []cardEntry `json:"entries"`
}

type cardEntry struct {
	Identifier  string `json:"identifier"`
	DisplayName string `json:"displayName"`
	Type        string `json:"type"`
	URL         string `json:"url"`
}

// getCardCatalog answers with the catalog.
func (s *Server) getCardCatalog(c echo.Context) error {
	domain, name, _ := strings.Cut(s.o.Card, "/")
	labels := strings.Split(domain, ".")
	slices.Reverse(labels)
	return writeDiscovery(c, echo.MIMEApplicationJSON, cardCatalog{"draft", []cardEntry{{
		"urn:air:" + strings.Join(labels, ".") + ":" + name, "tooldex", cardType, s.publicURL(c.Request()) + cardPath,
	}}})
}

// publicURL returns the address at which clients reach the service: that of Options.Resource, else the one of the
// request.
func (s *Server) publicURL(r *http.Request) string {
	if s.o.Resource != nil {
		return strings.TrimSuffix(s.o.Resource.URL, "/")
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + r.Host
}

// writeDiscovery writes a document that pages of all origins may read and caches keep for an hour.
func writeDiscovery(c echo.Context, mediaType string, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	tag := `"` + hex.EncodeToString(sum[:8]) + `"`
	h := c.Response().Header()
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Allow-Methods", http.MethodGet)
	h.Set("Access-Control-Allow-Headers", echo.HeaderContentType)
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Set("Cache-Control", "public, max-age=3600")
	h.Set("Vary", "Host")
	h.Set("ETag", tag)
	for known := range strings.SplitSeq(c.Request().Header.Get("If-None-Match"), ",") {
		if known = strings.TrimSpace(known); known == "*" || strings.TrimPrefix(known, "W/") == tag {
			return c.NoContent(http.StatusNotModified)
		}
	}
	return c.Blob(http.StatusOK, mediaType, body)
}
