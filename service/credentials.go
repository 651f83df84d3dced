package service

import (
	"context"
	"path/filepath"

	"tooldex/access"
	"tooldex/config"
	"tooldex/credential"
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

// userCredentials gives a gateway the credentials of users.
type userCredentials struct{ store *credential.Store }

// Of implements gateway.Users.
func (userCredentials) Of(ctx context.Context) string { return access.PrincipalOf(ctx).Key }

// Value implements gateway.Users.
func (u userCredentials) Value(user, server, address, name string) (string, bool, error) {
	return u.store.Value(user, credential.Server{Name: server, At: address}, name)
}
