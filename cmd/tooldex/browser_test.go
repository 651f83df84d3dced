package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// browser is a Chromium without windows, spoken to in the DevTools protocol over two pipes: messages of JSON that end
// with a zero byte.
type browser struct {
	to   *os.File
	mu   sync.Mutex
	last int
	asks map[int]chan cdpMessage
	page *page
}

type cdpMessage struct {
	ID        int                       `json:"id,omitempty"`
	SessionID string                    `json:"sessionId,omitempty"`
	Method    string                    `json:"method,omitempty"`
	Params    json.RawMessage           `json:"params,omitempty"`
	Result    json.RawMessage           `json:"result,omitempty"`
	Error     *struct{ Message string } `json:"error,omitempty"`
}

// page is the one tab of a browser, and what went wrong in it.
type page struct {
	t       *testing.T
	b       *browser
	session string
	host    string // that requests may go to
	mu      sync.Mutex
	faults  []string
	sent    []string // method and path of each request
}

// chromium starts the browser, and skips the test where there is none.
func chromium(t *testing.T) *browser {
	t.Helper()
	if testing.Short() {
		t.Skip("the browser is left out with -short")
	}
	var program string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if at, err := exec.LookPath(name); err == nil {
			program = at
			break
		}
	}
	if program == "" {
		t.Skip("no Chromium is installed; Debian has one as the package chromium")
	}
	dir, err0 := os.MkdirTemp("", "chromium")
	fromUs, to, err1 := os.Pipe()
	from, toUs, err2 := os.Pipe()
	if err := errors.Join(err0, err1, err2); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "--headless=new", "--remote-debugging-pipe", "--no-sandbox",
		"--disable-gpu", "--disable-dev-shm-usage",
		"--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--disable-extensions", "--mute-audio",
		"--force-color-profile=srgb", "--lang=en-US", "--user-data-dir="+dir,
		"--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", "about:blank")
	cmd.Env = append(os.Environ(), "TZ=UTC", "HOME="+dir)
	cmd.ExtraFiles = []*os.File{fromUs, toUs} // 3 and 4, as Chromium has it
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = fromUs.Close()
	_ = toUs.Close()
	b := &browser{to: to, asks: map[int]chan cdpMessage{}}
	read := make(chan struct{})
	go func() {
		defer close(read)
		b.read(bufio.NewReaderSize(from, 1<<20))
	}()
	t.Cleanup(func() {
		_ = b.call("", "Browser.close", nil, nil) // it may end before it answers
		_ = to.Close()
		_ = cmd.Wait()
		_ = from.Close()
		<-read
		_ = os.RemoveAll(dir) // what it started may still write there
	})
	return b
}

func (b *browser) read(r *bufio.Reader) {
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for id, ask := range b.asks {
			close(ask)
			delete(b.asks, id)
		}
		b.asks = nil
	}()
	for {
		line, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m cdpMessage
		if json.Unmarshal(line[:len(line)-1], &m) != nil {
			continue
		}
		b.mu.Lock()
		ask, p := b.asks[m.ID], b.page
		delete(b.asks, m.ID)
		b.mu.Unlock()
		switch {
		case ask != nil:
			ask <- m
		case p != nil && m.SessionID == p.session:
			p.event(m)
		}
	}
}

// call sends a command and reads its result into out, which may be nil.
func (b *browser) call(session, method string, params, out any) error {
	b.mu.Lock()
	if b.asks == nil {
		b.mu.Unlock()
		return errors.New("the browser has ended")
	}
	b.last++
	id, ask := b.last, make(chan cdpMessage, 1)
	b.asks[id] = ask
	b.mu.Unlock()
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	if params == nil {
		raw = []byte("{}")
	}
	line, err := json.Marshal(cdpMessage{ID: id, SessionID: session, Method: method, Params: raw})
	if err != nil {
		return err
	}
	if _, err := b.to.Write(append(line, 0)); err != nil {
		return err
	}
	m, ok := <-ask
	switch {
	case !ok:
		return errors.New("the browser has ended")
	case m.Error != nil:
		return fmt.Errorf("%s: %s", method, m.Error.Message)
	case out == nil:
		return nil
	}
	return json.Unmarshal(m.Result, out)
}

