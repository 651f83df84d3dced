package web

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// get asks the handler.
func get(t *testing.T, method, path string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, r)
	return w
}

func TestHandler(t *testing.T) {
	for name, c := range map[string]struct {
		method, path string
		status       int
		kind         string
	}{
		"page":            {"GET", "/", 200, "text/html; charset=utf-8"},
		"page, head":      {"HEAD", "/", 200, "text/html; charset=utf-8"},
		"module":          {"GET", "/panel/app.js", 200, "text/javascript; charset=utf-8"},
		"style":           {"GET", "/panel/style.css", 200, "text/css; charset=utf-8"},
		"icon":            {"GET", "/panel/icon.svg", 200, "image/svg+xml"},
		"page by name":    {"GET", "/panel/index.html", 404, ""},
		"no such file":    {"GET", "/panel/none.js", 404, ""},
		"folder":          {"GET", "/panel/", 404, ""},
		"out of the tree": {"GET", "/panel/../web.go", 404, ""},
		"elsewhere":       {"GET", "/app.js", 404, ""},
	} {
		w := get(t, c.method, c.path)
		if w.Code != c.status || c.status == http.StatusOK && w.Header().Get("Content-Type") != c.kind {
			t.Errorf("%s: %d %s", name, w.Code, w.Header().Get("Content-Type"))
		}
		if head := c.method == "HEAD"; c.status == http.StatusOK && head != (w.Body.Len() == 0) {
			t.Errorf("%s: %d bytes of body", name, w.Body.Len())
		}
	}
}

func TestCaching(t *testing.T) {
	first := get(t, "GET", "/panel/app.js")
	tag := first.Header().Get("ETag")
	if !strings.HasPrefix(tag, `W/"`) || first.Header().Get("Cache-Control") != "no-cache" {
		t.Fatalf("headers %v", first.Header())
	}
	for given, want := range map[string]int{tag: http.StatusNotModified, `W/"other"`: http.StatusOK} {
		if w := get(t, "GET", "/panel/app.js", "If-None-Match", given); w.Code != want {
			t.Errorf("If-None-Match %s gives %d", given, w.Code)
		}
	}
	if other := get(t, "GET", "/panel/api.js").Header().Get("ETag"); other == tag {
		t.Error("two files have one tag")
	}
}

func TestSecurityHeaders(t *testing.T) {
	for _, path := range []string{"/", "/panel/app.js", "/panel/style.css"} {
		h := get(t, "GET", path).Header()
		policy := h.Get("Content-Security-Policy")
		for _, want := range []string{
			"default-src 'none'", "script-src 'self';", "style-src 'self';",
			"connect-src 'self';", "frame-ancestors 'none'", "form-action 'none'", "base-uri 'none'",
		} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: the policy lacks %s: %s", path, want, policy)
			}
		}
		for _, never := range []string{"unsafe", "*", "http"} {
			if strings.Contains(policy, never) {
				t.Errorf("%s: the policy has %s: %s", path, never, policy)
			}
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: headers %v", path, h)
		}
	}
}

// maxSize is how many bytes the whole panel may have.
const maxSize = 150 << 10

var (
	external = regexp.MustCompile(`(?i)(https?:)?//[a-z0-9.-]+\.[a-z]{2,}`)
	inline   = regexp.MustCompile(`(?i)<script(?:\s+type="module")?\s*>|<style|\sstyle=|\son[a-z]+=`)
	markup   = regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function`)
	imports  = regexp.MustCompile(`from '\./([a-z]+\.js)'`)
	linked   = regexp.MustCompile(`(?:src|href)="(panel/[^"]+)"`)
)

// TestFiles holds that the panel is small, loads nothing from elsewhere, has no inline scripts, makes no markup of
// text, and has all the files that it asks for and no other.
func TestFiles(t *testing.T) {
	size := 0
	used, there := map[string]bool{"index.html": true}, map[string]bool{}
	err := fs.WalkDir(static, "static", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(static, path)
		if err != nil {
			return err
		}
		size += len(b)
		there[d.Name()] = true
		text := strings.ReplaceAll(string(b), "http://www.w3.org/2000/svg", "")
		for what, bad := range map[string]*regexp.Regexp{
			"an address of elsewhere": external,
			"markup made of text":     markup,
		} {
			if at := bad.FindString(text); at != "" {
				t.Errorf("%s has %s: %s", path, what, at)
			}
		}
		if at := inline.FindString(text); strings.HasSuffix(path, ".html") && at != "" {
			t.Errorf("%s has something inline: %s", path, at)
		}
		for _, m := range imports.FindAllStringSubmatch(text, -1) {
			used[m[1]] = true
		}
		for _, m := range linked.FindAllStringSubmatch(text, -1) {
			used[strings.TrimPrefix(m[1], "panel/")] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range used {
		if !there[name] {
			t.Errorf("%s is asked for and not there", name)
		}
	}
	for name := range there {
		if !used[name] {
			t.Errorf("%s is there and nobody asks for it", name)
		}
	}
	if size > maxSize {
		t.Errorf("the panel has %d bytes, at most %d are allowed", size, maxSize)
	}
}

func TestUnknownKindsOfFiles(t *testing.T) {
	if _, err := loadFiles(fstest.MapFS{"a.exe": {Data: []byte("x")}}); err == nil ||
		!strings.Contains(err.Error(), "a.exe") {
		t.Errorf("error %v", err)
	}
}
