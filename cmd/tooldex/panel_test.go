package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tooldex/cmd/tooldex/demo"
	"tooldex/selection"
	"tooldex/tool"
)

var shots = flag.String("shots", "", "a folder for new pictures of the panel")

// importDemo stores the demo's tools.
func importDemo(t *testing.T, data string) {
	t.Helper()
	names, err := fs.Glob(demo.FS, "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	files := t.TempDir()
	args := []string{"import"}
	for _, name := range names {
		b, err := demo.FS.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(files, name)
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, file)
	}
	runCommand(t, data, args...)
}

// panelData imports the demo's tools, a server that runs, one that cannot, and one of npm where that can be reached. It
// returns the tool to call and what calling it with 2 and 40 answers.
func panelData(t *testing.T, data string) (call, says string) {
	t.Helper()
	importDemo(t, data)
	upstream := upstreamCommand(t)
	servers := map[string]any{
		"desk":   map[string]any{"command": upstream},
		"broken": map[string]any{"command": upstream, "args": []string{"gone"}},
	}
	npx, err := exec.LookPath("npx")
	if err == nil {
		servers["everything"] = map[string]any{"command": npx, "args": []string{
			"-y",
			"@modelcontextprotocol/server-everything" + serverVersion,
		}}
	}
	// One of them fails, and so does the command.
	cmd := exec.CommandContext(t.Context(), builtCommand(t), "import", writeServers(t, servers))
	cmd.Env = append(os.Environ(), "TOOLDEX_DATA_DIR="+data)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if strings.Contains(string(out), "everything: 13 added") {
		return "everything/get-sum", "The sum of 2 and 40 is 42."
	}
	t.Logf("npm cannot be reached, so a server of our own is called: %s", out)
	return "desk/add_numbers", "42"
}

// TestPanel uses the panel as a person does, in a real browser over real servers.
func TestPanel(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	data := t.TempDir()
	called, says := panelData(t, data)
	base := serveHTTP(t, data)
	for range 3 { // which the dashboard shows
		apiBody(t, base, "/search?q=brew+a+pot+of+oolong")
	}
	apiBody(t, base, "/search?q=propose+merging+one+branch+into+another")
	p := b.open(t, base)
	p.look(1280, 800, false)
	for _, step := range []struct {
		name string
		do   func(*testing.T, *page)
	}{
		{"search", searchInPanel},
		{"categories", categoriesInPanel},
		{"toggle", func(t *testing.T, p *page) { toggleInPanel(t, p, base) }},
		{"words", func(t *testing.T, p *page) { wordsInPanel(t, p, base) }},
		{"call", func(_ *testing.T, p *page) { callInPanel(p, called, says) }},
		{"selection", selectionInPanel},
		{"activity", func(t *testing.T, p *page) { activityInPanel(t, p, base) }},
		{"servers", serversInPanel},
		{"settings", func(t *testing.T, p *page) { settingsInPanel(t, p, base) }},
		{"accessibility", func(t *testing.T, p *page) { accessibilityOfPanel(t, p, called) }},
		{"pictures", picturesOfPanel},
		{"ten thousand tools", func(t *testing.T, p *page) { manyInPanel(t, p, data) }},
	} {
		t.Run(step.name, func(t *testing.T) {
			p.t = t
			step.do(t, p)
			if faults := p.takeFaults(); len(faults) > 0 {
				t.Errorf("the browser complains: %q", faults)
			}
		})
		p.t = t
	}
}

// TestPanelAsksForTheToken holds that the page shows nothing before it has the token, and keeps it while its tab is
// open.
func TestPanelAsksForTheToken(t *testing.T) {
	b := chromium(t)
	t.Setenv("TOOLDEX_TOKEN", "s3cret")
	base := serveHTTP(t, t.TempDir(), "--demo")
	p := b.open(t, base)
	p.until(one("dialog label", "TOOLDEX_TOKEN") + ` && document.querySelectorAll('.row').length === 0`)
	p.fill("dialog input", "wrong")
	p.press("Enter")
	p.until(one("dialog p", "Unknown or revoked token"))
	p.fill("dialog input", "s3cret")
	p.press("Enter")
	p.until(`!document.querySelector('dialog') && document.querySelectorAll('.row').length > 5`)
	for _, f := range p.takeFaults() {
		if !strings.Contains(f, "401") {
			t.Errorf("the browser complains: %s", f)
		}
	}
	p.reload()
	p.until(`document.querySelectorAll('.row').length > 5 && !document.querySelector('dialog')`)
	if faults := p.takeFaults(); len(faults) > 0 {
		t.Errorf("after a reload the browser complains: %q", faults)
	}
}

