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

// routerPath returns the path for the router. An ID may hold slashes, so it takes all that follows; the name of a
// server holds none.
func (r route) routerPath() string {
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
	return append([]route{
		getRoute("/search", "search", "Find tools by what they do", s.getSearch).
			withQuery(searchParams).withAnswer(typeOf[tool.Result]()),
		postRoute("/search", "searchJSON", "Find tools by what they do", s.postSearch).
			withBody(typeOf[searchRequest]()).withAnswer(typeOf[tool.Result]()),
		getRoute("/api/tools/search", "searchTools", "Find tools by what they do", s.getSearch).
			withQuery(searchParams).withAnswer(typeOf[tool.Result]()),
		postRoute("/api/tools/search", "searchToolsJSON", "Find tools by what they do", s.postSearch).
			withBody(typeOf[searchRequest]()).withAnswer(typeOf[tool.Result]()),
		getRoute("/api/tools", "listTools", "List tools, page by page", s.listTools).
			withQuery(listParams).withAnswer(typeOf[toolList]()),
		getRoute("/api/tools/categories", "listCategories", "Count tools by category and server", s.listCategories).
			withAnswer(typeOf[categoryList]()),
		postRoute("/api/tools/select", "selectTools", "Choose the tools for a message", s.selectTools).
			withBody(typeOf[selectRequest]()).withAnswer(typeOf[selection.Selection]()),
		getRoute(preferencesPath, "getPreferences", "The preferences of a profile; the ETag is their version",
			s.getPreferences).
			withQuery(profileParams).withAnswer(typeOf[selection.Preferences]()),
		putRoute(preferencesPath, "putPreferences", "Replace the preferences of a profile", s.putPreferences).
			withQuery(putPreferencesParams).withBody(typeOf[selection.Preferences]()).withAnswer(typeOf[selection.Preferences]()),
		getRoute("/api/tools/{id}", "getTool", "Everything about one tool", s.getTool).withAnswer(typeOf[toolPage]()),
		postRoute("/api/tools/{id}"+callSuffix, "callTool", "Call a tool; the answer is its MCP result", s.callTool).
			withBody(typeOf[callRequest]()),
		postRoute("/api/feedback", "feedback", "Say that a tool was right for a request, or wrong", s.postFeedback).
			withBody(typeOf[feedbackRequest]()).withAnswer(typeOf[health]()),
		getRoute("/api/servers", "listServers", "The state of the upstream servers", s.listServers).
			withAnswer(typeOf[serverList]()),
		postRoute("/api/servers/{server}"+startSuffix, "startServer", "Start a server and wait until it runs",
			s.startServer).
			withAnswer(typeOf[health]()),
		postRoute("/api/servers/{server}/stop", "stopServer", "Stop a server until it is needed again", s.stopServer).
			withAnswer(typeOf[health]()),
		getRoute("/api/servers/{server}/log", "serverLog", "What a server printed last, and what happened to it",
			s.getServerLog).
			withAnswer(typeOf[serverLog]()),
		getRoute(serversPath+"{server}", "getServer", "The configuration of a server, without its secrets", s.getServer).
			withAnswer(typeOf[ServerSettings]()),
		putRoute(serversPath+"{server}", "putServer", "Add a server or change it; it is not started", s.putServer).
			withQuery(createParams).withBody(typeOf[ServerSettings]()).withAnswer(typeOf[savedServer]()),
		deleteRoute(serversPath+"{server}", "deleteServer", "Remove a server and its tools", s.deleteServer).
			withAnswer(typeOf[health]()),
		postRoute(serversPath+"{server}/enable", "enableServer", "Enable a server and its tools", s.enableServer).
			withAnswer(typeOf[health]()),
		postRoute(serversPath+"{server}/disable", "disableServer", "Stop a server and disable its tools", s.disableServer).
			withAnswer(typeOf[health]()),
		postRoute(serversPath+"{server}"+trySuffix, "tryServer", "Start a server once, with what it prints; nothing is stored",
			s.tryServer).
			withBody(typeOf[ServerSettings]()).withAnswer(typeOf[ServerTrial]()),
		postRoute(serversPath+"{server}/login", "loginServer", "Begin a login to a server that asks for one", s.loginServer).
			withAnswer(typeOf[loginStart]()),
		postRoute(serversPath+"{server}/logout", "logoutServer", "Forget the login to a server", s.logoutServer).
			withAnswer(typeOf[health]()),
		getRoute(quarantinePath, "quarantine", "Tools that are held, or suspicious, and why", s.listQuarantine).
			withAnswer(typeOf[ReviewList]()),
		postRoute(quarantinePath+"/approve", "approve", "Approve tools in the form that was shown", s.approveTools).
			withBody(typeOf[approveRequest]()).withAnswer(typeOf[ReviewList]()),
		getRoute(overlaysPath+"{id}", "getOverlay", "What people added to a tool", s.getOverlay).
			withAnswer(typeOf[ToolOverlay]()),
		putRoute(overlaysPath+"{id}", "putOverlay", "Replace what people added to a tool", s.putOverlay).
			withBody(typeOf[ToolOverlay]()).withAnswer(typeOf[ToolOverlay]()),
		getRoute(insightsPath+"{id}", "insight", "How a tool is found, and what is near it", s.getInsight).
			withAnswer(typeOf[ToolInsight]()),
	}, s.reportRoutes()...)
}

