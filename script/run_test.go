package script

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"tooldex/tool"
)

// records is a host with a list of 200 records.
type records struct{ calls int }

func (h *records) Call(_ context.Context, server, name string, args json.RawMessage) (json.RawMessage, error) {
	h.calls++
	switch server + "." + name {
	case "crm.list":
		var list []string
		for i := range 200 {
			list = append(list, fmt.Sprintf(`{"id":%d,"open":%v}`, i, i%67 == 0))
		}
		return json.Marshal(map[string]any{"content": []map[string]string{{
			"type": "text", "text": "[" + strings.Join(list, ",") + "]",
		}}})
	case "crm.echo":
		return json.Marshal(map[string]any{"structuredContent": args})
	case "crm.fail":
		return json.RawMessage(`{"isError":true,"content":[{"type":"text","text":"the disk is full"}]}`), nil
	}
	return nil, &tool.Error{Code: tool.NotFound, Msg: "there is no tool " + name, Hint: "search for it"}
}

func (h *records) Search(_ context.Context, query string, limit int) (json.RawMessage, error) {
	return json.Marshal([]string{query, fmt.Sprint(limit)})
}

func (h *records) Describe(_ context.Context, name string) (string, error) {
	return "about " + name, nil
}

func TestRun(t *testing.T) {
	for name, c := range map[string]struct{ source, want string }{
		"filter":        {`return tools.crm.list().filter(r => r.open).map(r => r.id)`, `[0,67,134]`},
		"await":         {`const r = await tools.crm.list({}); return r.length`, `200`},
		"arguments":     {`return tools.crm.echo({a: [1, "é", null], b: {c: true}})`, `{"a":[1,"é",null],"b":{"c":true}}`},
		"other name":    {`return tools["crm"]["echo"]({x: 1}).x`, `1`},
		"search":        {`return search("files", 3)`, `["files","3"]`},
		"describe":      {`return describe("x")`, `"about x"`},
		"nothing":       {`1`, `null`},
		"caught":        {`try { tools.crm.fail() } catch (e) { return e.message }`, `"tools.crm.fail: the disk is full"`},
		"library":       {`return [[3,1],[2]].flat().sort().concat([9]).join("-").split("-").map(Number)`, `[1,2,3,9]`},
		"texts":         {`return "a-b".replace(/-/g, "+").padStart(5, ".").repeat(2).replaceAll("+", "$&$&")`, `"..a++b..a++b"`},
		"JSON":          {`return JSON.parse(JSON.stringify({a: [1, undefined], b: undefined, d: new Date(0)}))`, `{"a":[1,null],"d":"1970-01-01T00:00:00.000Z"}`},
		"JSON indented": {`return JSON.stringify({a: [1, {}]}, null, 1)`, `"{\n \"a\": [\n  1,\n  {}\n ]\n}"`},
		"collections":   {`return [...new Map([[1, 2]]).entries()].concat([...new Set([4, 4])], Array.from({length: 2}, (v, i) => i))`, `[[1,2],4,0,1]`},
		"all":           {`return await Promise.all([1, 2].map(async (n) => tools.crm.echo({n})))`, `[{"n":1},{"n":2}]`},
		"still clock":   {`const a = Date.now(); for (let i = 0; i < 100000; i++); return Date.now() - a`, `0`},
		"no way out":    {`return [typeof require, typeof process, typeof fetch, typeof setTimeout, typeof eval, typeof Function, typeof Proxy]`, `["undefined","undefined","undefined","undefined","undefined","undefined","undefined"]`},
		"no compiler":   {`return [typeof (() => 1).constructor, typeof (async () => 1).constructor]`, `["undefined","undefined"]`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Run(t.Context(), c.source, &records{}, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestRunErrors(t *testing.T) {
	for name, c := range map[string]struct{ source, want string }{
		"syntax":       {"const a = 1;\nconst b = ;", "2:"},
		"unknown tool": {"\n\nreturn tools.crm.nope()", "line 3: Error: tools.crm.nope: not_found: there is no tool nope (search for it)"},
		"failing tool": {"const a = 1\ntools.crm.fail({})", "line 2: Error: tools.crm.fail: the disk is full"},
		"thrown":       {"\nthrow new TypeError('no')", "line 2: TypeError: no"},
		"undefined":    {"return console.log(1)", "line 1: ReferenceError: console is not defined"},
		"after await":  {"await 1\nnull.x", "line 2: TypeError"},
		"no value":     {"await new Promise(() => {})", "waits for something that never happens"},
		"BigInt":       {"\nreturn 2n ** 3n", "line 2: BigInt cannot be used here"},
		"arguments":    {"return (function () { return arguments.length })()", "line 1: arguments cannot be used here"},
		"long":         {strings.Repeat(" ", maxSource+1), "20001 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Run(t.Context(), c.source, &records{}, Limits{})
			if tool.CodeOf(err) != tool.Invalid || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %s, %v, want an Invalid error with %q", got, err, c.want)
			}
		})
	}
}

// TestRunIsBounded wants programs that would never end, or take everything, to be stopped.
func TestRunIsBounded(t *testing.T) {
	small := Limits{Run: 300 * time.Millisecond, Memory: 32 << 20}
	for name, source := range map[string]string{
		"loop":                `for (;;) {}`,
		"loop in finally":     `try { for (;;) {} } finally { for (;;) {} }`,
		"loop in catch":       `for (;;) { try { for (;;) {} } catch (e) {} }`,
		"jobs":                `const again = () => Promise.resolve().then(again); await again()`,
		"sort":                `return [3, 2, 1].sort(() => { for (;;) {} })`,
		"recursion":           `const f = () => f() + 1; return f()`,
		"recursion caught":    `const f = () => { try { return f() } catch (e) { return f() } }; return f()`,
		"getter":              `const o = {get a() { return this.a }}; return o.a`,
		"doubling":            `let s = "x"; for (;;) s += s`,
		"list":                `const l = []; for (;;) l.push({a: l.length})`,
		"objects":             `let o = null; for (;;) o = {o}`,
		"bound":               `let f = () => 1; for (;;) f = f.bind(null)`,
		"repeat":              `return "x".repeat(1e9)`,
		"pad":                 `return "x".padEnd(2e9)`,
		"replace":             `return "a".repeat(1e6).replaceAll("a", "b".repeat(1e6))`,
		"replace by pattern":  `return "a".repeat(1e6).replace(/a/g, "b".repeat(1e6))`,
		"replace around":      "return 'a'.repeat(1e5).replace(/a/g, \"$`\")",
		"symbol":              `return /a/g[Symbol.replace]("a".repeat(1e6), "b".repeat(1e6))`,
		"join":                `return new Array(1e6).fill("x".repeat(1e6)).join()`,
		"fill":                `return new Array(4e9).fill(0).length`,
		"length":              `const a = []; a.length = 4e9; return [...a]`,
		"length of a method":  `const a = []; a.length = 4e9; return a.indexOf(1)`,
		"length of an answer": `const a = []; a.length = 4e9; return a`,
		"like a list":         `return Array.prototype.indexOf.call({length: 9e15}, 1)`,
		"from":                `return Array.from({length: 9e15})`,
		"apply":               `return Math.max.apply(null, {length: 4e9})`,
		"flat":                `const a = new Array(1e6).fill(1); return new Array(1e6).fill(a).flat().length`,
		"concat":              `const a = new Array(9e5).fill(1); return a.concat(a, a)`,
		"split":               `return "x".repeat(8e6).split("").length`,
		"backtracking":        `return /^(a+)+\1b$/.test("a".repeat(40)) || (() => { for (;;) {} })()`,
		"pattern":             `return new RegExp("(".repeat(1e6))`,
		"pattern in a text":   `return "a".match("(".repeat(1e6))`,
		"nested JSON":         `return JSON.parse("[".repeat(8e6))`,
		"written for ever":    `return {toJSON() { return {a: this} }}`,
		"answer":              `return "x".repeat(1e6)`,
		"arguments of a call": `const o = {}; o.o = o; return tools.crm.echo(o)`,
		"calls":               `for (;;) tools.crm.echo({})`,
		"calls caught":        `for (;;) { try { tools.crm.nope({}) } catch (e) {} }`,
		"searches":            `for (;;) search("x")`,
		"results":             `const all = []; for (let i = 0; i < 90; i++) all.push(tools.crm.echo({x: "y".repeat(2e5)}))`,
	} {
		t.Run(name, func(t *testing.T) {
			host := &records{}
			got, err := Run(t.Context(), source, host, small)
			if code := tool.CodeOf(err); code != tool.Invalid && code != tool.Timeout {
				t.Errorf("got %.100s, %v, want Invalid or Timeout", got, err)
			}
			if err == nil || strings.Contains(err.Error(), "interpreter failed") {
				t.Errorf("the guards let it through: %v", err)
			}
			if host.calls > 100 {
				t.Errorf("%d calls reached the host", host.calls)
			}
		})
	}
}

func TestRunIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := Run(ctx, `for (;;) {}`, &records{}, Limits{}); err == nil {
		t.Error("the script went on after its caller had gone")
	}
}

// waiting is a host whose calls last until they are cancelled.
type waiting struct{ records }

func (*waiting) Call(ctx context.Context, _, _ string, _ json.RawMessage) (json.RawMessage, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestRunIsBoundedWithItsCalls(t *testing.T) {
	_, err := Run(t.Context(), `return tools.crm.list()`, &waiting{}, Limits{Total: time.Millisecond})
	if tool.CodeOf(err) != tool.Timeout {
		t.Errorf("a call that does not end: %v, want Timeout", err)
	}
}