// TestPanelAsksBeforeItDestroys has a person refuse a call that needs confirmation, and make it then.
func TestPanelAsksBeforeItDestroys(t *testing.T) {
	b := chromium(t)
	r := newRisky(t)
	base := serveHTTP(t, r.data, "--confirm", "annotated")
	p := b.open(t, base)
	p.view("#/tools?tool=risky%2Ferase")
	p.until(one(".tool-title .badge", "asks first"))
	p.fill(".schema-form .field:nth-child(1) input", "<b>x</b>")
	p.click("form button.primary", "Call")
	p.until(one("dialog pre", "<b>x</b>") + ` && !document.querySelector('dialog b')`)
	p.click("dialog button", "Cancel")
	p.until(`!document.querySelector('dialog') && !document.querySelector('.answer-head')`)
	if ran := r.ran(); ran != "" {
		t.Fatalf("it ran without a yes: %s", ran)
	}
	p.click("form button.primary", "Call")
	p.until(one("dialog p", "may change or destroy something"))
	p.click("dialog button", "Call")
	p.until(one(".answer-head .badge", "answered"))
	if ran := r.ran(); ran != "erase <b>x</b>\n" {
		t.Errorf("what ran is %q", ran)
	}
	if faults := p.takeFaults(); len(faults) > 0 {
		t.Errorf("the browser complains: %q", faults)
	}
}

// apiBody asks the API, as a program does.
func apiBody(t *testing.T, base, path string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s answers %d, %v: %s", path, res.StatusCode, err, body)
	}
	return body
}

func finds(t *testing.T, base, request string) []tool.Hit {
	t.Helper()
	var res tool.Result
	if err := json.Unmarshal(apiBody(t, base, "/search?trial=true&q="+url.QueryEscape(request)), &res); err != nil {
		t.Fatal(err)
	}
	return res.Tools
}

// view shows a view from its beginning, as after a reload.
func (p *page) view(hash string) {
	p.t.Helper()
	p.visit("http://" + p.host + "/" + hash)
	p.reload()
	p.until(`/^\d/.test(document.querySelector('#count').textContent)`)
}

func searchInPanel(t *testing.T, p *page) {
	p.view("#/tools")
	p.eval(`document.activeElement.blur()`, nil)
	p.press("/")
	p.until(`document.activeElement.id === 'q'`)
	p.write("propose merging one branch into another")
	p.until(`document.querySelector('.hit .name')?.textContent === 'create_pull_request'`)
	p.click("button.toggle", "Why")
	p.until(one(".hit .why", "meaning"))
	var hit struct {
		Score      float64
		Facts, Why string
	}
	p.eval(`(() => { const h = document.querySelector('.hit'); return { Score: Number(h.querySelector('.score').textContent), Facts: h.querySelector('.hit-facts').innerText, Why: h.querySelector('.why').innerText }; })()`, &hit)
	if hit.Score < .5 || hit.Score > 1 || !strings.Contains(hit.Facts, "github") ||
		!strings.Contains(hit.Facts, "tokens") || !strings.Contains(hit.Why, "cosine") {
		t.Errorf("the first result shows %+v", hit)
	}
	p.press("/")
	p.until(`document.activeElement.id === 'q'`)
	p.press("ArrowDown")
	p.press("Enter")
	p.until(one(".tool-head h2", "create_pull_request"))
	p.until(`location.hash.includes('tool=github%2Fcreate_pull_request') && location.hash.includes('q=propose')`)
	p.reload()
	p.until(one(".tool-head h2", "create_pull_request") +
		` && document.querySelector('#q').value === 'propose merging one branch into another'`)
	p.press("Escape")
	p.fill("#q", "brew a pot of oolong")
	p.until(one(".advice-title", "No tool here fits"))
	p.until(`document.querySelector('.advice').innerText.length > 'No tool here fits'.length + 10`)
	// A link that is followed while the search waits to enter the address stays, even if its event comes late.
	var address string
	p.eval(`(() => {
		const q = document.querySelector('#q');
		q.value = 'brew';
		q.dispatchEvent(new Event('input'));
		history.pushState(null, '', '#/tools?server=github');
		return new Promise((done) => setTimeout(() => done(location.hash), 400));
	})()`, &address)
	if address != "#/tools?server=github" {
		t.Errorf("a link's address has become %s", address)
	}
	p.eval(`dispatchEvent(new HashChangeEvent('hashchange'))`, nil)
	if n := p.requests("GET /search"); n == 0 {
		t.Error("no request of a search was seen, so none to elsewhere would be")
	}
}