// reportRoutes are the operations on users, records and the process itself.
func (s *Server) reportRoutes() []route {
	return []route{
		getRoute(credentialsPath, "listCredentials", "What servers want of their users, and what is stored of yours",
			s.listCredentials).
			withQuery(listCredentialParams).withAnswer(typeOf[credentialList]()),
		putRoute(credentialsPath+"/{server}", "putCredential", "Store a credential of yours for a server", s.putCredential).
			withBody(typeOf[storeCredential]()).withAnswer(typeOf[health]()),
		postRoute(credentialsPath+"/{server}/login", "beginLogin", "Begin a login of yours to a server, in a browser", s.postLogin).
			withBody(typeOf[beginLogin]()).withAnswer(typeOf[begunLogin]()),
		deleteRoute(credentialsPath+"/{server}", "deleteCredential", "Remove credentials for a server", s.deleteCredential).
			withQuery(removeCredentialParams).withAnswer(typeOf[removedCredentials]()),
		getRoute(skillsPath, "listSkills", "List skills, which are read and never called", s.listSkills).
			withAnswer(typeOf[skillList]()),
		getRoute(skillsPath+"/{id}", "getSkill", "A skill by its name, or a file of it by NAME/PATH", s.getSkill).
			withAnswer(typeOf[skillPage]()),
		getRoute(auditPath, "audit", "Who called which tool, and with what outcome", s.getRecords).
			withQuery(auditParams).withAnswer(typeOf[recordList]()),
		getRoute(whoamiPath, "whoami", "Whose token this is, and what it is good for", s.getWhoami).
			withAnswer(typeOf[whoami]()),
		getRoute(accessPath, "access", "Profiles, tokens and connected clients", s.getAccess).
			withAnswer(typeOf[AccessReport]()),
		getRoute("/api/metrics", "metrics", "What was done in a window of time", s.getMetrics).
			withQuery(metricsParams).withAnswer(typeOf[metrics.Metrics]()),
		getRoute("/healthz", "health", "Whether the process runs", s.getHealth).withAnswer(typeOf[health]()),
		getRoute("/readyz", "ready", "Whether it can answer", s.getReadiness).withAnswer(typeOf[readiness]()),
		getRoute("/openapi.json", "describe", "This description", s.getDescription),
	}
}

// getRoute, postRoute, putRoute and deleteRoute return a route without parameters, body and answer.
func getRoute(path, id, summary string, handle echo.HandlerFunc) route {
	return route{method: http.MethodGet, path: path, id: id, summary: summary, handle: handle}
}

func postRoute(path, id, summary string, handle echo.HandlerFunc) route {
	return route{method: http.MethodPost, path: path, id: id, summary: summary, handle: handle}
}

func putRoute(path, id, summary string, handle echo.HandlerFunc) route {
	return route{method: http.MethodPut, path: path, id: id, summary: summary, handle: handle}
}

func deleteRoute(path, id, summary string, handle echo.HandlerFunc) route {
	return route{method: http.MethodDelete, path: path, id: id, summary: summary, handle: handle}
}

// withQuery returns r with the parameters that its handler reads.
func (r route) withQuery(params []param) route {
	r.params = params
	return r
}

// withBody returns r with the type of its request's body.
func (r route) withBody(body reflect.Type) route {
	r.body = body
	return r
}

// withAnswer returns r with the type of its answer.
func (r route) withAnswer(answer reflect.Type) route {
	r.answer = answer
	return r
}

// typeOf is reflect.TypeFor, shorter for the table.
func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

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

// The panel is one page at the root, and the files it consists of.
const (
	panelPage  = "/"
	panelFiles = "/panel/"
)

// mountPanel adds the routes of the panel, if there is one.
func (s *Server) mountPanel() {
	if s.o.Panel == nil {
		return
	}
	h := echo.WrapHandler(s.o.Panel)
	for _, path := range []string{panelPage, panelFiles + "*"} {
		s.echo.GET(path, h)
		s.echo.HEAD(path, h)
	}
}

// isPanelPath reports whether a path is the panel's. Its files are the same for all, and its script asks for the token.
func (s *Server) isPanelPath(path string) bool {
	return s.o.Panel != nil && (path == panelPage || strings.HasPrefix(path, panelFiles))
}
