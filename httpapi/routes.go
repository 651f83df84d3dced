package httpapi

import (
	"net/http"
	"reflect"
	"strings"

	"github.com/labstack/echo/v4"

	"tooldex/metrics"
	"tooldex/selection"
	"tooldex/tool"
)

// route is one operation: how it is served and how it is described.
type route struct {
	method  string
	path    string // as the description has it, with {id}
	id      string // of the operation
	summary string
	params  []param
	body    reflect.Type // of the request; nil if it has none
	answer  reflect.Type // nil if it is any JSON object
	handle  echo.HandlerFunc
}

// param is a parameter of a request.
type param struct {
	name, text string
	in         string // "" means the query, otherwise it is a header
	kind       string // its JSON type; "" means string
	list       bool   // may be given several times
	required   bool
	values     []any // all allowed values; nil if any
}

// pattern returns the path for the router. An ID may hold slashes, so it takes all that follows; the name of a server
// holds none.
func (r route) pattern() string {
	if before, after, found := strings.Cut(r.path, "{server}"); found {
		return before + ":server" + after
	}
	before, _, found := strings.Cut(r.path, "{id}")
	if found {
		return before + "*"
	}
	return r.path
}

// health is the answer of /healthz, and of operations that return nothing else.
type health struct {
	Status string `json:"status" jsonschema:"ok"`
}

// readiness is the answer of /readyz.
type readiness struct {
	Status   string   `json:"status" jsonschema:"ok"`
	Warnings []string `json:"warnings,omitempty" jsonschema:"what does not work, though requests are answered"`
}

// routes is the table of all operations but MCP's.
func (s *Server) routes() []route {
	result := reflect.TypeFor[tool.Result]()
	request := reflect.TypeFor[searchRequest]()
	return []route{
		{http.MethodGet, "/search", "search", "Find tools by what they do", searchParams, nil, result, s.getSearch},
		{http.MethodPost, "/search", "searchJSON", "Find tools by what they do", nil, request, result, s.postSearch},
		{
			http.MethodGet, "/api/tools/search", "searchTools", "Find tools by what they do", searchParams, nil, result,
			s.getSearch,
		},
		{
			http.MethodPost, "/api/tools/search", "searchToolsJSON", "Find tools by what they do", nil, request, result,
			s.postSearch,
		},
		{
			http.MethodGet, "/api/tools", "listTools", "List tools, page by page", listParams, nil,
			reflect.TypeFor[toolList](), s.listTools,
		},
		{
			http.MethodGet, "/api/tools/categories", "listCategories", "Count tools by category and server", nil, nil,
			reflect.TypeFor[categoryList](), s.listCategories,
		},
		{
			http.MethodPost, "/api/tools/select", "selectTools", "Choose the tools for a message",
			nil, reflect.TypeFor[selectRequest](), reflect.TypeFor[selection.Selection](), s.selectTools,
		},
		{
			http.MethodGet, preferencesPath, "getPreferences", "The preferences of a profile; the ETag is their version",
			profileParams, nil, reflect.TypeFor[selection.Preferences](), s.getPreferences,
		},
		{
			http.MethodPut, preferencesPath, "putPreferences", "Replace the preferences of a profile",
			putPreferencesParams, reflect.TypeFor[selection.Preferences](), reflect.TypeFor[selection.Preferences](),
			s.putPreferences,
		},
		{
			http.MethodGet, "/api/tools/{id}", "getTool", "Everything about one tool", nil, nil,
			reflect.TypeFor[toolPage](), s.getTool,
		},
		{
			http.MethodPost, "/api/tools/{id}" + callSuffix, "callTool", "Call a tool; the answer is its MCP result", nil,
			reflect.TypeFor[callRequest](), nil, s.callTool,
		},
		{
			http.MethodPost, "/api/feedback", "feedback", "Say that a tool was right for a request, or wrong", nil,
			reflect.TypeFor[feedbackRequest](), reflect.TypeFor[health](), s.postFeedback,
		},
		{
			http.MethodGet, "/api/servers", "listServers", "The state of the upstream servers", nil, nil,
			reflect.TypeFor[serverList](), s.listServers,
		},
		{
			http.MethodPost, "/api/servers/{server}" + startSuffix, "startServer", "Start a server and wait until it runs",
			nil, nil, reflect.TypeFor[health](), s.startServer,
		},
		{
			http.MethodPost, "/api/servers/{server}/stop", "stopServer", "Stop a server until it is needed again", nil,
			nil, reflect.TypeFor[health](), s.stopServer,
		},
		{
			http.MethodGet, "/api/servers/{server}/log", "serverLog",
			"What a server printed last, and what happened to it", nil, nil, reflect.TypeFor[serverLog](), s.getServerLog,
		},
		{
			http.MethodGet, quarantinePath, "quarantine", "Tools that are held, or suspicious, and why", nil, nil,
			reflect.TypeFor[ReviewList](), s.listQuarantine,
		},
		{
			http.MethodPost, quarantinePath + "/approve", "approve", "Approve tools in the form that was shown", nil,
			reflect.TypeFor[approveRequest](), reflect.TypeFor[ReviewList](), s.approveTools,
		},
		{
			http.MethodGet, overlaysPath + "{id}", "getOverlay", "What people added to a tool", nil, nil,
			reflect.TypeFor[ToolOverlay](), s.getOverlay,
		},
		{
			http.MethodPut, overlaysPath + "{id}", "putOverlay", "Replace what people added to a tool",
			nil, reflect.TypeFor[ToolOverlay](), reflect.TypeFor[ToolOverlay](), s.putOverlay,
		},
		{
			http.MethodGet, insightsPath + "{id}", "insight", "How a tool is found, and what is near it", nil, nil,
			reflect.TypeFor[ToolInsight](), s.getInsight,
		},
		{
			http.MethodGet, "/api/metrics", "metrics", "What was done in a window of time", metricsParams, nil,
			reflect.TypeFor[metrics.Metrics](), s.getMetrics,
		},
		{
			http.MethodGet, "/healthz", "health", "Whether the process runs", nil, nil, reflect.TypeFor[health](),
			s.getHealth,
		},
		{http.MethodGet, "/readyz", "ready", "Whether it can answer", nil, nil, reflect.TypeFor[readiness](), s.getReadiness},
		{http.MethodGet, "/openapi.json", "describe", "This description", nil, nil, nil, s.getDescription},
	}
}

// getHealth answers GET /healthz.
func (s *Server) getHealth(c echo.Context) error { return writeJSON(c, health{"ok"}) }

// getReadiness answers GET /readyz.
func (s *Server) getReadiness(c echo.Context) error {
	if s.o.Ready != nil {
		if err := s.o.Ready(c.Request().Context()); err != nil {
			return &tool.Error{Code: tool.Unavailable, Op: "ready", Msg: "not ready: " + err.Error(), Err: err}
		}
	}
	out := readiness{Status: "ok"}
	if s.o.Ailing != nil {
		out.Warnings = s.o.Ailing()
	}
	return writeJSON(c, out)
}

// getDescription answers GET /openapi.json.
func (s *Server) getDescription(c echo.Context) error {
	return writeJSONBytes(c, s.spec)
}