func categoriesInPanel(t *testing.T, p *page) {
	p.view("#/tools")
	var told struct {
		Categories []tool.Count
	}
	if err := json.Unmarshal(apiBody(t, "http://"+p.host, "/api/tools/categories"), &told); err != nil {
		t.Fatal(err)
	}
	var shown []tool.Count
	p.eval(`[...document.querySelectorAll('.row.group')].map((r) => ({ name: r.querySelector('.group-name').textContent, tools: Number(r.querySelector('.figure').textContent) }))`, &shown)
	if len(shown) < 8 || len(shown) > len(told.Categories) || shown[0] != told.Categories[0] ||
		shown[7] != told.Categories[7] {
		t.Errorf("categories %v are shown as %v", told.Categories, shown)
	}
	leaves := `document.querySelectorAll('.row.leaf').length`
	p.until(leaves + ` === 0`)
	p.click(".row.group", shown[1].Name)
	p.until(fmt.Sprintf(`%s >= %d && document.querySelector('.row.group[aria-expanded=true]')`, leaves,
		min(shown[1].Tools, 5)))
	p.press("ArrowLeft") // the group has the focus since the click
	p.until(leaves + ` === 0`)
	p.press("ArrowRight")
	p.press("ArrowDown")
	p.press("Enter")
	p.until(`document.querySelector('.tool-head h2') === document.activeElement`)
	p.press("Escape")
	p.until(`!document.querySelector('.tool-head') && document.activeElement.getAttribute('role') === 'tree'`)
	p.press("ArrowLeft")
	p.press("ArrowLeft")
}

func toggleInPanel(t *testing.T, p *page, base string) {
	has := func() bool {
		for _, h := range finds(t, base, "create an issue on github") {
			if h.ID == "github/create_issue" {
				return true
			}
		}
		return false
	}
	if !has() {
		t.Fatal("the tool is not found to begin with")
	}
	enabled := `document.querySelector('.switch input')`
	p.view("#/tools?tool=github%2Fcreate_issue")
	p.until(enabled + `.checked`)
	p.click(".switch", "Enabled")
	p.until(one("#toast p", "is disabled"))
	if has() {
		t.Error("a disabled tool is found")
	}
	p.reload()
	p.until(enabled + ` && !` + enabled + `.checked`)
	p.click(".switch", "Enabled")
	p.until(one("#toast p", "is enabled"))
	if !has() {
		t.Error("an enabled tool is not found")
	}
	p.click(".segments label", "Always")
	p.until(one("#toast p", "Every agent gets it"))
	p.reload()
	p.until(`document.querySelector('.segments input:checked')?.value === 'always'`)
	p.view("#/settings")
	p.until(one(".chip a", "github/create_issue"))
	p.click(`.chip button[aria-label="Remove github/create_issue"]`, "")
	p.until(one("#toast p", "Saved"))
	p.reload()
	p.until(one("#pref-mode", "") + ` && document.querySelectorAll('.chips').length === 0`)
}

func wordsInPanel(t *testing.T, p *page, base string) {
	const request = "let my work land in the trunk"
	p.view("#/tools?tool=github%2Fmerge_pull_request")
	p.fill(".words input", request)
	p.press("Enter")
	p.until(one(".sayings li", request))
	if hits := finds(t, base, request); len(hits) == 0 || hits[0].ID != "github/merge_pull_request" {
		t.Errorf("what was said finds %v", hits)
	}
	p.reload()
	p.until(one(".sayings li", request) + `.querySelector('.badge').textContent === 'added here'`)
	p.click(fmt.Sprintf(`.sayings button[aria-label="Remove %s"]`, request), "")
	p.until(`!` + one(".sayings li", request))
	p.click("details.raw summary", "borrowed")
	p.until(one(".lender", "similarity"))
}

