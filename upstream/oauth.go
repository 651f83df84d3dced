package upstream

// OAuth says how tokens for a server over HTTP are got for each user of the service, in place of one login that all
// users share. Either PerUser or Exchange is set. ${VAR} in its texts is filled in when the server is used.
type OAuth struct {
	// PerUser says that each user logs in to the server for themselves.
	PerUser bool `json:"perUser,omitempty"`
	// Exchange is the token endpoint of an authorization server. There the access token of the caller is exchanged
	// for one of the server, by RFC 8693. Audience names the server there; empty means its address.
	Exchange string   `json:"exchange,omitempty"`
	Audience string   `json:"audience,omitempty"`
	Scopes   []string `json:"scopes,omitempty"` // to ask for; none means those that the server names
	// ClientID and ClientSecret are of a client that was registered by hand. Exchange needs both. PerUser needs them
	// where the authorization server does not let programs register themselves.
	ClientID     string `json:"clientId,omitempty"`
	ClientSecret string `json:"clientSecret,omitempty"` // a reference such as ${VAR}, never the secret itself
}

// UsersLogIn reports whether each user logs in to the server for themselves.
func (s Server) UsersLogIn() bool { return s.OAuth != nil && s.OAuth.PerUser && s.ReachedBy() != Stdio }
