package access_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"tooldex/access"
)

// A token is made, kept as its digest, and known again by its secret.
func Example() {
	dir, err := os.MkdirTemp("", "access")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	file := access.File{Path: filepath.Join(dir, "tokens.yaml")}
	secret := access.NewSecret()
	if err := file.Add(access.Token{
		Name: "ci", Digest: access.Digest(secret),
		View: access.View{ReadOnly: true},
	}); err != nil {
		fmt.Println(err)
		return
	}
	gate, err := access.New(access.Options{File: file})
	if err != nil {
		fmt.Println(err)
		return
	}
	grant, err := gate.Identify(context.Background(), secret, "/search")
	fmt.Println(grant.Principal.Name, grant.View.ReadOnly, err)
	_, err = gate.Identify(context.Background(), "tdx_GUESS", "/search")
	fmt.Println(err)
	// Output:
	// token ci true <nil>
	// check token: unknown or revoked token: the token is not good (send Authorization: Bearer and the token)
}