func callInPanel(p *page, id, says string) {
	p.view("#/tools?tool=" + url.QueryEscape(id))
	p.click("button.primary", "Call")
	p.until(one(".note.bad", "a is required"))
	p.fill(".schema-form .field:nth-child(1) input", "2")
	p.fill(".schema-form .field:nth-child(2) input", "forty")
	p.press("Enter")
	p.until(one(".note.bad", "b is not a number"))
	p.fill(".schema-form .field:nth-child(2) input", "40")
	p.press("Enter")
	p.until(one(".answer pre", says))
	p.fill(".answer form input", "the answer")
	p.press("Enter")
	p.until(one(".examples figcaption", "the answer"))
	p.reload()
	p.until(one(".examples figcaption", "added here"))
	p.click("button", "Fill in the example")
	p.click("button", "As JSON")
	p.until(`JSON.parse(document.querySelector('textarea.mono').value).b === 40`)
	p.click(".examples button", "Remove")
	p.until(`!` + one(".examples figcaption", "the answer"))
}

func selectionInPanel(t *testing.T, p *page) {
	p.view("#/selection")
	p.fill("#message", "Read package.json and list the open pull requests")
	p.until(`document.querySelectorAll('.selection-out tbody tr').length > 0 && document.querySelector('.selection-out tbody').innerText.includes('pull_request')`)
	var saved string
	p.eval(one(".tile", "Saved")+`.querySelector('.tile-value').textContent`, &saved)
	if !strings.HasSuffix(saved, "%") || len(saved) < 4 {
		t.Errorf("it says that %q is saved", saved)
	}
	rows := `document.querySelectorAll('.selection-out tbody tr:not(.cut, .rest)').length`
	p.fill("#most", "1")
	p.until(rows + ` === 1`)
	p.until(one(".selection-out tr.cut + tr.rest", "/"))
	p.click("summary", "What is sent")
	p.until(one("details.raw pre", "inputSchema"))
	// By hand, only what is picked is given, also without a message.
	p.fill("#most", "")
	p.fill("#message", "")
	p.choose("#mode", "manual")
	p.until(one(".empty-title", "No message yet"))
	for _, name := range []string{"github/create_issue", "maps/geocode_address"} {
		p.fill("#pick", name)
		p.press("Tab")
	}
	p.until(rows + ` === 2 && ` + one(".selection-out tbody", "github/create_issue"))
	p.reload()
	p.choose("#mode", "manual")
	p.click(`.chips button[aria-label="Remove github/create_issue"]`, "")
	p.until(rows + ` === 1 && !` + one(".selection-out tbody", "github/create_issue"))
	p.click(`.chips button[aria-label="Remove maps/geocode_address"]`, "")
	p.until(one(".empty-title", "No message yet"))
	p.choose("#mode", "")
	p.fill("#message", "Read package.json and list the open pull requests") // which the browser keeps for later steps
	p.until(rows + ` > 0`)
}

func activityInPanel(t *testing.T, p *page, base string) {
	p.view("#/activity")
	p.until(one(".tile", "Requests") + `.querySelector('.tile-value').textContent >= '4'`)
	p.until(`document.querySelectorAll('svg.chart rect.bar').length > 0`)
	p.until(one(".bars a", "/")) // what was called
	const request = "brew a pot of oolong"
	p.until(one(".fruitless li", request) + `.innerText.includes('3×')`)
	p.until(one(".fruitless button", "Add"))
	var taught string
	p.eval(one(".fruitless select", "")+`.value`, &taught)
	p.click(".fruitless button", "Add")
	p.until(one(".fruitless .badge", "finds "+taught))
	if hits := finds(t, base, request); len(hits) == 0 || string(hits[0].ID) != taught {
		t.Errorf("what was taught to %s finds %v", taught, hits)
	}
}

