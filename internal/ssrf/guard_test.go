package ssrf

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"tooldex/tool"
)

func TestCheck(t *testing.T) {
	const far, near = "93.184.215.14", "10.0.0.7"
	type dial struct {
		at, ip string
		good   bool
	}
	for name, c := range map[string]struct {
		home       string
		neighbours bool
		allow      []string
		dials      []dial
	}{
		"a public name": {"https://mcp.example.com/mcp", false, nil, []dial{
			{"mcp.example.com:443", far, true},
			{"elsewhere.example.com:443", far, true},
			{"elsewhere.example.com:443", near, false},
		}},
		"a name that moves": {"https://mcp.example.com", false, nil, []dial{
			{"mcp.example.com:443", far, true},
			{"mcp.example.com:443", "127.0.0.1", false},
			{"mcp.example.com:443", near, false},
			{"mcp.example.com:443", "::1", false},
			{"mcp.example.com:443", far, true},
		}},
		"a private name": {"http://tools:3000", false, nil, []dial{
			{"tools:3000", near, true},
			{"tools:3000", "10.0.0.8", true},
			{"tools:3001", near, false},
			{"db:3000", near, false},
		}},
		"a name of the metadata": {
			"http://meta.example.com", false, nil,
			[]dial{{"meta.example.com:80", "169.254.169.254", false}},
		},
		"the metadata, written out": {
			"http://169.254.169.254", false, nil,
			[]dial{{"169.254.169.254:80", "169.254.169.254", true}},
		},
		"an address": {"http://10.0.0.7:8080", false, nil, []dial{
			{"10.0.0.7:8080", near, true},
			{"10.0.0.7:22", near, false},
			{"10.0.0.8:8080", "10.0.0.8", false},
		}},
		"this machine": {
			"http://localhost:3000", false, nil,
			[]dial{
				{"localhost:3000", "127.0.0.1", true},
				{"localhost:3000", "::1", true},
				{"localhost:22", "127.0.0.1", false},
				{"127.0.0.1:3000", "127.0.0.1", false},
			},
		},
		"in other letters": {
			"http://LocalHost.:3000", false, nil,
			[]dial{{"localhost:3000", "127.0.0.1", true}},
		},
		"neighbours of this machine": {"http://localhost:3000", true, nil, []dial{
			{"localhost:3000", "127.0.0.1", true},
			{"localhost:4000", "::1", true},
			{"192.168.1.1:80", "192.168.1.1", false},
			{"169.254.169.254:80", "169.254.169.254", false},
		}},
		"neighbours of a public one": {
			"https://mcp.example.com", true, nil,
			[]dial{
				{"mcp.example.com:443", far, true},
				{"localhost:80", "127.0.0.1", false},
				{"mcp.example.com:8443", near, false},
			},
		},
		"neighbours before home": {"http://mcp.internal", true, nil, []dial{
			{"mcp.internal:8080", near, false},
			{"mcp.internal:80", near, true},
			{"mcp.internal:8080", near, true},
		}},
		"neighbours of an address in numbers": {"http://10.0.0.7", true, nil, []dial{
			{"10.0.0.7:8080", near, true},
			{"10.0.0.8:8080", "10.0.0.8", false},
			{"localhost:8080", "127.0.0.1", false},
		}},
		"allowed by network": {
			"https://mcp.example.com", false,
			[]string{"10.0.0.0/8"},
			[]dial{{"auth.internal:443", near, true}, {"auth.internal:443", "192.168.1.1", false}},
		},
		"allowed by address": {
			"https://mcp.example.com", false,
			[]string{near, "::1"},
			[]dial{
				{"x:1", near, true},
				{"x:1", "::1", true},
				{"x:1", "::ffff:10.0.0.7", true},
				{"x:1", "10.0.0.8", false},
			},
		},
		"allowed by name": {
			"https://mcp.example.com", false,
			[]string{"Auth.Internal"},
			[]dial{{"auth.internal:443", near, true}, {"auth.internal.evil.example:443", near, false}},
		},
		"all allowed": {
			"https://mcp.example.com", false,
			[]string{"*"},
			[]dial{{"x:1", "169.254.169.254", true}},
		},
		"no home": {"", true, nil, []dial{
			{"x:1", far, true},
			{"x:1", near, false},
			{"x:1", "127.0.0.1", false},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			allow, err := ParseAllowed(c.allow)
			if err != nil {
				t.Fatal(err)
			}
			o := Options{Neighbours: c.neighbours, Allow: allow}
			if c.home != "" {
				if o.Home, err = url.Parse(c.home); err != nil {
					t.Fatal(err)
				}
			}
			g := NewGuard(o)
			for i, d := range c.dials {
				colon := strings.LastIndexByte(d.at, ':')
				err := g.checkAddress(comparableHost(d.at[:colon]), d.at[colon+1:], netip.MustParseAddr(d.ip))
				if (err == nil) != d.good || err != nil && tool.CodeOf(err) != tool.Denied {
					t.Errorf("dial %d of %s at %s: %v", i, d.at, d.ip, err)
				}
			}
		})
	}
}