// open opens a page of base, and from then on notes what goes wrong in it.
func (b *browser) open(t *testing.T, base string) *page {
	t.Helper()
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	p := &page{t: t, b: b, host: u.Host}
	var target struct{ TargetID string }
	var attached struct{ SessionID string }
	err = errors.Join(
		b.call("", "Target.createTarget", map[string]any{"url": "about:blank"}, &target),
		b.call("", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached))
	if err != nil {
		t.Fatal(err)
	}
	p.session = attached.SessionID
	b.mu.Lock()
	b.page = p
	b.mu.Unlock()
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		p.must(domain+".enable", nil, nil)
	}
	p.must("Emulation.setFocusEmulationEnabled", map[string]any{"enabled": true}, nil)
	p.visit(base)
	return p
}

func (p *page) must(method string, params, out any) {
	p.t.Helper()
	if err := p.b.call(p.session, method, params, out); err != nil {
		p.t.Fatal(err)
	}
}

// event notes errors of the console and of scripts, and requests to elsewhere.
func (p *page) event(m cdpMessage) {
	var e struct {
		Type             string
		Args             []struct{ Value, Description any }
		Entry            struct{ Level, Text, URL string }
		ExceptionDetails struct {
			Text      string
			Exception struct{ Description string }
		}
		Request struct{ Method, URL string }
	}
	if json.Unmarshal(m.Params, &e) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch m.Method {
	case "Runtime.consoleAPICalled":
		if e.Type == "error" || e.Type == "warning" || e.Type == "assert" {
			p.faults = append(p.faults, fmt.Sprintf("console %s: %v", e.Type, e.Args))
		}
	case "Runtime.exceptionThrown":
		p.faults = append(p.faults, "exception: "+e.ExceptionDetails.Text+" "+e.ExceptionDetails.Exception.Description)
	case "Log.entryAdded":
		if e.Entry.Level == "error" || e.Entry.Level == "warning" {
			p.faults = append(p.faults, "log: "+e.Entry.Text+" "+e.Entry.URL)
		}
	case "Network.requestWillBeSent":
		u, err := url.Parse(e.Request.URL)
		if err != nil || u.Host != p.host && u.Scheme != "data" && u.Scheme != "about" {
			p.faults = append(p.faults, "a request to elsewhere: "+e.Request.URL)
			return
		}
		p.sent = append(p.sent, e.Request.Method+" "+u.Path)
	}
}

// takeFaults returns what went wrong since the last time.
func (p *page) takeFaults() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := p.faults
	p.faults = nil
	return out
}

// requests counts the requests with this method and path.
func (p *page) requests(what string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, s := range p.sent {
		if s == what {
			n++
		}
	}
	return n
}

func (p *page) visit(address string) {
	p.t.Helper()
	p.must("Page.navigate", map[string]any{"url": address}, nil)
	p.until(`document.readyState === 'complete' && location.href !== 'about:blank'`)
}

func (p *page) reload() {
	p.t.Helper()
	p.eval(`window.stale = true`, nil)
	p.must("Page.reload", nil, nil)
	p.until(`window.stale === undefined && document.readyState === 'complete'`)
}

// eval runs an expression, waits for it if it is a promise, and reads its value into out, which may be nil.
func (p *page) eval(expression string, out any) {
	p.t.Helper()
	if err := p.tryEval(expression, out); err != nil {
		p.t.Fatalf("%.300s: %v", expression, err)
	}
}

func (p *page) tryEval(expression string, out any) error {
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	if err := p.b.call(p.session, "Runtime.evaluate", map[string]any{
		"expression": expression, "awaitPromise": true,
		"returnByValue": true, "userGesture": true,
	}, &r); err != nil {
		return err
	}
	if x := r.ExceptionDetails; x != nil {
		return errors.New(x.Text + " " + x.Exception.Description)
	}
	if out == nil || len(r.Result.Value) == 0 {
		return nil
	}
	return json.Unmarshal(r.Result.Value, out)
}

// enough is how long a page may take for one step.
const enough = 30 * time.Second

