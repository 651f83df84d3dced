package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"tooldex/internal/orderedjson"
	"tooldex/internal/sanitize"
	"tooldex/tool"
)

// The methods by which servers ask clients.
const (
	sampleMethod = "sampling/createMessage"
	elicitMethod = "elicitation/create"
	rootsMethod  = "roots/list"
)

// Bounds of what a server asks a person, so that the line that names the server stays in sight.
const (
	maxQuestion      = 4000 // characters
	maxQuestionLines = 40
)

// asker is a server as the author of questions.
type asker struct {
	server string
	roots  bool // it may know the client's roots
}

// noRoots answers a server that may not know the roots, and one without a client.
var noRoots = json.RawMessage(`{"roots":[]}`)

// ask puts a question of the server to a client, marked as the server's.
func (a asker) ask(ctx context.Context, c *tool.Client, method string, params json.RawMessage) (json.RawMessage, error) {
	if method == rootsMethod && !a.roots {
		return noRoots, nil
	}
	return c.Ask(ctx, method, a.mark(method, params))
}

// mark returns the parameters of a question with the server's name in them, and without control and hidden characters.
// A person's question begins with a line of ours, and each line of the server's own begins with ">", so that it looks
// like no question of tooldex. A request to a model names the server in the system prompt.
func (a asker) mark(method string, params json.RawMessage) json.RawMessage {
	o, err := orderedjson.ParseObject(sanitize.Strings(params))
	if err != nil {
		return params
	}
	text := func(key string) string {
		var s string
		raw, _ := o.Lookup(key)
		_ = json.Unmarshal(raw, &s) // what is no text is replaced
		return s
	}
	switch method {
	case elicitMethod:
		o = o.With("message", orderedjson.Encode(a.quote(text("message"))))
	case sampleMethod:
		said := fmt.Sprintf("The MCP server %s sends this request. It does not come from the user, or from tooldex.", a.name())
		if s := text("systemPrompt"); s != "" {
			said += "\n\n" + s
		}
		o = o.With("systemPrompt", orderedjson.Encode(said))
	}
	return o.Bytes()
}

// name returns the server's name in quotes.
func (a asker) name() string { return strconv.Quote(a.server) }

// quote returns a server's words to a person as they are shown.
func (a asker) quote(message string) string {
	cut := false
	if utf8.RuneCountInString(message) > maxQuestion {
		message, cut = string([]rune(message)[:maxQuestion]), true
	}
	message = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n").Replace(message)
	lines := strings.Split(strings.TrimSpace(message), "\n")
	if len(lines) > maxQuestionLines {
		lines, cut = lines[:maxQuestionLines], true
	}
	var b strings.Builder
	fmt.Fprintf(&b, "The server %s asks, not tooldex:\n", a.name())
	for _, l := range lines {
		b.WriteString("\n> " + l)
	}
	if cut {
		b.WriteString("\n> …\n\nThe rest is left out: the server wrote more.")
	}
	return b.String()
}

// markRound marks the questions of a result that asks instead of answering. The error is that of a server that asks for
// roots which it may not know.
func (a asker) markRound(raw json.RawMessage) (json.RawMessage, error) {
	o, err := orderedjson.ParseObject(raw)
	if err != nil {
		return raw, nil
	}
	requests, _ := o.Lookup("inputRequests")
	all, err := orderedjson.ParseObject(requests)
	if err != nil {
		return raw, nil
	}
	for i, m := range all {
		one, err := orderedjson.ParseObject(m.Value)
		if err != nil {
			continue
		}
		var method string
		value, _ := one.Lookup("method")
		_ = json.Unmarshal(value, &method) // another kind is no method, and not marked
		if method == rootsMethod && !a.roots {
			return nil, &tool.Error{
				Code: tool.Denied, Op: "call", Msg: fmt.Sprintf("server %q asks for the client's folders", a.server),
				Hint: "it may not know them; roots: true in its configuration permits it",
			}
		}
		params, _ := one.Lookup("params")
		all[i].Value = one.With("params", a.mark(method, params)).Bytes()
	}
	return o.With("inputRequests", all.Bytes()).Bytes(), nil
}

// markError marks the questions in the data of an error that asks a person to open a page.
func (a asker) markError(rpc *jsonrpc.Error) *jsonrpc.Error {
	o, err := orderedjson.ParseObject(rpc.Data)
	list, ok := o.Lookup("elicitations")
	var all []json.RawMessage
	if err != nil || !ok || json.Unmarshal(list, &all) != nil {
		return rpc
	}
	for i, one := range all {
		all[i] = a.mark(elicitMethod, one)
	}
	out := *rpc
	out.Data = o.With("elicitations", orderedjson.Encode(all)).Bytes()
	return &out
}

// capabilities returns the capabilities of a client as the server gets them.
func (a asker) capabilities(said json.RawMessage) json.RawMessage {
	if o, err := orderedjson.ParseObject(said); err == nil && !a.roots && o.Has("roots") {
		return o.Without("roots").Bytes()
	}
	return said
}
