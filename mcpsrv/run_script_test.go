package mcpsrv

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/orderedjson"
	"tooldex/tool"
)

// shop is a server with 200 orders of 40 customers.
func shop() []*tool.Tool {
	number := json.RawMessage(`{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}`)
	all := []*tool.Tool{
		{Server: "shop", Name: "list_orders", Description: "List all orders of the shop.", InputSchema: objectSchema},
		{Server: "shop", Name: "list_customers", Description: "List all customers of the shop.", InputSchema: objectSchema},
		{Server: "shop", Name: "get_customer", Description: "Get one customer of the shop.", InputSchema: number},
		{Server: "shop", Name: "get_order", Description: "Get one order of the shop.", InputSchema: number},
		{Server: "shop", Name: "remind", Description: "Remind a customer of an unpaid order.", InputSchema: number},
	}
	return all
}

func order(i int) map[string]any {
	return map[string]any{
		"id": i, "customer": i % 40, "paid": i%67 != 0, "total": 10 + i*7%90, "city": []string{"Oslo", "Rome"}[i%2],
		"note": "delivered to the neighbour, please ring twice", "created": fmt.Sprintf("2026-%02d-01T10:00:00Z", 1+i%12),
	}
}

func customer(i int) map[string]any {
	return map[string]any{
		"id": i, "name": fmt.Sprintf("Customer %d", i), "mail": fmt.Sprintf("c%d@example.org", i), "since": 2000 + i%20,
	}
}

func answerShop(_ context.Context, c tool.Call) (*tool.CallResult, error) {
	var a struct{ ID int }
	_ = json.Unmarshal(c.Arguments, &a)
	var v any
	switch c.ID.Name() {
	case "list_orders", "list_customers":
		var list []any
		for i := range map[string]int{"list_orders": 200, "list_customers": 40}[c.ID.Name()] {
			if c.ID.Name() == "list_orders" {
				list = append(list, order(i))
			} else {
				list = append(list, customer(i))
			}
		}
		v = list
	case "get_customer":
		v = customer(a.ID)
	case "get_order":
		v = order(a.ID)
	default:
		v = map[string]any{"reminded": a.ID}
	}
	return &tool.CallResult{Raw: textResult(string(orderedjson.Encode(v))).raw}, nil
}

// scriptTasks are tasks of several calls: what a script returns, and the calls that a model makes without one.
var scriptTasks = []struct {
	task   string
	script string
	want   string
	calls  []string
}{
	{
		"unpaid orders among 200", `return tools.shop.list_orders().filter(o => !o.paid).map(o => o.id)`, `[0,67,134]`,
		[]string{"list_orders"},
	},
	{
		"sum of all orders", `return tools.shop.list_orders().reduce((n, o) => n + o.total, 0)`, `10710`,
		[]string{"list_orders"},
	},
	{
		"orders of each city",
		`const n = {}; for (const o of tools.shop.list_orders()) n[o.city] = (n[o.city] || 0) + 1; return n`,
		`{"Oslo":100,"Rome":100}`,
		[]string{"list_orders"},
	},
	{
		"the largest order and its customer",
		`const o = tools.shop.list_orders().sort((a, b) => b.total - a.total)[0]; return [o.id, tools.shop.get_customer({id: o.customer}).name]`,
		`[77,"Customer 37"]`,
		[]string{"list_orders", "get_customer 37"},
	},
	{
		"mails of those with unpaid orders",
		`return tools.shop.list_orders().filter(o => !o.paid).map(o => tools.shop.get_customer({id: o.customer}).mail)`,
		`["c0@example.org","c27@example.org","c14@example.org"]`,
		[]string{"list_orders", "get_customer 0", "get_customer 27", "get_customer 14"},
	},
	{
		"remind those who have not paid", `return tools.shop.list_orders().filter(o => !o.paid).map(o => tools.shop.remind({id: o.id}).reminded)`,
		`[0,67,134]`,
		[]string{"list_orders", "remind 0", "remind 67", "remind 134"},
	},
	{
		"customers without an order in Oslo",
		`const has = new Set(tools.shop.list_orders().filter(o => o.city === "Oslo").map(o => o.customer)); return tools.shop.list_customers().filter(c => !has.has(c.id)).length`,
		`20`,
		[]string{"list_orders", "list_customers"},
	},
	{
		"the oldest customer", `return tools.shop.list_customers().sort((a, b) => a.since - b.since)[0].name`, `"Customer 0"`,
		[]string{"list_customers"},
	},
	{
		"totals of five orders", `return [1, 2, 3, 4, 5].map(id => tools.shop.get_order({id}).total)`, `[17,24,31,38,45]`,
		[]string{"get_order 1", "get_order 2", "get_order 3", "get_order 4", "get_order 5"},
	},
	{
		"orders of one month", `return tools.shop.list_orders().filter(o => o.created.startsWith("2026-03")).length`, `17`,
		[]string{"list_orders"},
	},
}

