package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// TestPanelEditsServers has a person add a server, see why it does not start, correct it, and disable and remove it.
func TestPanelEditsServers(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	data := t.TempDir()
	base := serveHTTP(t, data)
	p := b.open(t, base)
	p.view("#/servers")
	p.until(one(".ways", "tooldex connect"))
	p.click(".empty button", "Add a server")
	p.fill(p.labelled("Name"), "desk")
	p.fill(p.labelled("Command"), upstreamCommand(t)+"-missing")
	p.click("dialog button", "Try")
	p.until(one("dialog p.hint", filepath.Join(data, "token")))
	p.fill("dialog input[type=password]", ownToken(t, data))
	p.press("Enter")
	p.until(one(".trial .note.bad", "-missing"))
	p.fill(p.labelled("Command"), upstreamCommand(t))
	p.fill(p.labelled("Arguments"), "gone")
	p.fill(p.labelled("Variables"), "HOME\nSECRET_KEY=hush-1234")
	p.click("dialog button", "Try")
	p.until(one(".trial pre", "no licence found"))
	p.takeFaults() // of answers that are errors
	if list := string(apiBody(t, base, "/api/servers")); strings.Contains(list, "desk") {
		t.Errorf("a trial stored the server: %s", list)
	}
	p.fill(p.labelled("Arguments"), "noisy")
	p.click("dialog button", "Try")
	p.until(one(".trial .note.good", "5 tools") + ` && ` + one(".trial .hint", "add_numbers"))
	p.click("dialog button", "Save and start")
	p.until(one(".card", "desk") + fmt.Sprintf(`.querySelector('.badge').textContent === %q`, "running"))
	p.until(`!document.querySelector('dialog')`)
	p.until(one("#toast p", "env.SECRET_KEY"))
	p.until(one("#count", "5 tools"))

	p.click(`button[aria-label="Edit desk"]`, "")
	p.until(one("dialog h2", "Edit desk"))
	var shown string
	p.eval(`document.querySelector('dialog').innerHTML + [...document.querySelectorAll('dialog input, dialog textarea')].map((e) => e.value).join('|')`, &shown)
	if strings.Contains(shown, "hush-1234") || !strings.Contains(shown, "HOME\nSECRET_KEY=***") {
		t.Errorf("the form shows %s", shown)
	}
	p.fill(p.labelled("Seconds for a call"), "33")
	p.click("dialog button", "Save")
	p.until(`!document.querySelector('dialog')`)
	if stored := string(apiBody(t, base, "/api/servers/desk")); !strings.Contains(stored, `"timeout":33`) {
		t.Errorf("stored is %s", stored)
	}

	badge := func(says string) string {
		return one(".card", "desk") + fmt.Sprintf(`?.querySelector('.badge').textContent === %q`, says)
	}
	p.click(`button[aria-label="Disable desk"]`, "")
	p.until(badge("disabled") + ` && ` + one("#count", "0 tools") + ` && document.activeElement.ariaLabel === 'Enable desk'`)
	p.click(`button[aria-label="Enable desk"]`, "")
	p.until(badge("at rest") + ` && ` + one("#count", "5 tools"))
	// What an isolated server reaches is shown on its card and in its form.
	p.eval(`fetch('api/servers/boxed', { method: 'PUT', headers: { 'Content-Type': 'application/json', 'X-Tooldex': 'test', Authorization: 'Bearer '+sessionStorage.getItem('tooldex.token') }, body: JSON.stringify({ command: 'boxed', isolate: { read: ['/srv'] } }) })`, nil)
	p.until(one(".card .facts", "isolated: bwrap; reads /srv; no network"))
	p.click(`button[aria-label="Edit boxed"]`, "")
	p.until(one("dialog .hint", "It runs isolated: reads /srv; no network"))
	p.click("dialog button", "Cancel")
	p.click(`button[aria-label="Remove boxed"]`, "")
	p.click("dialog button", "Remove")
	p.until(`!document.querySelector('dialog') && !` + one(".card", "boxed"))
	p.click(`button[aria-label="Remove desk"]`, "")
	p.click("dialog button", "Cancel")
	p.until(`!document.querySelector('dialog') && ` + one(".card", "desk"))
	p.click(`button[aria-label="Remove desk"]`, "")
	p.click("dialog button", "Remove")
	p.until(one(".ways", "tooldex connect") + ` && ` + one("#count", "0 tools"))
	if faults := p.takeFaults(); len(faults) > 0 {
		t.Errorf("the browser complains: %q", faults)
	}
	p.view("#/tools")
	p.until(one(".finder .ways", "tooldex connect") + ` && ` + one(".list-status", "No tools yet"))
}

// TestPanelLogsIn has a person log in to a server from the panel, and refuse to.
func TestPanelLogsIn(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	a := newAuthority(t)
	data := t.TempDir()
	base := serveHTTP(t, data)
	p := b.open(t, base)
	p.visit(base + "/#token=" + ownToken(t, data)) // as the terminal shows it
	p.reload()
	p.until(`location.href === '` + base + `/'`)
	p.view("#/servers")
	p.click(".page-head button", "Add a server")
	p.fill(p.labelled("Name"), "cloud")
	p.choose(p.labelled("It is"), "http")
	p.fill(p.labelled("Address"), a.base+"/mcp")
	p.click("dialog button", "Save and start")
	p.until(one(".trial .note.bad", "log in"))
	p.click("dialog button", "Cancel")
	p.takeFaults() // of the start that failed
	p.click(`button[aria-label="Log in cloud"]`, "")
	p.until(one("dialog a", "Open the login page"))
	var at string
	p.eval(`document.querySelector('dialog a').href`, &at)
	consent(t, at)
	p.until(one("dialog [role=status]", "You are logged in"))
	p.click("dialog button", "Close")
	p.click(`button[aria-label="Start cloud"]`, "")
	p.until(one(".card", "cloud") + `.querySelector('.badge').textContent === 'running'`)
	if faults := p.takeFaults(); len(faults) > 0 {
		t.Errorf("the browser complains: %q", faults)
	}
}

// labelled returns a selector of the field in the dialog with a label that begins with text.
func (p *page) labelled(text string) string {
	p.t.Helper()
	label := `[...document.querySelectorAll('dialog .field > label')].find((l) => l.textContent.startsWith(` +
		fmt.Sprintf("%q", text) + `) && l.checkVisibility())`
	p.until(label)
	var id string
	p.eval(label+`.htmlFor`, &id)
	return "#" + id
}

// choose selects an option, as a person does.
func (p *page) choose(selector, value string) {
	p.t.Helper()
	p.eval(fmt.Sprintf(`(() => { const s = document.querySelector(%q); s.value = %q; s.dispatchEvent(new Event('change', { bubbles: true })); })()`, selector, value), nil)
}

// consent visits the address of a login, as a browser does, and agrees.
func consent(t *testing.T, address string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Fatalf("the login page answers %d", res.StatusCode)
	}
}
