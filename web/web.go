package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"time"
)

//go:embed static
var static embed.FS

// The page, and where its files are.
const (
	pagePath  = "/"
	filesPath = "/panel/"
	pageName  = "index.html"
)

// policy lets the page load what is served here and nothing else. Images may be data URLs, since tools answer with
// such.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// types maps file extensions to content types. The system's own table is not used, since it may differ.
var types = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// asset is a file as it is served.
type asset struct {
	body []byte
	kind string
	tag  string
}

// Handler returns a handler of GET and HEAD for / and for what is below /panel/; anything else is not found. Files
// carry an ETag and are revalidated each time, so that a new version of the program shows at once. It is safe for
// concurrent use.
func Handler() http.Handler {
	assets, err := loadFiles(static)
	if err != nil { // the files are compiled in, and a test reads them all
		panic(err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, ok := assets[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		a.serveFile(w, r)
	})
}

// serveFile answers with the file, or with 304 if the client has it.
func (a asset) serveFile(w http.ResponseWriter, r *http.Request) {
	for name, value := range map[string]string{
		"Content-Type": a.kind, "ETag": a.tag, "Cache-Control": "no-cache", "Content-Security-Policy": policy,
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin", "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
	} {
		w.Header().Set(name, value)
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(a.body))
}

// loadFiles reads the files of the panel, by the path under which they are served.
func loadFiles(files fs.FS) (map[string]asset, error) {
	out := map[string]asset{}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		kind, ok := types[path.Ext(name)]
		if !ok {
			return fmt.Errorf("%s: no known kind of file", name)
		}
		body, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(body)
		at := filesPath + path.Base(name)
		if path.Base(name) == pageName {
			at = pagePath
		}
		// The tag is weak, since the answer may be compressed later.
		out[at] = asset{body, kind, `W/"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`}
		return nil
	})
	return out, err
}