// TestScriptTokens measures what a model writes and reads for ten tasks, with a script and by single calls.
func TestScriptTokens(t *testing.T) {
	f := newFixture(t, shop(), Options{Scripts: true})
	f.answer = answerShop
	session := f.connect(t, "", nil)
	spend := func(name string, args any) (string, int) {
		t.Helper()
		sent := string(orderedjson.Encode(args))
		got, failed := ask(t, session, name, sent)
		if failed {
			t.Fatalf("%s %s: %s", name, sent, got)
		}
		return got, countTokens(name + sent + got)
	}
	var lines []string
	for i, c := range scriptTasks {
		got, with := spend(scriptName, map[string]string{"script": c.script})
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.task, got, c.want)
		}
		without := 0
		for _, call := range c.calls {
			name, id, ok := strings.Cut(call, " ")
			args := "{}"
			if ok {
				args = `{"id":` + id + `}`
			}
			_, n := spend(invokeName, map[string]any{"name": "shop/" + name, "arguments": json.RawMessage(args)})
			without += n
		}
		lines = append(lines, fmt.Sprintf("| %s | %d | %d | 1 | %d | %.1f %% |", c.task, without, len(c.calls), with,
			100-100*float64(with)/float64(without)))
		if i == 0 && with*20 > without {
			t.Errorf("%s costs %d tokens of %d, want at most 5 %%", c.task, with, without)
		}
	}
	t.Log("| task | tokens | turns | turns with a script | tokens with a script | saved |\n" + strings.Join(lines, "\n"))
}

func TestRunScript(t *testing.T) {
	f := newFixture(t, shop(), Options{Scripts: true})
	f.answer = func(ctx context.Context, c tool.Call) (*tool.CallResult, error) {
		if c.ID.Name() == "remind" {
			return nil, &tool.Error{Code: tool.Denied, Msg: "a person refused the call"}
		}
		return answerShop(ctx, c)
	}
	session := f.connect(t, "", nil)
	for name, c := range map[string]struct {
		script, want string
		failed       bool
	}{
		"search":            {`return search("remind a customer", 1)[0].tool`, `"remind"`, false},
		"describe":          {`return describe("shop/remind").split("\n")[1]`, `"Remind a customer of an unpaid order."`, false},
		"wrong arguments":   {"\nreturn tools.shop.get_order({id: 'x'})", "line 2: Error: tools.shop.get_order: invalid", true},
		"unknown tool":      {"return tools.shop.nope({})", "line 1: Error: tools.shop.nope: not_found", true},
		"refused":           {"return tools.shop.remind({id: 1})", "tools.shop.remind: denied: a person refused the call", true},
		"no tools of ours":  {"return tools.tooldex.run_script({script: '1'})", "not_found", true},
		"spelling forgiven": {`return tools.shop.get_order({id: "3"}).id`, `3`, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, failed := ask(t, session, scriptName, string(orderedjson.Encode(map[string]string{"script": c.script})))
			if failed != c.failed || !strings.Contains(got, c.want) {
				t.Errorf("got %v %s, want %v %s", failed, got, c.failed, c.want)
			}
		})
	}
}

// TestScriptsAreOff wants run_script to be neither listed nor callable unless it is switched on.
func TestScriptsAreOff(t *testing.T) {
	for _, on := range []bool{false, true} {
		session := newFixture(t, shop(), Options{Scripts: on}).connect(t, "", nil)
		list, err := session.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		listed := slices.ContainsFunc(list.Tools, func(m *mcp.Tool) bool { return m.Name == scriptName })
		_, failed := ask(t, session, scriptName, `{"script":"return 1"}`)
		if listed != on || failed == on {
			t.Errorf("scripts %v: listed %v, failed %v", on, listed, failed)
		}
	}
}

// TestScriptsAtOnceAreBounded runs as many scripts as may run, each of which waits for a call, and one more.
func TestScriptsAtOnceAreBounded(t *testing.T) {
	f := newFixture(t, shop(), Options{Scripts: true})
	called, release := make(chan struct{}, maxScripts), make(chan struct{})
	f.answer = func(ctx context.Context, c tool.Call) (*tool.CallResult, error) {
		called <- struct{}{}
		<-release
		return answerShop(ctx, c)
	}
	session := f.connect(t, "", nil)
	const script = `{"script":"return tools.shop.get_order({id: 3}).id"}`
	var running sync.WaitGroup
	for range maxScripts {
		running.Go(func() {
			if got, failed := ask(t, session, scriptName, script); failed || got != "3" {
				t.Errorf("a script that may run: %v %s", failed, got)
			}
		})
	}
	for range maxScripts {
		<-called
	}
	if got, failed := ask(t, session, scriptName, script); !failed || !strings.Contains(got, "as many scripts as may run") {
		t.Errorf("one script more: %v %s", failed, got)
	}
	close(release)
	running.Wait()
	if got, failed := ask(t, session, scriptName, `{"script":"return 1"}`); failed {
		t.Errorf("a script after the others: %s", got)
	}
}
