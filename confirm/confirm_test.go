package confirm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"tooldex/tool"
)

func hints(readOnly, destructive *bool) *tool.Annotations {
	return &tool.Annotations{ReadOnlyHint: readOnly, DestructiveHint: destructive}
}

func TestRules(t *testing.T) {
	yes, no := true, false
	tools := []*tool.Tool{
		{Server: "s", Name: "silent"},
		{Server: "s", Name: "empty", Annotations: &tool.Annotations{}},
		{Server: "s", Name: "reads", Annotations: hints(&yes, nil)},
		{Server: "s", Name: "reads_and_destroys", Annotations: hints(&yes, &yes)},
		{Server: "s", Name: "adds", Annotations: hints(&no, &no)},
		{Server: "s", Name: "writes", Annotations: hints(&no, nil)},
		{Server: "s", Name: "destroys", Annotations: hints(nil, &yes)},
		{Server: "other", Name: "delete_all/now", Annotations: hints(&yes, &no)},
	}
	for name, c := range map[string]struct {
		rules Rules
		want  []string
	}{
		"nothing":                     {Rules{}, nil},
		"off":                         {Rules{Mode: Off}, nil},
		"annotated":                   {Rules{Mode: Annotated}, []string{"destroys"}},
		"destructive":                 {Rules{Mode: Destructive}, []string{"silent", "empty", "writes", "destroys"}},
		"writes":                      {Rules{Mode: Writes}, []string{"silent", "empty", "adds", "writes", "destroys"}},
		"by name":                     {Rules{Tools: []string{"ad*"}}, []string{"adds"}},
		"by id":                       {Rules{Tools: []string{"other/*"}}, []string{"delete_all/now"}},
		"by the end of an id":         {Rules{Tools: []string{"*/now"}}, []string{"delete_all/now"}},
		"a read-only one by its name": {Rules{Mode: Off, Tools: []string{"s/reads"}}, []string{"reads"}},
		"but for some":                {Rules{Mode: Writes, Except: []string{"s/*"}}, nil},
		"a name counts more than excuse": {
			Rules{Mode: Writes, Tools: []string{"adds"}, Except: []string{"s/*"}},
			[]string{"adds"},
		},
		"a pattern is not a beginning": {Rules{Tools: []string{"read", "s/r", ""}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, one := range tools {
				if c.rules.Needs(one) {
					got = append(got, one.Name)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%v need confirmation, want %v", got, c.want)
			}
			if c.rules.None() && len(got) > 0 {
				t.Error("None, and yet some")
			}
		})
	}
	if err := Mode("maybe").Check(); tool.CodeOf(err) != tool.Invalid {
		t.Errorf("an unknown mode: %v", err)
	}
	for _, m := range append(Modes(), "") {
		if err := m.Check(); err != nil {
			t.Error(err)
		}
	}
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{"a", "a", true},
		{"a", "ab", false},
		{"a*", "a", true},
		{"*", "", true},
		{"*", "a/b", true},
		{"a*c", "abc", true},
		{"a*c", "ac", true},
		{"a*c", "abcd", false},
		{"*b*", "abc", true},
		{"ab*bc", "abc", false},
		{"a*b*c", "a1b2c", true},
		{"a*b*c", "acb", false},
		{"", "", true},
		{"?", "a", false},
	} {
		if got := MatchPattern(c.pattern, c.s); got != c.want {
			t.Errorf("match(%q, %q) is %v", c.pattern, c.s, got)
		}
	}
}

// counting counts the calls that come through to it.
type counting struct{ calls []tool.Call }

func (c *counting) Call(_ context.Context, call tool.Call) (*tool.CallResult, error) {
	c.calls = append(c.calls, call)
	return &tool.CallResult{Raw: json.RawMessage(`{}`)}, nil
}

func guarded(next tool.Caller) tool.Caller {
	return New(Options{Rules: func() Rules { return Rules{Mode: Writes} }}).Caller(next)
}

const canAsk = `{"elicitation":{}}`

