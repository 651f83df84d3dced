package service

import (
	"cmp"
	"context"
	"path/filepath"

	"tooldex/access"
	"tooldex/config"
	"tooldex/credential"
	"tooldex/tool"
)

// openCredentials returns the store of users' credentials in a data directory, nil if the configuration has no key.
func openCredentials(dir string, c config.Credentials) (*credential.Store, error) {
	var key []byte
	var err error
	switch {
	case c.KeyFile != "":
		key, err = credential.ReadKey(c.KeyFile)
	case c.Key != "":
		key, err = credential.ParseKey(c.Key)
	default:
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return credential.New(filepath.Join(dir, "credentials.json"), key)
}

// userCredentials gives a gateway the credentials of users; without a store, their access tokens alone.
type userCredentials struct{ store *credential.Store }

// errNoStore is the error of a use of credentials where none are kept.
func errNoStore() error {
	return &tool.Error{
		Code: tool.Denied, Op: "connect", Msg: "the server needs credentials of its users, and none are kept here",
		Hint: "set TOOLDEX_CREDENTIALS_KEY, or credentials.keyFile, to a key from openssl rand -base64 32",
	}
}

// Of implements gateway.Users.
func (userCredentials) Of(ctx context.Context) string { return access.PrincipalOf(ctx).Key }

// Value implements gateway.Users.
func (u userCredentials) Value(user, server, address, name string) (string, bool, error) {
	if u.store == nil {
		return "", false, errNoStore()
	}
	return u.store.Value(user, credential.Server{Name: server, At: address}, name)
}

// Keep implements gateway.Users.
func (u userCredentials) Keep(ctx context.Context, server, address, name, value string) error {
	if u.store == nil {
		return errNoStore()
	}
	who := access.PrincipalOf(ctx)
	return u.store.Set(credential.User{Key: who.Key, Name: cmp.Or(who.Name, "the operator")},
		credential.Server{Name: server, At: address}, name, value)
}

// Replace implements gateway.Users.
func (u userCredentials) Replace(user, server, address, name, before, next string) (bool, error) {
	if u.store == nil {
		return false, errNoStore()
	}
	return u.store.Replace(user, credential.Server{Name: server, At: address}, name, before, next)
}

// Token implements gateway.Users.
func (userCredentials) Token(ctx context.Context) string { return access.TokenOf(ctx) }
