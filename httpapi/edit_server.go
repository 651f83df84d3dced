package httpapi

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"tooldex/tool"
	"tooldex/upstream"
)

// ServerEditor changes which servers are configured. Its errors are *tool.Error: NotFound for an unknown server,
// Invalid for a server that could never be reached or that only the configuration file may change. Its methods are safe
// for concurrent use.
type ServerEditor interface {
	// Settings returns the configuration of a server without what may be secret.
	Settings(name string) (*ServerSettings, error)
	// SaveServer stores a configuration, in which values that Settings hides stay as they are, and starts nothing. With
	// create the error is Invalid if a server has the name already. It returns the places of secrets that are stored as
	// they are.
	SaveServer(ctx context.Context, name string, s *ServerSettings, create bool) (plain []string, err error)
	// RemoveServer removes a server and its tools.
	RemoveServer(ctx context.Context, name string) error
	// SwitchServer enables or disables a server and its tools.
	SwitchServer(ctx context.Context, name string, enabled bool) error
	// TryServer starts a server by itself, lists its tools and stops it. It stores nothing. A start that fails is no
	// error, but an answer.
	TryServer(ctx context.Context, name string, s *ServerSettings) (*ServerTrial, error)
	// Login begins a login and returns the address at which a person agrees to it, on the machine of this program.
	Login(ctx context.Context, name string) (address string, err error)
	// Logout forgets a login, if there is one.
	Logout(name string) error
}

// ServerSettings is the configuration of a server.
type ServerSettings struct {
	Transport    upstream.Transport `json:"type,omitempty" jsonschema:"stdio, http, sse or openapi; stdio with a command, openapi with openapi and http with a url if left out"`
	Command      string             `json:"command,omitempty"`
	Args         []string           `json:"args,omitempty" jsonschema:"secrets among them are shown as ***"`
	Env          map[string]string  `json:"env,omitempty" jsonschema:"variables of the command; values other than references such as ${TOKEN} are shown as ***"`
	Dir          string             `json:"cwd,omitempty" jsonschema:"the folder in which the command runs"`
	URL          string             `json:"url,omitempty"`
	OpenAPI      string             `json:"openapi,omitempty" jsonschema:"the file or the address of an OpenAPI description; url is then the API"`
	Headers      map[string]string  `json:"headers,omitempty" jsonschema:"of each request to the url; values other than references such as Bearer ${TOKEN} are shown as ***"`
	Disabled     bool               `json:"disabled,omitempty"`
	StartTimeout int                `json:"startTimeout,omitempty" jsonschema:"seconds; 0 for the general setting"`
	CallTimeout  int                `json:"timeout,omitempty" jsonschema:"seconds of one call; 0 for the general setting"`
	Eager        bool               `json:"eager,omitempty" jsonschema:"it is started before it is needed, and stays"`
	Roots        bool               `json:"roots,omitempty" jsonschema:"it may know the folders that clients work in"`
	// Isolate is what the command may reach. One that is left out stays as it is stored.
	Isolate *upstream.Isolation `json:"isolate,omitempty" jsonschema:"has the command run in bubblewrap, where it reaches what this names and nothing else; left out, it stays as it is"`

	// What follows is only answered, and ignored in requests.
	InFile bool   `json:"inFile,omitempty" jsonschema:"only answered: it is in the configuration file, and cannot be changed here"`
	Login  string `json:"login,omitempty" jsonschema:"only answered: done if there is a login, waiting while a person has to agree, or why the last one failed"`
}

// savedServer is the answer to a change of a server.
type savedServer struct {
	Status string   `json:"status" jsonschema:"ok"`
	Plain  []string `json:"plain,omitempty" jsonschema:"places of secrets that are stored as they are, such as env.TOKEN; a reference such as ${TOKEN} stores none"`
}

// ServerTrial is the outcome of a trial start.
type ServerTrial struct {
	OK     bool               `json:"ok" jsonschema:"it started and listed its tools"`
	Tools  []string           `json:"tools" jsonschema:"their names"`
	Error  string             `json:"error,omitempty"`
	Hint   string             `json:"hint,omitempty"`
	Millis float64            `json:"ms" jsonschema:"how long it took, in milliseconds"`
	Lines  []upstream.LogLine `json:"lines" jsonschema:"what it printed to standard error, and what happened to it; oldest first"`
}

// loginStart is the answer to the beginning of a login.
type loginStart struct {
	Visit string `json:"visit" jsonschema:"where a person agrees, in a browser on the machine of tooldex; the settings of the server say when it is done"`
}

const serversPath = "/api/servers/"

// trySuffix ends the paths of trial starts, which take as long as the server does.
const trySuffix = "/try"

