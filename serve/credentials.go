package serve

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"tooldex/access"
	"tooldex/credential"
	"tooldex/gateway"
	"tooldex/httpapi"
	"tooldex/service"
	"tooldex/tool"
)

// userCredentials lets the holders of a view manage what they have stored for its servers. After each change the
// connection that was made with it ends.
type userCredentials struct {
	store   *credential.Store
	gateway *gateway.Gateway
	logins  *userLogins
	view    *service.View
}

// wanted returns the names that a server wants of its users, and its address. The error is NotFound for a server that
// the view does not have or that wants none, which are not told apart.
func (u userCredentials) wanted(server string) (credential.Server, []string, error) {
	address, names, ok := u.gateway.UserServer(server)
	if !ok || !u.view.AllowsServer(server) {
		return credential.Server{}, nil, &tool.Error{
			Code: tool.NotFound, Op: "credentials", Msg: "no such server takes credentials of its users",
			Hint: "GET /api/credentials lists those that do",
		}
	}
	return credential.Server{Name: server, At: address}, names, nil
}

// Own implements httpapi.Credentials.
func (u userCredentials) Own(who access.Principal) ([]httpapi.CredentialLine, error) {
	var out []httpapi.CredentialLine
	stored, err := u.store.List(who.Key)
	if err != nil {
		return nil, err
	}
	for _, st := range u.gateway.Status() {
		at, names, err := u.wanted(st.Server)
		if err != nil {
			continue
		}
		for _, name := range names {
			line := httpapi.CredentialLine{Server: st.Server, Name: name}
			if name == gateway.LoginName {
				line.Login = u.logins.page(st.Server)
			}
			i := slices.IndexFunc(stored, func(e credential.Entry) bool { return e.Server == st.Server && e.Name == name })
			if i >= 0 {
				line.Set = &stored[i].Set
				// One for another address, or under another key, is of no use.
				if _, line.Stored, err = u.store.Value(who.Key, at, name); err != nil {
					return nil, err
				}
			}
			out = append(out, line)
		}
	}
	return out, nil
}

// checkOperator returns a NotFound error unless the view is that of everything, whose holders manage the service.
func (u userCredentials) checkOperator() error {
	if u.view.Key.Profile == service.WholeProfile && u.view.Key.Server == "" {
		return nil
	}
	return &tool.Error{
		Code: tool.NotFound, Op: "credentials", Msg: "the credentials of others cannot be seen here",
		Hint: "it needs a token without a profile",
	}
}

// All implements httpapi.Credentials.
func (u userCredentials) All() ([]httpapi.CredentialLine, error) {
	if err := u.checkOperator(); err != nil {
		return nil, err
	}
	all, err := u.store.All()
	out := make([]httpapi.CredentialLine, len(all))
	for i, e := range all {
		out[i] = httpapi.CredentialLine{
			Server: e.Server, Name: e.Name, Stored: true, Set: &e.Set, User: cmp.Or(e.User, httpapi.OperatorUser), Who: e.Who,
		}
	}
	return out, err
}

// userOf returns whose credential is stored: that of who, or of the operator if user says so.
func (u userCredentials) userOf(who access.Principal, user string) (access.Principal, error) {
	if user != httpapi.OperatorUser {
		return who, nil
	}
	return access.Principal{Name: "the operator"}, u.checkOperator()
}

// BeginLogin implements httpapi.Credentials.
func (u userCredentials) BeginLogin(ctx context.Context, who access.Principal, user, server string) (string, *http.Cookie,
	error,
) {
	who, err := u.userOf(who, user)
	if err != nil {
		return "", nil, err
	}
	_, names, err := u.wanted(server)
	if err != nil {
		return "", nil, err
	}
	if !slices.Contains(names, gateway.LoginName) {
		return "", nil, &tool.Error{
			Code: tool.NotFound, Op: "login", Msg: "the server takes no logins of its users",
			Hint: "GET /api/credentials lists what it takes",
		}
	}
	return u.logins.begin(ctx, who, server)
}

// Store implements httpapi.Credentials.
func (u userCredentials) Store(who access.Principal, user, server, name, value string) error {
	who, err := u.userOf(who, user)
	if err != nil {
		return err
	}
	at, names, err := u.wanted(server)
	if err != nil {
		return err
	}
	if !slices.Contains(names, name) || name == gateway.LoginName {
		return &tool.Error{
			Code: tool.NotFound, Op: "credentials", Msg: "the server does not take a credential of that name",
			Hint: "GET /api/credentials lists the names",
		}
	}
	if err := u.store.Set(credential.User{Key: who.Key, Name: who.Name}, at, name, value); err != nil {
		return err
	}
	u.gateway.EndUser(who.Key, server)
	return nil
}

// Remove implements httpapi.Credentials. What is stored for a server that is no more can be removed, too.
func (u userCredentials) Remove(who access.Principal, user, server, name string) (int, error) {
	if user == "" || user == who.Key {
		user = who.Key
	} else if err := u.checkOperator(); err != nil {
		return 0, err
	}
	if user == httpapi.OperatorUser {
		user = ""
	}
	n, err := u.store.Remove(user, server, name)
	u.gateway.EndUser(user, server)
	return n, err
}