// TestPrivate lists addresses in all the forms in which people have hidden them.
func TestPrivate(t *testing.T) {
	for ip, want := range map[string]bool{
		"8.8.8.8": false, "93.184.215.14": false, "2606:4700::1111": false, "172.32.0.1": false, "100.128.0.1": false,
		"64:ff9b::808:808": false,
		"127.0.0.1":        true, "127.255.0.9": true, "0.0.0.0": true, "0.1.2.3": true, "10.1.2.3": true, "172.16.0.1": true,
		"172.31.255.255": true, "192.168.0.1": true,
		"169.254.169.254": true, "100.64.0.1": true, "100.100.100.200": true, "168.63.129.16": true,
		"192.0.0.192": true, "198.18.0.1": true, "224.0.0.1": true,
		"255.255.255.255": true, "240.0.0.1": true, "::1": true, "::": true, "fe80::1": true, "fc00::1": true,
		"fd00:ec2::254": true, "fec0::1": true, "ff02::1": true,
		"::ffff:127.0.0.1": true, "::ffff:169.254.169.254": true, "64:ff9b::7f00:1": true, "64:ff9b::a9fe:a9fe": true,
		"2002:7f00:1::": true, "64:ff9b:1::808:808": true, "::127.0.0.1": true, "fe80::1%eth0": true,
	} {
		if got := isPrivate(effectiveAddress(netip.MustParseAddr(ip))); got != want {
			t.Errorf("%s: %v", ip, got)
		}
	}
}

func TestParseAllowed(t *testing.T) {
	for _, bad := range []string{"", "10.0.0.1:80", "http://x", "10.0.0.0/64", "a b", "user@host"} {
		if _, err := ParseAllowed([]string{bad}); tool.CodeOf(err) != tool.Invalid || err == nil {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestTransport has a server redirect to another one on this machine. Without the guard, which an allowed address
// stands for, the other one is reached: so it is the guard that holds.
func TestTransport(t *testing.T) {
	secret := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "secret")
	}))
	defer secret.Close()
	home := httptest.NewServer(http.RedirectHandler(secret.URL, http.StatusTemporaryRedirect))
	defer home.Close()
	at, err := url.Parse(home.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, allow := range [][]string{nil, {"127.0.0.1"}} {
		allowed, err := ParseAllowed(allow)
		if err != nil {
			t.Fatal(err)
		}
		transport := NewGuard(Options{Home: at, Allow: allowed}).Transport()
		defer transport.CloseIdleConnections()
		res, err := (&http.Client{Transport: transport}).Get(home.URL)
		if err == nil {
			_ = res.Body.Close()
		}
		if reached := err == nil; reached != (allow != nil) {
			t.Errorf("allowing %v it is reached: %v, %v", allow, reached, err)
		}
	}
}

// TestProxy holds that an address in numbers is looked at also where a proxy would dial it.
func TestProxy(t *testing.T) {
	by, err := url.Parse("http://10.9.9.9:3128")
	if err != nil {
		t.Fatal(err)
	}
	g := NewGuard(Options{})
	choose := func(*http.Request) (*url.URL, error) { return by, nil }
	for target, good := range map[string]bool{
		"http://169.254.169.254/": false, "http://[::1]:80/": false,
		"http://8.8.8.8/": true, "http://name.example.com/": true,
	} {
		req := httptest.NewRequest(http.MethodGet, target, nil)
		if _, err := g.noteProxy(choose, req); (err == nil) != good {
			t.Errorf("%s: %v", target, err)
		}
	}
	if err := g.checkAddress("10.9.9.9", "3128", netip.MustParseAddr("10.9.9.9")); err != nil {
		t.Errorf("the proxy itself: %v", err)
	}
}