// createParams are the parameters of a request that stores a server.
var createParams = []param{
	{name: "If-None-Match", in: "header", text: "*: only add; it is an error if a server has the name already", values: []any{"*"}},
}

// editedServer returns the name in a path that ends with suffix, or an error if servers cannot be changed here.
func (s *Server) editedServer(c echo.Context, suffix string) (string, error) {
	if err := readQuery(c).done(); err != nil {
		return "", err
	}
	path := strings.TrimPrefix(c.Request().URL.EscapedPath(), serversPath)
	name, err := url.PathUnescape(strings.TrimSuffix(path, suffix))
	if err != nil {
		return "", invalidField("the server", "is not escaped correctly")
	}
	if s.o.Editor == nil {
		return "", &tool.Error{Code: tool.NotFound, Op: "find server", Msg: "servers cannot be managed here"}
	}
	return name, nil
}

// getServer answers GET /api/servers/{server}.
func (s *Server) getServer(c echo.Context) error {
	name, err := s.editedServer(c, "")
	if err != nil {
		return err
	}
	settings, err := s.o.Editor.Settings(name)
	if err != nil {
		return err
	}
	return writeJSON(c, settings)
}

// putServer answers PUT /api/servers/{server}.
func (s *Server) putServer(c echo.Context) error {
	name, settings, err := s.readSettings(c, "")
	if err != nil {
		return err
	}
	create := c.Request().Header.Get("If-None-Match") == "*"
	plain, err := s.o.Editor.SaveServer(c.Request().Context(), name, settings, create)
	if err != nil {
		return err
	}
	return writeJSON(c, savedServer{"ok", plain})
}

// readSettings reads the name and the body of a request about a server.
func (s *Server) readSettings(c echo.Context, suffix string) (string, *ServerSettings, error) {
	name, err := s.editedServer(c, suffix)
	if err != nil {
		return "", nil, err
	}
	settings := &ServerSettings{}
	if err := readBody(c, settings); err != nil {
		return "", nil, err
	}
	if !slices.Contains([]upstream.Transport{"", upstream.Stdio, upstream.HTTP, upstream.SSE, upstream.OpenAPI}, settings.Transport) {
		return "", nil, invalidField("type", "is none of stdio, http, sse and openapi")
	}
	const day = 24 * 60 * 60
	if settings.StartTimeout < 0 || settings.StartTimeout > day || settings.CallTimeout < 0 || settings.CallTimeout > day {
		return "", nil, invalidField("a timeout", "is not between 0 and 86400 seconds")
	}
	return name, settings, nil
}

// deleteServer answers DELETE /api/servers/{server}.
func (s *Server) deleteServer(c echo.Context) error {
	return s.changeServer(c, "", func(ctx context.Context, name string) error {
		return s.o.Editor.RemoveServer(ctx, name)
	})
}

// enableServer answers POST /api/servers/{server}/enable.
func (s *Server) enableServer(c echo.Context) error {
	return s.changeServer(c, "/enable", func(ctx context.Context, name string) error {
		return s.o.Editor.SwitchServer(ctx, name, true)
	})
}

// disableServer answers POST /api/servers/{server}/disable.
func (s *Server) disableServer(c echo.Context) error {
	return s.changeServer(c, "/disable", func(ctx context.Context, name string) error {
		return s.o.Editor.SwitchServer(ctx, name, false)
	})
}

// logoutServer answers POST /api/servers/{server}/logout.
func (s *Server) logoutServer(c echo.Context) error {
	return s.changeServer(c, "/logout", func(_ context.Context, name string) error { return s.o.Editor.Logout(name) })
}

// changeServer answers an operation on one server that returns nothing.
func (s *Server) changeServer(c echo.Context, suffix string, change func(context.Context, string) error) error {
	name, err := s.editedServer(c, suffix)
	if err != nil {
		return err
	}
	if err := change(c.Request().Context(), name); err != nil {
		return err
	}
	return writeJSON(c, health{"ok"})
}

// tryServer answers POST /api/servers/{server}/try.
func (s *Server) tryServer(c echo.Context) error {
	name, settings, err := s.readSettings(c, trySuffix)
	if err != nil {
		return err
	}
	trial, err := s.o.Editor.TryServer(c.Request().Context(), name, settings)
	if err != nil {
		return err
	}
	trial.Tools, trial.Lines = orEmpty(trial.Tools), orEmpty(trial.Lines)
	return writeJSON(c, trial)
}

// loginServer answers POST /api/servers/{server}/login.
func (s *Server) loginServer(c echo.Context) error {
	const suffix = "/login"
	name, err := s.editedServer(c, suffix)
	if err != nil {
		return err
	}
	address, err := s.o.Editor.Login(c.Request().Context(), name)
	if err != nil {
		return err
	}
	return writeJSON(c, loginStart{address})
}
