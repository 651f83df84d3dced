package gateway

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/access"
	"tooldex/tool"
	"tooldex/upstream"
)

// TestSentToPrivateAddresses has servers send us to another one on this machine, in each way there is. It is not asked;
// where it is allowed, which is how it would be without the guard, it is: so it is the guard that holds.
func TestSentToPrivateAddresses(t *testing.T) {
	for name, attack := range map[string]func(other string) (http.Handler, upstream.Transport, func(*testing.T, *Gateway)){
		"a redirect": func(other string) (http.Handler, upstream.Transport, func(*testing.T, *Gateway)) {
			return http.RedirectHandler(other, http.StatusTemporaryRedirect), upstream.HTTP, startIt
		},
		"a redirect that is remembered": func(other string) (http.Handler, upstream.Transport, func(*testing.T, *Gateway)) {
			return http.RedirectHandler(other, http.StatusPermanentRedirect), upstream.HTTP, startIt
		},
		"a redirect of GET": func(other string) (http.Handler, upstream.Transport, func(*testing.T, *Gateway)) {
			return http.RedirectHandler(other, http.StatusSeeOther), upstream.SSE, startIt
		},
		"a stream that names another address": func(other string) (http.Handler, upstream.Transport,
			func(*testing.T, *Gateway),
		) {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprintf(w, "event: endpoint\ndata: %s/steal\n\n", other)
				w.(http.Flusher).Flush()
				<-r.Context().Done()
			}), upstream.SSE, startIt
		},
		"metadata of a login": func(other string) (http.Handler, upstream.Transport, func(*testing.T, *Gateway)) {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer resource_metadata="%s/metadata"`, other))
				w.WriteHeader(http.StatusUnauthorized)
			}), upstream.HTTP, logIn
		},
		"an authorization server": func(other string) (http.Handler, upstream.Transport, func(*testing.T, *Gateway)) {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.URL.Path, "/.well-known/oauth-protected-resource") {
					w.Header().Set("Content-Type", "application/json")
					fmt.Fprintf(w, `{"resource":"http://%s/mcp","authorization_servers":["%s"]}`, r.Host, other)
					return
				}
				w.Header().Set("WWW-Authenticate",
					fmt.Sprintf(`Bearer resource_metadata="http://%s/.well-known/oauth-protected-resource/mcp"`,
						r.Host))
				w.WriteHeader(http.StatusUnauthorized)
			}), upstream.HTTP, logIn
		},
	} {
		for _, allow := range [][]string{nil, {"127.0.0.0/8"}} {
			t.Run(fmt.Sprintf("%s, allowed %v", name, allow), func(t *testing.T) {
				var reached atomic.Int32
				other := listen(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					reached.Add(1)
					w.WriteHeader(http.StatusTeapot)
				}))
				handler, kind, do := attack(other.URL)
				srv := listen(t, handler)
				home, err := url.Parse(srv.URL)
				if err != nil {
					t.Fatal(err)
				}
				o := Options{AllowPrivate: allow, Dir: t.TempDir()}
				// the server itself is as if it were public
				o.outbound.Private = func(_ netip.Addr, port string) bool { return port != home.Port() }
				g := New(o)
				t.Cleanup(func() { _ = g.Close() })
				g.Set([]upstream.Server{{Name: "h", URL: srv.URL + "/mcp", Transport: kind}})
				do(t, g)
				if got := reached.Load() > 0; got != (allow != nil) {
					t.Errorf("it was reached: %v", got)
				}
			})
		}
	}
}

func startIt(t *testing.T, g *Gateway) {
	t.Helper()
	if err := g.Start(t.Context(), "h"); err == nil {
		t.Error("it was started")
	}
}

func logIn(t *testing.T, g *Gateway) {
	t.Helper()
	if err := g.Login(t.Context(), "h", LoginOptions{Visit: func(string) {}}); err == nil {
		t.Error("somebody is logged in")
	}
}

// TestPrivateAddressesAreTold holds that who is sent to one hears so, and what to do if it is meant.
func TestPrivateAddressesAreTold(t *testing.T) {
	other := listen(t, http.NotFoundHandler())
	var lead atomic.Bool
	inner := streamable(&mcp.StreamableHTTPOptions{Stateless: true})
	srv := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if lead.Load() {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	// at a private address, where the configuration points
	g := startGateway(t, Options{}, upstream.Server{Name: "h", URL: srv.URL})
	call(t, g, "h/echo", "{}")
	lead.Store(true)
	e := callError(t, g, t.Context(), "h/echo", tool.Denied)
	if !strings.Contains(e.Msg, `server "h" leads elsewhere: 127.0.0.1 is the private address 127.0.0.1`) ||
		!strings.Contains(e.Hint, "TOOLDEX_ALLOW_PRIVATE") {
		t.Errorf("%v", e)
	}
}

// TestNothingOfTheClientGoesUpstream calls a server with the context of a request that bears a token, and looks at all
// that the server is sent.
func TestNothingOfTheClientGoesUpstream(t *testing.T) {
	var seen atomic.Int32
	inner := streamable(&mcp.StreamableHTTPOptions{})
	srv := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.Add(1)
		for name, values := range r.Header {
			if all := strings.Join(values, " "); strings.Contains(all, "ana") || name == "Cookie" ||
				name == "Authorization" {
				t.Errorf("the server has %s: %q", name, all)
			}
		}
		inner.ServeHTTP(w, r)
	}))
	g := startGateway(t, Options{}, upstream.Server{Name: "h", URL: srv.URL})
	ctx := access.WithPrincipal(context.Background(), access.Principal{Name: "token ana", Key: "key of ana"})
	if _, err := g.Call(ctx, tool.Call{ID: "h/echo", Arguments: []byte(`{}`)}); err != nil {
		t.Fatal(err)
	}
	if seen.Load() == 0 {
		t.Error("nothing was sent")
	}
}