func serversInPanel(t *testing.T, p *page) {
	p.view("#/servers")
	p.until(one(".card", "desk"))
	state := func(server, state string) string {
		return one(".card", server) + fmt.Sprintf(`.querySelector('.badge').textContent === %q`, state)
	}
	p.click(`button[aria-label="Start desk"]`, "")
	p.until(state("desk", "running"))
	p.click(`button[aria-label="Stop desk"]`, "")
	p.until(state("desk", "at rest"))
	p.click(`button[aria-label="Log of desk"]`, "")
	p.until(one(".log", "stopped by hand"))
	if faults := p.takeFaults(); len(faults) > 0 {
		t.Errorf("the browser complains: %q", faults)
	}
	p.click(`button[aria-label="Start broken"]`, "")
	p.until(state("broken", "failed") + ` && ` + one("#toast p.bad", "broken"))
	p.takeFaults() // a browser complains of any answer of an error
	p.click(`button[aria-label="Log of broken"]`, "")
	p.until(one(".log", "no licence found"))
}

func settingsInPanel(t *testing.T, p *page, base string) {
	p.view("#/settings")
	p.until(one("#pref-most", ""))
	p.fill("#pref-most", "7")
	p.press("Tab")
	p.until(one("#toast p", "Saved"))
	p.eval(`(() => { const s = document.querySelector('#theme'); s.value = 'dark'; s.dispatchEvent(new Event('change')); })()`, nil)
	p.reload()
	p.until(`document.querySelector('#pref-most')?.value === '7' && document.querySelector('#theme').value === 'dark'`)
	var ground string
	p.eval(`getComputedStyle(document.body).backgroundColor`, &ground)
	if ground != "rgb(14, 18, 22)" {
		t.Errorf("dark is %s", ground)
	}
	var kept selection.Preferences
	if err := json.Unmarshal(apiBody(t, base, "/api/tools/preferences"), &kept); err != nil || kept.MaxTools != 7 {
		t.Errorf("the service keeps %+v, %v", kept, err)
	}
	// Somebody else changes them meanwhile, and neither change is lost.
	p.eval(`fetch('api/tools/preferences', { method: 'PUT', headers: { 'Content-Type': 'application/json', 'X-Tooldex': 'test' }, body: JSON.stringify({ maxTools: 9 }) })`, nil)
	p.fill("#pref-threshold", "30000")
	p.press("Tab")
	p.until(`document.querySelector('#pref-most').value === '9' && document.querySelector('#pref-threshold').value === '30000'`)
	p.takeFaults() // the conflict that was resolved
	p.fill("#pref-most", "")
	p.eval(`(() => { const m = document.querySelector('#pref-most'); m.value = ''; m.dispatchEvent(new Event('change')); })()`, nil)
	p.until(`document.querySelector('#pref-most').placeholder.startsWith('15') && document.querySelector('#pref-most').value === ''`)
	p.eval(`(() => { const s = document.querySelector('#theme'); s.value = 'system'; s.dispatchEvent(new Event('change')); })()`, nil)
}

// axeVersion is the accessibility checker of npm that the panel is held against.
const axeVersion = "axe-core@4.14.1"

// axe downloads the checker, and skips the test where npm cannot be reached.
func axe(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "pack", "--silent", axeVersion)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("%s cannot be downloaded: %v\n%s", axeVersion, err, stderrOf(err))
	}
	f, err := os.Open(filepath.Join(dir, strings.TrimSpace(string(out))))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for files := tar.NewReader(z); ; {
		h, err := files.Next()
		if err != nil {
			t.Fatalf("%s has no axe.min.js: %v", axeVersion, err)
		}
		if h.Name == "package/axe.min.js" {
			b, err := io.ReadAll(files)
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
	}
}

