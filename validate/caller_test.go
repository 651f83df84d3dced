package validate

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tooldex/tool"
)

// upstream is a Caller that keeps the calls that reach it, and a Catalog of one set.
type upstream struct {
	set   *tool.Set
	calls []tool.Call
}

func (u *upstream) Set() *tool.Set { return u.set }

func (u *upstream) Call(_ context.Context, c tool.Call) (*tool.CallResult, error) {
	u.calls = append(u.calls, c)
	return &tool.CallResult{}, nil
}

func TestCaller(t *testing.T) {
	tools := []*tool.Tool{{
		Server: "files", Name: "edit",
		InputSchema: json.RawMessage(`{"type":"object","required":["path"],"properties":{"path":{"type":"string"},` +
			`"edits":{"type":"array","items":{"type":"object","properties":{"old":{"type":"string"}}}}},"additionalProperties":false}`),
	}, {Server: "files", Name: "loose", InputSchema: json.RawMessage(`{"type":`)}, {Server: "files", Name: "bare"}}
	for name, c := range map[string]struct {
		id    tool.ID
		args  string
		field string
		want  string // the message; "" if the call is passed on
	}{
		"fits":                {"files/edit", `{"path":"a"}`, "", ""},
		"lacks":               {"files/edit", `{}`, "", "arguments of edit do not fit: path missing, but required"},
		"no arguments":        {"files/edit", ``, "", "arguments of edit do not fit: path missing, but required"},
		"of another type":     {"files/edit", `{"path":7}`, "path", `arguments of edit do not fit: path: 7 has type "integer", want "string"`},
		"inside a list":       {"files/edit", `{"path":"a","edits":[{"old":[]}]}`, "edits[].old", `arguments of edit do not fit: edits[].old: [] has type "array", want "string"`},
		"misspelled":          {"files/edit", `{"paht":"a"}`, "", "arguments of edit do not fit: paht not known; path missing, but required"},
		"not an object":       {"files/edit", `[1]`, "", `arguments of edit do not fit: [1] has type "array", want "object"`},
		"not JSON":            {"files/edit", `{"path"`, "", "arguments of edit do not fit: is not JSON: unexpected end of JSON input"},
		"a schema of no use":  {"files/loose", `{"x":1}`, "", ""},
		"no schema":           {"files/bare", `{"x":1}`, "", ""},
		"a tool not in there": {"files/absent", `{"x":1}`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			up := &upstream{set: tool.NewSet(tools, "")}
			call := tool.Call{ID: c.id, Arguments: json.RawMessage(c.args)}
			_, err := NewCaller(up, up, &Schemas{}).Call(t.Context(), call)
			if c.want == "" {
				if err != nil || len(up.calls) != 1 || string(up.calls[0].Arguments) != c.args {
					t.Errorf("%v; upstream has %v, want the call as it was", err, up.calls)
				}
				return
			}
			var e *tool.Error
			var mismatch *Mismatch
			if !errors.As(err, &e) || !errors.As(err, &mismatch) || e.Code != tool.Invalid || e.Hint == "" {
				t.Fatalf("error %v, want an Invalid one with a hint and a Mismatch", err)
			}
			if diff := gocmp.Diff([]string{c.want, c.field}, []string{e.Msg, mismatch.Field}); diff != "" {
				t.Errorf("message and field (-want +got):\n%s", diff)
			}
			if len(up.calls) != 0 || string(mismatch.Schema) != string(tools[0].InputSchema) {
				t.Errorf("upstream has %v, schema %s", up.calls, mismatch.Schema)
			}
		})
	}
}

func TestCallerWithoutASet(t *testing.T) {
	up := &upstream{}
	if _, err := NewCaller(up, up, &Schemas{}).Call(t.Context(), tool.Call{ID: "a/b"}); err != nil || len(up.calls) != 1 {
		t.Errorf("%v, %d calls", err, len(up.calls))
	}
}
