package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"tooldex/config"
	"tooldex/selection"
	"tooldex/tool"
)

// shopTools are 24 tools of two servers, one of which every client is shown.
func shopTools() []*tool.Tool {
	schema := json.RawMessage(`{"type":"object","properties":{"order_id":{"type":"string"}},"required":["order_id"]}`)
	out := []*tool.Tool{
		{Server: "shop", Name: "get_shipping_eta", Description: "Look up when the shipment of an order arrives.", InputSchema: schema},
		{Server: "shop", Name: "list_open_orders", Description: "List the open orders of a customer.", InputSchema: schema},
		{Server: "crm.main", Name: "add_note", Description: "Add a note to a customer's record.", InputSchema: schema},
	}
	for i := range 21 {
		out = append(out, &tool.Tool{
			Server: "shop", Name: fmt.Sprintf("set_price_rule_%d", i),
			Description: fmt.Sprintf("Change rule %d by which prices are computed.", i), InputSchema: schema,
		})
	}
	return out
}

// selectTools posts a selection and returns its answer.
func (st *stack) selectTools(body string) *selection.Selection {
	st.t.Helper()
	status, text := st.request(http.MethodPost, "/api/tools/select", body)
	if status != http.StatusOK {
		st.t.Fatalf("%s\n%d: %s", body, status, text)
	}
	res := &selection.Selection{}
	if err := json.Unmarshal([]byte(text), res); err != nil {
		st.t.Fatal(err)
	}
	return res
}

// responsesTool is a tool of the Responses API: a function, a namespace, or tool_search.
type responsesTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Execution   string          `json:"execution"`
	Defer       bool            `json:"defer_loading"`
	Parameters  json.RawMessage `json:"parameters"`
	Tools       []responsesTool `json:"tools"`
}