func TestAnswers(t *testing.T) {
	answer := func(raw string, err error) func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
		return func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage(raw), err
		}
	}
	for name, c := range map[string]struct {
		client    *tool.Client
		confirmed bool
		how       string
		why       Unconfirmed
	}{
		"yes": {client: &tool.Client{
			Capabilities: json.RawMessage(canAsk),
			Ask:          answer(`{"action":"accept","content":{}}`, nil),
		}, how: "by the user"},
		"yes, in a form": {client: &tool.Client{Capabilities: json.RawMessage(`{"elicitation":{"form":{},"url":{}}}`), Ask: answer(`{"action":"accept"}`, nil)}, how: "by the user"},
		"no": {client: &tool.Client{
			Capabilities: json.RawMessage(canAsk),
			Ask:          answer(`{"action":"decline"}`, nil),
		}, why: Declined},
		"closed": {client: &tool.Client{
			Capabilities: json.RawMessage(canAsk),
			Ask:          answer(`{"action":"cancel"}`, nil),
		}, why: Dismissed},
		"another word for yes": {client: &tool.Client{
			Capabilities: json.RawMessage(canAsk),
			Ask:          answer(`{"action":"Accept"}`, nil),
		}, why: Unanswered},
		"nothing": {client: &tool.Client{
			Capabilities: json.RawMessage(canAsk),
			Ask:          answer(`{}`, nil),
		}, why: Unanswered},
		"no object": {client: &tool.Client{
			Capabilities: json.RawMessage(canAsk),
			Ask:          answer(`"accept"`, nil),
		}, why: Unanswered},
		"an error": {client: &tool.Client{
			Capabilities: json.RawMessage(canAsk),
			Ask:          answer("", errors.New("broken")),
		}, why: Unanswered},
		"it shows no forms": {client: &tool.Client{
			Capabilities: json.RawMessage(`{"elicitation":{"url":{}}}`),
			Ask:          answer(`{"action":"accept"}`, nil),
		}, why: Unasked},
		"it says nothing of forms": {client: &tool.Client{
			Capabilities: json.RawMessage(`{"sampling":{}}`),
			Ask:          answer(`{"action":"accept"}`, nil),
		}, why: Unasked},
		"it cannot be asked":         {client: &tool.Client{Capabilities: json.RawMessage(canAsk)}, why: Unasked},
		"nobody is there":            {why: Unasked},
		"nobody, but it was decided": {confirmed: true, how: "by the request"},
	} {
		t.Run(name, func(t *testing.T) {
			next, how := &counting{}, ""
			_, err := guarded(next).Call(context.Background(), tool.Call{
				ID: "s/t", Client: c.client,
				Confirmed: c.confirmed, OnConfirm: func(s string) { how = s },
			})
			var why Unconfirmed
			if errors.As(err, &why); why != c.why || how != c.how {
				t.Errorf("%v, confirmed %q; want %q, %q", err, how, c.why, c.how)
			}
			if ran := len(next.calls) == 1; ran != (c.why == "") {
				t.Errorf("it was called: %v", ran)
			}
			if c.why != "" && (tool.CodeOf(err) != tool.Denied || !strings.Contains(err.Error(), "nothing was called")) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestQuestionWaitsNotForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := &counting{}
		silent := &tool.Client{Capabilities: json.RawMessage(canAsk), Ask: func(ctx context.Context, _ string,
			_ json.RawMessage,
		) (json.RawMessage, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		rules := Rules{Mode: Writes}
		caller := New(Options{Rules: func() Rules { return rules }}).Caller(next)
		for within, want := range map[time.Duration]time.Duration{0: 2 * time.Minute, LeastTime: 5 * time.Second, MostTime: 5 * time.Minute} { // as the rules of the moment say
			rules.Within = within
			begin := time.Now()
			_, err := caller.Call(t.Context(), tool.Call{ID: "s/t", Client: silent})
			var why Unconfirmed
			if !errors.As(err, &why) || why != Unanswered || time.Since(begin) != want || len(next.calls) > 0 {
				t.Errorf("after %v: %v", time.Since(begin), err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := guarded(next).Call(ctx, tool.Call{ID: "s/t", Client: silent}); !errors.Is(err,
			context.DeadlineExceeded) || len(next.calls) > 0 {
			t.Errorf("a caller that goes: %v", err)
		}
	})
}

// TestServerAsksTheSameWay wants what the server asks in its turn to go the way of the question, so that the call stays
// one.
func TestServerAsksTheSameWay(t *testing.T) {
	next := &counting{}
	client := &tool.Client{
		Rounds: true, Capabilities: json.RawMessage(canAsk),
		Ask: func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage(`{"action":"accept"}`), nil
		},
	}
	if _, err := guarded(next).Call(context.Background(), tool.Call{ID: "s/t", Client: client}); err != nil {
		t.Fatal(err)
	}
	if next.calls[0].Client.Rounds || !client.Rounds {
		t.Error("the client would be asked by a result")
	}
}

func TestQuestion(t *testing.T) {
	long := strings.Repeat("a", 5000) + "THE END"
	many := map[string]int{}
	for i := range 100 {
		many[fmt.Sprintf("key%03d", i)] = i
	}
	manyJSON, err := json.Marshal(many)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		id   tool.ID
		args string
		want []string
	}{
		"plain": {
			"github/delete_repo", `{"owner":"acme","repo":"site","force":true,"n":12345678901234567890}`,
			[]string{"tool: delete_repo", "server: github", `owner: "acme"`, "force: true", "n: 12345678901234567890"},
		},
		"no arguments":          {"s/t", ``, []string{"no arguments"}},
		"empty":                 {"s/t", ` {} `, []string{"no arguments"}},
		"nested":                {"s/t", `{"a": {"b": [1, 2]}}`, []string{`a: {"b":[1,2]}`}},
		"no object":             {"s/t", `[1,2`, []string{"[1,2"}},
		"long":                  {"s/t", `{"text":"` + long + `"}`, []string{"THE END", "\n    … aaa"}},
		"many":                  {"s/t", string(manyJSON), []string{"key000: 0", "key099: 99"}},
		"endless":               {"s/t", `{"text":"` + strings.Repeat(long, 100) + `"}`, []string{"THE END", "bytes in all, SHA-256"}},
		"a name that continues": {"s/t", `{"… a":1}`, []string{`"… a": 1`}},
		"escapes":               {"s/t", `{"x":"\u001b[31mred\u001b[0m"}`, []string{`\u001b[31mred`}},
	} {
		t.Run(name, func(t *testing.T) {
			got := Question(c.id, json.RawMessage(c.args))
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("%q is not in\n%s", want, got)
				}
			}
			for _, page := range Pages(c.id, json.RawMessage(c.args)) {
				if len([]rune(page)) > 11_000 || strings.Count(page, "\n") > maxLines+9 {
					t.Errorf("a page has %d characters and %d lines", len([]rune(page)), strings.Count(page, "\n"))
				}
			}
		})
	}
	const golden = "tooldex asks you, not a server: allow this call? It may change or destroy something.\n\n    tool: delete_repo\n    server: github\n\nArguments:\n\n    owner: \"acme\"\n    tags: [\"a\",\"b\"]"
	if d := cmp.Diff(golden, Question("github/delete_repo",
		json.RawMessage(`{"owner":"acme","tags":["a","b"]}`))); d != "" {
		t.Error(d)
	}
}

// TestPages requires that a person sees every character of the arguments before the call is made, and that a no to any
// page is one to the call.
func TestPages(t *testing.T) {
	var text strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&text, "%d ", i)
	}
	args, err := json.Marshal(map[string]string{"a": text.String(), "b": "short", "c": "rm -rf /"})
	if err != nil {
		t.Fatal(err)
	}
	pages := Pages("s/t", args)
	var shown strings.Builder
	for i, page := range pages {
		if asks := strings.HasPrefix(page, askLine); asks != (i == len(pages)-1) || !strings.Contains(page, fmt.Sprintf("page %d of %d", i+1, len(pages))) {
			t.Errorf("page %d of %d is\n%s", i, len(pages), page)
		}
		_, arguments, _ := strings.Cut(page, "Arguments:\n")
		for _, l := range strings.Split(arguments, "\n") {
			shown.WriteString(strings.TrimPrefix(strings.TrimPrefix(l, "    "), "… "))
		}
	}
	if len(pages) < 3 || !strings.Contains(shown.String(), text.String()) || !strings.Contains(shown.String(), "rm -rf /") {
		t.Errorf("%d pages show\n%s", len(pages), shown.String())
	}
	for refused := range len(pages) + 1 {
		next, asked := &counting{}, 0
		client := &tool.Client{Capabilities: json.RawMessage(canAsk), Ask: func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
			if asked++; asked == refused+1 {
				return json.RawMessage(`{"action":"decline"}`), nil
			}
			return json.RawMessage(`{"action":"accept"}`), nil
		}}
		_, err := guarded(next).Call(t.Context(), tool.Call{ID: "s/t", Arguments: args, Client: client})
		if yes := refused == len(pages); (err == nil) != yes || (len(next.calls) == 1) != yes || asked != min(refused+1, len(pages)) {
			t.Errorf("a no to page %d: %v, %d calls, asked %d times", refused+1, err, len(next.calls), asked)
		}
	}
}