// accessibilityOfPanel holds every view against axe, light, dark and narrow.
func accessibilityOfPanel(t *testing.T, p *page, id string) {
	if raceEnabled {
		t.Skip("it looks at the page alone, which the race detector does not see")
	}
	checker := axe(t)
	views := []struct{ hash, ready string }{
		{"#/tools", `document.querySelector('.row')`},
		{"#/tools?q=propose+merging+one+branch+into+another", `document.querySelector('.hit .why')`},
		{"#/tools?q=brew+a+pot+of+coffee+on+the+moon", `document.querySelector('.results .hit')`},
		{"#/tools?tool=" + url.QueryEscape(id), `document.querySelector('.schema-form .field')`},
		{"#/selection", `document.querySelector('.selection-out tbody tr')`},
		{"#/activity", `document.querySelector('.chart')`},
		{"#/servers", `document.querySelector('.card h3 .badge')`},
		{"#/calls", `document.querySelector('td .badge')`},
		{"#/access", `document.querySelectorAll('.section').length >= 4`},
		{"#/settings", `document.querySelector('#pref-most') && document.querySelector('.category-list')`},
	}
	for _, size := range []struct {
		width int
		dark  bool
	}{{1280, false}, {1280, true}, {380, false}} {
		p.look(size.width, 800, size.dark)
		p.view("#/tools")
		p.eval(checker, nil)
		for _, v := range views {
			p.eval(`location.hash = `+fmt.Sprintf("%q", v.hash), nil)
			p.until(v.ready)
			var found []string
			p.eval(`axe.run(document, { resultTypes: ['violations'] }).then((r) => r.violations.filter((v) => v.impact === 'serious' || v.impact === 'critical')
				.map((v) => v.id + ': ' + v.help + ': ' + v.nodes.slice(0, 4).map((n) => n.html.slice(0, 160) + ' ' + (n.any[0]?.message ?? '')).join(' | ')))`, &found)
			for _, f := range found {
				t.Errorf("%s, %d wide, dark %v: %s", v.hash, size.width, size.dark, f)
			}
			var wide int
			p.eval(`document.documentElement.scrollWidth`, &wide)
			if wide > size.width {
				t.Errorf("%s is %d wide in a window of %d", v.hash, wide, size.width)
			}
		}
	}
	p.look(1280, 800, false)
}

// manyInPanel lets another process add ten thousand tools, and holds that only those in sight are elements.
func manyInPanel(t *testing.T, p *page, data string) {
	const many = 10_000
	var b strings.Builder
	b.WriteString(`{"server":"many","borrow":false,"tools":[`)
	for i := range many {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"sort_shelf_%05d","description":"Sort shelf %d.","category":"shelves","inputSchema":{"type":"object"}}`, i,
			i)
	}
	b.WriteString(`]}`)
	file := filepath.Join(t.TempDir(), "many.json")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	runCommand(t, data, "import", file)
	p.until(`window.total > 10000 || void fetch('api/tools?limit=1').then((r) => r.json()).then((l) => window.total = l.total)`)
	p.view("#/tools?server=many")
	nodes := `document.querySelectorAll('*').length`
	p.until(`document.querySelector('.list-status').textContent.startsWith('10,000 tools') && document.querySelectorAll('.row.leaf').length > 5`)
	count := func(where string) {
		var n int
		p.eval(nodes, &n)
		if n > 700 {
			t.Errorf("%s the page has %d elements", where, n)
		}
	}
	count("at the top")
	p.eval(`document.querySelector('.tree').focus()`, nil)
	p.press("End")
	p.until(one(".row.leaf.at .name", "sort_shelf_09999"))
	count("at the end")
	p.eval(`document.querySelector('.tree').scrollTop = 200000`, nil)
	p.until(`document.querySelectorAll('.row.leaf').length > 5 && !` + one(".row.leaf .name", "sort_shelf_09999"))
	count("in the middle")
}

// picturesOfPanel makes the pictures of the documentation.
func picturesOfPanel(t *testing.T, p *page) {
	if *shots == "" {
		t.Skip("only with -shots")
	}
	picture := func(name string) {
		p.eval(`document.getElementById('toast').replaceChildren()`, nil)
		if err := os.WriteFile(filepath.Join(*shots, name+".webp"), p.shoot(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p.look(1280, 800, false)
	p.view("#/tools?q=propose+merging+one+branch+into+another&tool=github%2Fcreate_pull_request")
	p.until(`document.querySelector('.hit') && document.querySelector('.schema-form .field')`)
	picture("tools")
	p.look(1280, 800, true)
	p.view("#/activity")
	p.until(`document.querySelector('.chart')`)
	picture("activity-dark")
	p.look(380, 780, false)
	p.view("#/selection")
	p.until(`document.querySelector('.selection-out tbody tr')`)
	picture("selection-narrow")
	p.look(1280, 800, false)
}
