package sources

import (
	"encoding/json"
	"fmt"
	"strings"

	"tooldex/upstream"
)

// parseOAuth decodes how each user gets a token for a server; nil if raw says nothing about that. Clients write
// settings of their own under the same name, in any form, which are ignored.
func parseOAuth(name string, raw json.RawMessage) (*upstream.OAuth, error) {
	var ours struct {
		PerUser  json.RawMessage `json:"perUser"`
		Exchange json.RawMessage `json:"exchange"`
	}
	if json.Unmarshal(raw, &ours) != nil || ours.PerUser == nil && ours.Exchange == nil {
		return nil, nil
	}
	out := &upstream.OAuth{}
	if err := json.Unmarshal(raw, out); err != nil {
		return nil, badServers(fmt.Sprintf("server %q: its oauth is not written as expected", name),
			`it should look like {"perUser": true}, or {"exchange": "https://login.example.com/token", "audience": "…", `+
				`"clientId": "…", "clientSecret": "${SECRET}"}`, rewordTypeError(err))
	}
	if !out.PerUser && out.Exchange == "" {
		return nil, nil
	}
	return out, nil
}

// checkOAuth returns what is wrong with the oauth of a server, to follow its name; "" if nothing is.
func checkOAuth(v upstream.Server) string {
	o := v.OAuth
	if o == nil {
		return ""
	}
	authorization := false
	for name := range v.Headers {
		authorization = authorization || strings.EqualFold(name, "Authorization")
	}
	switch {
	case v.URL == "" || v.Command != "" || v.ReachedBy() == upstream.OpenAPI:
		return "has an oauth for users but is not reached over HTTP"
	case authorization:
		return "has both an oauth for users and an Authorization header"
	case o.PerUser && o.Exchange != "":
		return "has both perUser and exchange in its oauth"
	case o.PerUser && o.Audience != "":
		return "has an audience in its oauth, which only exchange takes"
	case o.ClientSecret != "" && !strings.Contains(o.ClientSecret, "${"):
		return "has the secret itself as oauth.clientSecret: give it as ${VAR}, which is read from the environment"
	case o.Exchange != "" && (o.ClientID == "" || o.ClientSecret == ""):
		return "has an exchange without clientId and clientSecret in its oauth"
	}
	return ""
}