func FuzzQuestion(f *testing.F) {
	f.Add("github", "delete_repo", `{"owner":"acme"}`)
	f.Add("s", "x\n\nYou may say yes.", `{"a\n\n# Yes":"\u001b[2J\r\n![x](http://e/)<img src=x>`+"`rm`"+`"}`)
	f.Add("s", "\u202ereversed\u200b", `{"\u200b":"\u202e","\ud83d\ude00":"`+strings.Repeat("é", 500)+`"}`)
	f.Add("", "", "{]")
	f.Add("https://e.example", "t", "\n\n# x\n[a](b)")
	f.Fuzz(func(t *testing.T, server, name, args string) {
		q := Question(tool.MakeID(server, name), json.RawMessage(args))
		for _, page := range append(Pages(tool.MakeID(server, name), json.RawMessage(args)), q) {
			for i, l := range strings.Split(page, "\n") {
				ours := l == "" || strings.HasPrefix(l, "    ") || i == 0 && strings.HasPrefix(l, "tooldex ") ||
					l == "Arguments:" || l == "It has no arguments." || strings.HasPrefix(l, "Not all is shown: ")
				if !ours {
					t.Fatalf("line %d is not ours, and stands as ours do: %q", i, l)
				}
			}
		}
		for _, r := range q {
			if r != '\n' && !unicode.IsPrint(r) || strings.ContainsRune("`<>&\u200b\u202e", r) {
				t.Fatalf("the character %U is shown as it is in %q", r, q)
			}
		}
	})
}

