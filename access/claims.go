package access

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"time"
)

// claims are the claims of an access token, or of the answer to an introspection.
type claims struct {
	issuer, subject, client string
	audience                []string
	scopes                  []string
	expires, notBefore      time.Time // zero if the token does not say
	all                     map[string]any
}

// parseClaims reads the claims of a token, or the answer to an introspection. One claim of a wrong type makes all of it
// invalid: nothing is granted for what could not be read.
func parseClaims(b []byte) (*claims, bool) {
	dec := json.NewDecoder(bytes.NewReader(b))
	// Numbers keep their digits, so that no large one is rounded.
	dec.UseNumber()
	c := &claims{}
	if dec.Decode(&c.all) != nil || c.all == nil {
		return nil, false
	}
	ok := true
	text := func(name string) string {
		v, there := c.all[name]
		s, isText := v.(string)
		ok = ok && (!there || isText)
		return s
	}
	c.issuer, c.subject, c.client = text("iss"), text("sub"), text("client_id")
	if c.client == "" {
		c.client, _ = c.all["azp"].(string)
	}
	var okAudience, okExpires, okBefore bool
	c.audience, okAudience = stringsOf(c.all["aud"])
	c.expires, okExpires = timeOf(c.all["exp"])
	c.notBefore, okBefore = timeOf(c.all["nbf"])
	c.scopes = scopesOf(c.all)
	return c, ok && okAudience && okExpires && okBefore
}

// stringsOf reads a string or a list of strings.
func stringsOf(v any) ([]string, bool) {
	switch v := v.(type) {
	case nil:
		return nil, true
	case string:
		return []string{v}, true
	case []any:
		out := make([]string, len(v))
		for i, one := range v {
			s, ok := one.(string)
			if !ok {
				return nil, false
			}
			out[i] = s
		}
		return out, true
	}
	return nil, false
}

// scopesOf returns the scopes of a token. RFC 9068 writes them as one string, scope; some servers send a list named
// scp. Values of another type grant nothing.
func scopesOf(all map[string]any) []string {
	var out []string
	for _, name := range []string{"scope", "scp"} {
		list, _ := stringsOf(all[name])
		for _, one := range list {
			out = append(out, strings.Fields(one)...)
		}
	}
	return out
}

// timeOf converts seconds since 1970. A missing claim is the zero time. Numbers far beyond any real date are refused.
func timeOf(v any) (time.Time, bool) {
	if v == nil {
		return time.Time{}, true
	}
	n, ok := v.(json.Number)
	if !ok {
		return time.Time{}, false
	}
	f, err := n.Float64()
	if err != nil || f < 1 || f > math.MaxInt32*64 {
		return time.Time{}, false
	}
	return time.Unix(int64(f), 0), true
}
