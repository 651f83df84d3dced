package trace

import (
	"context"
	"net/http"

	"tooldex/tool"
)

// Request begins the span of a request that was received, below the span that its traceparent names. The context is for
// what is done for the request. The function ends the span and must be called once; route is the pattern of the path,
// and may be "".
func (t *Tracer) Request(r *http.Request) (context.Context, func(route string, status int)) {
	ctx := r.Context()
	if t == nil {
		return ctx, func(string, int) {}
	}
	if p, ok := parseParent(r.Header.Get("Traceparent")); ok {
		ctx = context.WithValue(ctx, under{}, p)
	}
	ctx, s := t.startSpan(ctx, serverKind, r.Method)
	s.setAttribute("http.request.method", r.Method)
	return ctx, func(route string, status int) {
		if s == nil {
			return
		}
		if route != "" {
			s.name += " " + route
			s.setAttribute("http.route", route)
		}
		s.setAttribute("http.response.status_code", status)
		// As OpenTelemetry defines it for servers: a client's mistake is no failure of the server's span.
		if status >= http.StatusInternalServerError {
			s.failed = http.StatusText(status)
		}
		s.endSpan(nil)
	}
}

// Searcher returns a Searcher that passes queries on to next, each in a span with the number of tools found. With a nil
// Tracer it returns next itself.
func (t *Tracer) Searcher(next tool.Searcher) tool.Searcher {
	if t == nil {
		return next
	}
	return searcher{t, next}
}

// searcher makes a span of each search. The query itself is not recorded.
type searcher struct {
	tracer *Tracer
	next   tool.Searcher
}

// Search implements tool.Searcher.
func (s searcher) Search(ctx context.Context, q tool.Query) (*tool.Result, error) {
	ctx, span := s.tracer.startSpan(ctx, internalKind, "search")
	res, err := s.next.Search(ctx, q)
	if res != nil {
		span.setAttribute("tooldex.tools", len(res.Tools))
		span.setAttribute("tooldex.confident", res.Confident)
		span.setAttribute("tooldex.degraded", res.Degraded != "")
	}
	span.endSpan(err)
	return res, err
}

// Caller returns a Caller that passes calls on to next, each in a span with the names of tool and server. A tool error
// fails the span. With a nil Tracer it returns next itself.
func (t *Tracer) Caller(next tool.Caller) tool.Caller {
	if t == nil {
		return next
	}
	return caller{t, next}
}

// caller makes a span of each call.
type caller struct {
	tracer *Tracer
	next   tool.Caller
}

// Call implements tool.Caller.
func (c caller) Call(ctx context.Context, call tool.Call) (*tool.CallResult, error) {
	ctx, span := c.tracer.startSpan(ctx, clientKind, "tools/call "+call.ID.Name())
	span.setAttribute("gen_ai.tool.name", call.ID.Name())
	span.setAttribute("tooldex.server", call.ID.Server())
	res, err := c.next.Call(ctx, call)
	// A tool error is no Go error, so endSpan would not see it.
	if span != nil && res != nil && res.IsError {
		span.failed = "tool_error"
		span.setAttribute("error.type", span.failed)
	}
	span.endSpan(err)
	return res, err
}