func TestSearchesMark(t *testing.T) {
	yes := true
	reads, writes := &tool.Tool{Server: "s", Name: "reads", Annotations: hints(&yes, nil)},
		&tool.Tool{Server: "s", Name: "writes"}
	shared := &tool.Result{
		Tools:  []tool.Hit{{Tool: reads}, {Tool: writes}},
		Groups: []tool.Group{{Tools: []tool.Hit{{Tool: writes}, {}}}},
	}
	g := New(Options{Rules: func() Rules { return Rules{Mode: Writes} }})
	res, err := g.Searcher(found{shared}).Search(context.Background(), tool.Query{})
	if err != nil {
		t.Fatal(err)
	}
	if res.Tools[0].Confirm || !res.Tools[1].Confirm || !res.Groups[0].Tools[0].Confirm ||
		res.Groups[0].Tools[1].Confirm {
		t.Errorf("%+v", res)
	}
	if shared.Tools[1].Confirm || shared.Groups[0].Tools[0].Confirm {
		t.Error("what others share was changed")
	}
	var none *Guard
	if none.Needs(writes) || none.Caller(&counting{}) == nil || New(Options{}).Needs(writes) {
		t.Error("a Guard without rules asks")
	}
}

type found struct{ res *tool.Result }

func (f found) Search(context.Context, tool.Query) (*tool.Result, error) { return f.res, nil }

func ExampleQuestion() {
	fmt.Println(Question("github/delete_repo", json.RawMessage(`{"owner":"acme","repo":"site"}`)))
	// Output:
	// tooldex asks you, not a server: allow this call? It may change or destroy something.
	//
	//     tool: delete_repo
	//     server: github
	//
	// Arguments:
	//
	//     owner: "acme"
	//     repo: "site"
}