func readResponsesTools(t *testing.T, raws []json.RawMessage) []responsesTool {
	t.Helper()
	out := make([]responsesTool, len(raws))
	for i, raw := range raws {
		if err := json.Unmarshal(raw, &out[i]); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestOpenAIClientToolSearch runs the exchange that OpenAI documents for tool_search in client-executed form: the first
// request declares the search, the model emits a tool_search_call, the answer to it is an item of the next request's
// input, and the function that the model then calls has the name of a tool here.
func TestOpenAIClientToolSearch(t *testing.T) {
	st := serveTools(t, shopTools(), func(c *config.Config) { c.Serve.Always = []string{"shop/list_open_orders"} })
	first := readResponsesTools(t, st.selectTools(`{"format": "openai-responses", "toolSearch": "client"}`).Tools)
	if len(first) != 2 || first[0].Name != "shop__list_open_orders" || first[0].Defer ||
		first[1].Type != "tool_search" || first[1].Execution != "client" || first[1].Parameters == nil {
		t.Fatalf("the first request declares %+v", first)
	}
	for name, arguments := range map[string]string{
		"object": `{"query": "when will my shipment arrive"}`,
		"string": `"{\"query\": \"when will my shipment arrive\"}"`,
	} {
		t.Run(name, func(t *testing.T) {
			second := st.selectTools(`{"format": "openai-responses", "toolSearchCall": {"type": "tool_search_call",
				"id": "tsc_1", "call_id": "call_abc", "execution": "client", "status": "completed", "arguments": ` + arguments + `}}`)
			out := second.Output
			if out == nil || out.Type != "tool_search_output" || out.CallID != "call_abc" || out.Execution != "client" ||
				out.Status != "completed" || len(second.Tools) != 0 {
				t.Fatalf("the search is answered with %+v", second)
			}
			loaded := readResponsesTools(t, out.Tools)
			if len(loaded) == 0 || loaded[0].Name != "shop__get_shipping_eta" || loaded[0].Type != "function" {
				t.Fatalf("loaded are %+v", loaded)
			}
			for _, one := range loaded {
				if !one.Defer || one.Name == "shop__list_open_orders" {
					t.Errorf("loaded again, or not deferred: %+v", one)
				}
			}
			if status, text := st.request(http.MethodGet, "/api/tools/"+loaded[0].Name, ""); status != http.StatusOK {
				t.Errorf("the function has no tool: %s", text)
			}
		})
	}
	nothing := st.selectTools(`{"format": "openai-responses", "namespaces": true,
		"toolSearchCall": {"call_id": "c", "arguments": {"query": "play a violin concerto by Sibelius"}}}`)
	if nothing.Output == nil || nothing.Output.Tools == nil || len(nothing.Output.Tools) != 0 {
		t.Errorf("a search for what nothing does is answered with %+v", nothing.Output)
	}
}

// TestOpenAINamespaces wants the form that OpenAI recommends for its own search: deferred functions in namespaces of
// fewer than ten, each with a description that names what is in it, beside the tool_search.
func TestOpenAINamespaces(t *testing.T) {
	st := serveTools(t, shopTools(), nil)
	res := st.selectTools(`{"format": "openai-responses", "mode": "all", "deferLoading": true, "namespaces": true,
		"toolSearch": "server"}`)
	tools := readResponsesTools(t, res.Tools)
	var names, functions []string
	for _, one := range tools[:len(tools)-1] {
		if one.Type != "namespace" || one.Description == "" || one.Defer || len(one.Tools) == 0 || len(one.Tools) >= 10 {
			t.Errorf("not a namespace of fewer than ten: %+v", one)
		}
		names = append(names, one.Name)
		for _, f := range one.Tools {
			if f.Type != "function" || !f.Defer || f.Parameters == nil {
				t.Errorf("not a deferred function: %+v", f)
			}
			functions = append(functions, f.Name)
		}
	}
	if want := []string{"crm_main", "shop", "shop_2", "shop_3"}; !slices.Equal(names, want) {
		t.Errorf("namespaces are %v, want %v", names, want)
	}
	if len(functions) != 24 || len(functions) != len(res.Selected) {
		t.Errorf("%d functions of %d selected tools", len(functions), len(res.Selected))
	}
	if last := string(res.Tools[len(res.Tools)-1]); last != `{"type":"tool_search"}` {
		t.Errorf("the last tool is %s", last)
	}
	// What a model reads at the start of a request: names and descriptions of the namespaces alone.
	seen, whole := 0, 0
	for i, one := range tools[:len(tools)-1] {
		seen += len(one.Name) + len(one.Description)
		whole += len(res.Tools[i])
	}
	t.Logf("a model reads about %d tokens at the start, of %d", seen/4, whole/4)
	if seen*3 > whole {
		t.Errorf("a model reads %d of %d characters at the start", seen, whole)
	}
}

// TestAnthropicToolSearch runs the exchange that Anthropic documents for a search of one's own: all tools are sent with
// defer_loading, and the search's tool_result holds tool_reference blocks of tools that were sent.
func TestAnthropicToolSearch(t *testing.T) {
	st := serveTools(t, shopTools(), nil)
	all := st.selectTools(`{"format": "anthropic", "mode": "all", "deferLoading": true}`)
	sent := map[string]bool{}
	for _, raw := range all.Tools {
		var one struct {
			Name  string `json:"name"`
			Defer bool   `json:"defer_loading"`
		}
		if err := json.Unmarshal(raw, &one); err != nil || !one.Defer {
			t.Fatalf("%s, %v", raw, err)
		}
		sent[one.Name] = true
	}
	found := st.selectTools(`{"format": "anthropic", "message": "when will my shipment arrive", "toolReferences": true}`)
	block, err := json.Marshal(found.References)
	if err != nil || len(found.References) == 0 {
		t.Fatalf("%s, %v", block, err)
	}
	if found.References[0] != (selection.Reference{Type: "tool_reference", Name: "shop__get_shipping_eta"}) {
		t.Errorf("the tool_result holds %s", block)
	}
	for _, one := range found.References {
		if !sent[one.Name] {
			t.Errorf("%s refers to a tool that was not sent", one.Name)
		}
	}
}

func TestResponsesOnlyOptions(t *testing.T) {
	st := serveTools(t, shopTools(), nil)
	for _, body := range []string{
		`{"message": "a", "namespaces": true}`,
		`{"message": "a", "format": "anthropic", "toolSearch": "client"}`,
		`{"message": "a", "format": "openai", "deferLoading": true}`,
		`{"format": "openai-responses", "toolSearch": "hosted"}`,
		`{"format": "openai-responses"}`,
		`{"format": "openai-responses", "toolSearchCall": {"call_id": "c", "arguments": {"goal": "a"}}}`,
		`{"format": "openai-responses", "toolSearchCall": {"call_id": "c", "arguments": "nonsense"}}`,
		`{"format": "openai-responses", "toolSearchCall": {"call_id": "c"}}`,
		`{"format": "openai-responses", "toolSearchCall": {"call_id": "", "arguments": {"query": "a"}}}`,
		`{"format": "openai-responses", "toolSearch": "client", "toolSearchCall": {"call_id": "c", "arguments": {"query": "a"}}}`,
	} {
		if status, text := st.request(http.MethodPost, "/api/tools/select", body); status != http.StatusBadRequest {
			t.Errorf("%s\nis answered with %d: %s", body, status, text)
		}
	}
}
