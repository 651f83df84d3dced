package httpapi

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"
)

// outcome is a status other than 200 in the description of operations. problemOf decides which errors have it.
type outcome struct {
	status  int
	codes   []string // of the problem; none for an answer that is no error
	when    string
	headers map[string]string // beside those of every answer
	of      func(route) bool  // which operations may answer so; nil means all
}

// allOutcomes is the table of outcomes.
func allOutcomes() []outcome {
	guarded := func(r route) bool { return !isOpenPath(r.path) }
	sends := func(r route) bool { return r.method != http.MethodGet } // even if no body is wanted
	retryAfter := map[string]string{"Retry-After": "after how many seconds to try again"}
	return []outcome{
		{
			http.StatusNotModified, nil, "Unchanged since the version in If-None-Match.", nil,
			func(r route) bool { return r.method == http.MethodGet },
		},
		{http.StatusBadRequest, []string{"invalid"}, "The request is wrong, and what is wrong with it.", nil, guarded},
		{
			http.StatusUnauthorized,
			[]string{"unauthorized"},
			"A token is required, or the one sent is not valid.",
			map[string]string{"WWW-Authenticate": "what kind of token, and where to get one"},
			guarded,
		},
		{
			http.StatusForbidden,
			[]string{"denied"},
			"Not allowed: with this token, from this page, under this host name, or for a held or disabled tool.", nil, nil,
		},
		{
			http.StatusNotFound,
			[]string{"not_found"},
			"It does not exist, or your token cannot see it.", nil,
			func(r route) bool { return slices.Contains(namesSomething[:], r.id) },
		},
		{http.StatusRequestTimeout, []string{"timeout"}, "The body did not arrive in time.", nil, sends},
		{
			http.StatusConflict,
			[]string{"confirmation_required"},
			`A person has to confirm the call: "confirm": true says that one has.`, nil,
			func(r route) bool { return r.id == "callTool" },
		},
		{
			http.StatusPreconditionFailed,
			[]string{"precondition_failed"},
			"It has changed meanwhile.", nil,
			func(r route) bool { return r.id == "putPreferences" || r.id == "approve" },
		},
		{http.StatusRequestEntityTooLarge, []string{"too_large"}, "The body is larger than allowed.", nil, sends},
		{
			http.StatusUnsupportedMediaType,
			[]string{"unsupported_media_type"},
			"The body has no Content-Type: application/json.", nil,
			sends,
		},
		{
			http.StatusTooManyRequests,
			[]string{"rate_limited"},
			"Too many requests come from this address, or the quota of the token is used up.", retryAfter,
			nil,
		},
		{
			http.StatusInternalServerError,
			[]string{"internal"},
			"A fault of this program; the log has its cause.", nil,
			nil,
		},
		{
			http.StatusServiceUnavailable,
			[]string{"unavailable"},
			"Try later: the server is busy or stopping, or an upstream server does not run.",
			retryAfter, nil,
		},
		{http.StatusGatewayTimeout, []string{"timeout"}, "It took too long.", nil, guarded},
	}
}

// namesSomething are the operations whose path or body names a thing that may not exist.
var namesSomething = [...]string{
	"selectTools", "getPreferences", "putPreferences", "getTool", "callTool", "feedback", "startServer", "stopServer",
	"serverLog", "approve",
	"getOverlay", "putOverlay", "insight", "metrics", "getServer", "putServer", "deleteServer", "enableServer",
	"disableServer", "tryServer", "loginServer", "logoutServer", "audit", "access", "listCredentials", "putCredential",
	"deleteCredential", "getSkill",
}

// componentName is the outcome's name among the components.
func (o outcome) componentName() string { return strconv.Itoa(o.status) }

// describeOutcome returns the OpenAPI form of the outcome.
func (o outcome) describeOutcome(problem *jsonschema.Schema) content {
	out := content{Description: o.when}
	if len(o.codes) > 0 {
		out.Content = map[string]mediaType{"application/problem+json": {problem}}
	}
	for name, text := range o.headers {
		if out.Headers == nil {
			out.Headers = map[string]answerHeader{}
		}
		out.Headers[name] = answerHeader{text, &jsonschema.Schema{Type: "string"}}
	}
	return out
}
