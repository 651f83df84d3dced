package main

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
)

// TestPanelStates looks at each view while it is loading, when it has nothing to show, and when it cannot be read.
func TestPanelStates(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	p := b.open(t, serveHTTP(t, t.TempDir()))
	p.eval(`localStorage.setItem('tooldex.message', '"read a file"')`, nil)
	for _, v := range []struct{ hash, loading, empty, failed string }{
		{
			"#/tools", one(".list-status", "Loading the catalogue"), one(".finder .ways", "tooldex connect"),
			one(".list-status", "The tools cannot be read"),
		},
		{
			"#/selection", one(".empty-title", "Choosing tools"), one(".empty-title", "No tool is selected"),
			one(".empty-title", "No selection was made"),
		},
		{
			"#/activity", one(".empty-title", "Loading the activity"), one(".empty-title", "No requests in this time"),
			one(".empty-title", "It cannot be shown"),
		},
		{
			"#/calls", one(".empty-title", "Loading the calls"), one(".empty-title", "No calls yet"),
			one(".empty-title", "The calls cannot be read"),
		},
		{
			"#/servers", one(".empty-title", "Loading the servers"), one(".servers .ways", "tooldex connect"),
			one(".empty-title", "The servers cannot be read"),
		},
		{
			"#/access", one(".empty-title", "Loading"), one("p.muted", "No MCP session is open") + ` && ` +
				one("p.muted", "None in the file of tokens") + ` && ` + one("p.muted", "None. They are part"),
			one(".empty-title", "It cannot be read"),
		},
		{"#/settings", one(".empty-title", "Loading the preferences"), one(".hint", "None. Set this") + ` && ` +
			one("p.muted", "None yet"), one(".empty-title", "The preferences cannot be read")},
	} {
		t.Run(strings.TrimPrefix(v.hash, "#/"), func(t *testing.T) {
			p.t = t
			defer func() { p.t = t }()
			p.network(400)
			p.visit("http://" + p.host + "/" + v.hash)
			p.eval(`location.reload()`, nil)
			p.until(v.loading)
			p.network(0)
			p.until(v.empty)
			if faults := p.takeFaults(); len(faults) > 0 {
				t.Errorf("the browser complains: %q", faults)
			}
			p.must("Network.setBlockedURLs", map[string]any{"urls": []string{"*/api/*"}}, nil)
			p.reload()
			p.until(v.failed)
			p.must("Network.setBlockedURLs", map[string]any{"urls": []string{}}, nil)
			p.takeFaults() // of the requests that failed
		})
	}
}

// TestPanelShowsCalls follows the record of calls while others call, and filters it.
func TestPanelShowsCalls(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	data := t.TempDir()
	runCommand(t, data, "servers", "add", "desk", "--", upstreamCommand(t))
	base := serveHTTP(t, data)
	p := b.open(t, base)
	p.view("#/calls")
	p.until(one(".empty-title", "No calls yet"))
	callTool(t, base, "desk/add_numbers", `{"arguments":{"a":2,"b":40}}`)
	p.until(one("tbody tr", "desk/add_numbers") + `.innerText.includes('ok')`)
	callTool(t, base, "desk/refuse", `{"arguments":{}}`)
	callTool(t, base, "desk/nothing", `{"arguments":{}}`)
	p.until(`document.querySelectorAll('tbody tr').length === 3 && document.querySelector('tbody tr').innerText.includes('nothing')`)
	p.until(one("tbody tr", "desk/refuse") + `.innerText.includes('failed') && ` + one("tbody tr", "nothing") +
		`.innerText.includes('not_found')`)
	p.choose(".row-fields .field:nth-child(4) select", "failed")
	p.until(`document.querySelectorAll('tbody tr').length === 1 && ` + one("tbody tr", "desk/refuse"))
	p.fill(".row-fields .field:nth-child(2) input", "other/*")
	p.until(one(".empty-title", "No call passes these filters"))
	p.fill(".row-fields .field:nth-child(2) input", "desk/*")
	p.until(one("tbody tr", "desk/refuse"))
	p.choose(".row-fields .field:nth-child(4) select", "")
	p.eval(`(() => { const e = document.activeElement; e.value = ''; e.dispatchEvent(new Event('input')); })()`, nil)
	p.choose(".row-fields .field:nth-child(1) select", "change")
	p.until(one("tbody tr", "servers add"))
	if faults := p.takeFaults(); len(faults) > 0 {
		t.Errorf("the browser complains: %q", faults)
	}
}

// TestPanelSignsOut shows a person with a token who they are, and forgets the token.
func TestPanelSignsOut(t *testing.T) {
	b := chromium(t)
	t.Setenv("TOOLDEX_TOKEN", "s3cret")
	p := b.open(t, serveHTTP(t, t.TempDir()))
	p.fill("dialog input", "s3cret")
	p.press("Enter")
	p.until(`!document.querySelector('dialog')`)
	p.eval(`location.hash = '#/access'`, nil)
	p.until(one("strong", "the token for everything"))
	p.click("button", "Sign out")
	p.until(one("dialog label", "TOOLDEX_TOKEN") + ` && sessionStorage.length === 0`)
}

// callTool calls a tool over the API; whether that succeeds is for the caller to see.
func callTool(t *testing.T, base, id, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/api/tools/"+id+"/call",
		bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
}

// network delays each request by so many milliseconds.
func (p *page) network(latency int) {
	p.t.Helper()
	p.must("Network.emulateNetworkConditions", map[string]any{
		"offline": false, "latency": latency, "downloadThroughput": -1, "uploadThroughput": -1,
	}, nil)
}