// until waits until a condition holds. A new page that comes meanwhile takes the question with it, so it is asked
// again.
func (p *page) until(condition string) {
	p.t.Helper()
	wait := fmt.Sprintf(`new Promise((yes, no) => {
		const end = performance.now() + %d;
		const look = () => {
			let holds = false;
			try { holds = (() => (%s))(); } catch {}
			if (holds) yes();
			else if (performance.now() > end) no(new Error('it never came'));
			else setTimeout(look, 15);
		};
		look();
	})`, enough.Milliseconds(), condition)
	ctx, cancel := context.WithTimeout(p.t.Context(), enough)
	defer cancel()
	for {
		err := p.tryEval(wait, nil)
		if err == nil {
			return
		}
		if ctx.Err() != nil || strings.Contains(err.Error(), "it never came") {
			var text string
			_ = p.tryEval(`location.href + '\n' + document.querySelector('main').innerText.slice(0, 2000)`, &text)
			p.t.Fatalf("waited for %s: %v\nfaults: %q\nthe page says:\n%s", condition, err, p.takeFaults(), text)
		}
	}
}

// one is an expression of the first element that fits a selector and, if text is given, holds it.
func one(selector, text string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(%q)].find((e) => e.checkVisibility() && e.textContent.includes(%q))`, selector, text)
}

// click clicks where an element is, as a person does.
func (p *page) click(selector, text string) {
	p.t.Helper()
	el := one(selector, text)
	p.until(`(e => e && !e.disabled)(` + el + `)`)
	var at struct{ X, Y float64 }
	p.eval(`(() => { const e = `+el+`; e.scrollIntoView({ block: 'center' }); const r = e.getBoundingClientRect(); return { X: r.x + r.width / 2, Y: r.y + r.height / 2 }; })()`, &at)
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		p.must("Input.dispatchMouseEvent", map[string]any{
			"type": kind, "x": at.X, "y": at.Y, "button": "left",
			"clickCount": 1,
		}, nil)
	}
}

// write puts text where the focus is.
func (p *page) write(text string) {
	p.t.Helper()
	p.must("Input.insertText", map[string]any{"text": text}, nil)
}

// fill replaces what an element holds.
func (p *page) fill(selector, text string) {
	p.t.Helper()
	p.until(one(selector, ""))
	p.eval(`(() => { const e = `+one(selector, "")+`; e.focus(); e.select?.(); })()`, nil)
	p.write(text)
}

// press presses a key by its name.
func (p *page) press(key string) {
	p.t.Helper()
	params := map[string]any{"type": "keyDown", "key": key, "code": key}
	codes := map[string]int{
		"Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "ArrowLeft": 37,
		"ArrowRight": 39, "End": 35, "Home": 36, "Tab": 9,
	}
	switch code, ok := codes[key]; {
	case key == "Enter": // without a text it submits no form
		params["text"] = "\r"
		fallthrough
	case ok:
		params["windowsVirtualKeyCode"] = code
	default:
		params["text"] = key
	}
	p.must("Input.dispatchKeyEvent", params, nil)
	p.must("Input.dispatchKeyEvent", map[string]any{
		"type": "keyUp", "key": key, "code": key,
		"windowsVirtualKeyCode": codes[key],
	}, nil)
}

// look sets the size of the window and whether it is dark.
func (p *page) look(width, height int, dark bool) {
	p.t.Helper()
	scheme := map[bool]string{true: "dark", false: "light"}[dark]
	p.must("Emulation.setDeviceMetricsOverride", map[string]any{
		"width": width, "height": height,
		"deviceScaleFactor": 1, "mobile": false,
	}, nil)
	p.must("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{
		"name":  "prefers-color-scheme",
		"value": scheme,
	}, {"name": "prefers-reduced-motion", "value": "reduce"}}}, nil)
	p.eval(`new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))`, nil)
}

// shoot takes a picture of the window as WebP.
func (p *page) shoot() []byte {
	p.t.Helper()
	var shot struct{ Data string }
	p.must("Page.captureScreenshot", map[string]any{"format": "webp", "quality": 82}, &shot)
	b, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		p.t.Fatal(err)
	}
	return b
}
