package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/dop251/goja"

	"tooldex/tool"
)

// serverNames is the object tools of a program: its properties are servers, and theirs are tools. Nothing is looked up
// before a call. Servers cannot be listed, only called: search is the way to find tools.
type serverNames struct{ r *run }

// Get implements goja.DynamicObject.
func (s serverNames) Get(server string) goja.Value {
	return s.r.vm.NewDynamicObject(toolNames{serverNames: s, server: server})
}

// Set implements goja.DynamicObject.
func (serverNames) Set(string, goja.Value) bool { return false }

// Has implements goja.DynamicObject.
func (serverNames) Has(string) bool { return true }

// Delete implements goja.DynamicObject.
func (serverNames) Delete(string) bool { return false }

// Keys implements goja.DynamicObject.
func (serverNames) Keys() []string { return nil }

// toolNames is one server of it.
type toolNames struct {
	serverNames
	server string
}

// Get implements goja.DynamicObject.
func (t toolNames) Get(name string) goja.Value {
	r := t.r
	return r.vm.ToValue(func(c goja.FunctionCall) goja.Value {
		what := "tools." + t.server + "." + name
		args := json.RawMessage("{}")
		if given := c.Argument(0); !goja.IsUndefined(given) {
			out, err := r.stringify(goja.Undefined(), given)
			if err != nil {
				panic(err)
			}
			args = json.RawMessage(out.String())
		}
		return r.reach(what, func() (json.RawMessage, error) {
			raw, err := r.host.Call(r.ctx, t.server, name, args)
			if err != nil {
				return nil, err
			}
			return resultValue(raw)
		})
	})
}

// search finds tools for a program.
func (r *run) search(query string, limit int) goja.Value {
	return r.reach("search", func() (json.RawMessage, error) { return r.host.Search(r.ctx, query, limit) })
}

// describe describes a tool to a program.
func (r *run) describe(name string) goja.Value {
	return r.reach("describe", func() (json.RawMessage, error) {
		text, err := r.host.Describe(r.ctx, name)
		if err != nil {
			return nil, err
		}
		return json.Marshal(text)
	})
}

// reach makes one call to the host, and returns its result as a value of the program. It throws its errors.
func (r *run) reach(what string, call func() (json.RawMessage, error)) goja.Value {
	if r.calls++; r.calls > r.l.Calls {
		// The interrupt reaches the program as soon as this function returns.
		r.vm.Interrupt(invalid(fmt.Sprintf("the script made more than %d calls", r.l.Calls), "do less in one script"))
		return goja.Undefined()
	}
	// Time in the host counts towards Total only, not towards the program's own time.
	r.watch.pause()
	raw, err := call()
	r.watch.resume()
	if err != nil && r.ctx.Err() != nil {
		// The watch interrupts too, but perhaps only after the program has gone on with the error.
		r.vm.Interrupt(r.l.endReason(r.ctx))
		return goja.Undefined()
	}
	if err != nil {
		r.throw(what, err)
	}
	// counted after the call, since a result's size is not known before
	if r.results += len(raw); r.results > r.l.Results {
		r.vm.Interrupt(invalid(fmt.Sprintf("the calls brought more than %d bytes", r.l.Results), "ask for less"))
		return goja.Undefined()
	}
	r.checkNesting(string(raw))
	value, err := r.parse(goja.Undefined(), r.vm.ToValue(string(raw)))
	if err != nil {
		r.throw(what, err)
	}
	return value
}

// throw throws an error that names what failed and where.
func (r *run) throw(what string, err error) {
	text := "internal error"
	var known *tool.Error
	var failed toolFailure
	switch {
	case errors.As(err, &failed):
		text = clip(string(failed))
	// internal errors may contain paths and addresses
	case errors.As(err, &known) && known.Code != tool.Internal:
		text = known.Code.String() + ": " + known.Msg
		if known.Hint != "" {
			text += " (" + known.Hint + ")"
		}
	}
	made, newErr := r.vm.New(r.vm.Get("Error"), r.vm.ToValue(what+": "+clip(text)))
	if newErr != nil {
		panic(newErr)
	}
	panic(made)
}

// toolFailure is the text of a result that says that the tool failed.
type toolFailure string

// Error implements error.
func (f toolFailure) Error() string { return string(f) }

// resultValue returns the value of a tool's result, as JSON: the structured content, or the text, as JSON where it is
// an object or a list. A result with something else than text is returned as its content.
func resultValue(raw json.RawMessage) (json.RawMessage, error) {
	var res struct {
		Structured json.RawMessage `json:"structuredContent"`
		Content    json.RawMessage `json:"content"`
		IsError    bool            `json:"isError"`
	}
	if err := json.Unmarshal(raw, &res); err != nil {
		return nil, fmt.Errorf("read result: %w", err)
	}
	text, only := contentText(res.Content)
	switch {
	case res.IsError:
		return nil, toolFailure(text)
	case len(res.Structured) > 0 && !bytes.Equal(res.Structured, []byte("null")):
		return res.Structured, nil
	case !only:
		return res.Content, nil
	}
	if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[") {
		if json.Valid([]byte(trimmed)) {
			return json.RawMessage(trimmed), nil
		}
	}
	return json.Marshal(text)
}

// contentText joins the texts of a content, and reports whether there is nothing else.
func contentText(content json.RawMessage) (text string, only bool) {
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if len(content) > 0 && json.Unmarshal(content, &parts) != nil {
		return "", false
	}
	only = true
	var texts []string
	for _, p := range parts {
		only = only && p.Type == "text"
		if p.Type == "text" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n"), only
}
