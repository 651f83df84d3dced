package httpapi

import (
	"time"

	"github.com/labstack/echo/v4"

	"tooldex/access"
	"tooldex/tool"
)

// whoami is what a request may do, and on whose behalf it comes.
type whoami struct {
	Name     string `json:"name,omitempty" jsonschema:"whose token it is; left out where none is needed"`
	Profile  string `json:"profile,omitempty" jsonschema:"the only profile that the token is good for; all tools if left out"`
	ReadOnly bool   `json:"readOnly,omitempty" jsonschema:"nothing can be changed with it"`
	Guarded  bool   `json:"guarded" jsonschema:"requests need a token"`
	Version  string `json:"version" jsonschema:"of tooldex"`
}

// AccessReport lists who may use the service, and who does.
type AccessReport struct {
	Profiles []ProfileLine `json:"profiles" jsonschema:"of the configuration, by name"`
	Tokens   []access.Line `json:"tokens" jsonschema:"of the file of tokens, without their secrets"`
	Clients  []ClientLine  `json:"clients" jsonschema:"the open MCP sessions of this process; a client of revision 2026-07-28 has none"`
}

// ProfileLine is a profile as it is listed for people.
type ProfileLine struct {
	Name    string   `json:"name"`
	Servers []string `json:"servers,omitempty" jsonschema:"all if left out"`
	Mode    string   `json:"mode,omitempty" jsonschema:"what tools/list holds; that of the configuration if left out"`
	Tools   int      `json:"tools" jsonschema:"how many it has"`
}

// ClientLine is an open MCP session.
type ClientLine struct {
	Name     string    `json:"name,omitempty" jsonschema:"as the client calls itself"`
	Version  string    `json:"version,omitempty"`
	Who      string    `json:"who,omitempty" jsonschema:"whose token began it"`
	Profile  string    `json:"profile,omitempty"`
	Server   string    `json:"server,omitempty" jsonschema:"the only server whose tools it asked for"`
	Begun    time.Time `json:"begun"`
	LastUsed time.Time `json:"lastUsed"`
}

// People reports who may use the service. Its methods are safe for concurrent use.
type People interface {
	Report() (*AccessReport, error)
}

// Paths of what is told about tokens.
const (
	whoamiPath = "/api/whoami"
	accessPath = "/api/access"
)

// getWhoami answers GET /api/whoami.
func (s *Server) getWhoami(c echo.Context) error {
	if err := readQuery(c).done(); err != nil {
		return err
	}
	return writeJSON(c, whoami{
		Name: access.PrincipalOf(c.Request().Context()).Name, Profile: s.o.Profile, ReadOnly: s.o.ReadOnly,
		Guarded: s.needsToken(), Version: s.o.Version,
	})
}

// getAccess answers GET /api/access.
func (s *Server) getAccess(c echo.Context) error {
	if err := readQuery(c).done(); err != nil {
		return err
	}
	if s.o.People == nil {
		return &tool.Error{
			Code: tool.NotFound, Op: "access", Msg: "who has access cannot be seen here",
			Hint: "it needs a token without a profile",
		}
	}
	report, err := s.o.People.Report()
	if err != nil {
		return err
	}
	report.Profiles, report.Tokens = orEmpty(report.Profiles), orEmpty(report.Tokens)
	report.Clients = orEmpty(report.Clients)
	return writeJSON(c, report)
}
