package config

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tooldex/store/postgres"
	"tooldex/tool"
	"tooldex/upstream"
)

// TestForTenant holds that the configuration of a tenant has its own profiles, part of the database and folders, and
// nothing that belongs to the home tenant.
func TestForTenant(t *testing.T) {
	const own = "of-the-home-tenant"
	c := &Config{
		DataDir: "/data", Store: "postgres://u@h/d?sslmode=disable",
		Servers: []upstream.Server{{Name: own}}, Skills: []string{own}, Trust: Trust{Policy: "strict", Servers: []string{own}},
		Serve: Serve{Always: []string{own}, ConfirmExcept: []string{own}, Summary: own, Confirm: "writes"},
		Audit: Audit{Dir: "/audit", Anchor: "/anchor"},
		Profiles: map[string]Profile{
			own: {}, "named-" + own: {Tenant: postgres.DefaultTenant}, "a": {Tenant: "acme"}, "b": {Tenant: "acme", Servers: []string{"x"}},
			"other": {Tenant: "beta"},
		},
	}
	acme := c.ForTenant("acme")
	text, err := json.Marshal(acme)
	if err != nil || strings.Contains(string(text), own) || strings.Contains(string(text), "beta") {
		t.Errorf("%s %v", text, err)
	}
	if len(acme.Profiles) != 2 || acme.Tenant != "acme" || acme.Trust.Policy != "strict" || acme.Serve.Confirm != "writes" {
		t.Errorf("%+v", acme)
	}
	if !strings.Contains(acme.Store, "tenant=acme") || !strings.Contains(acme.Store, "sslmode=disable") {
		t.Errorf("the store is %s", acme.Store)
	}
	if acme.TokensFile() != filepath.Join("/data", "tokens.yaml") {
		t.Errorf("the tokens are in %s", acme.TokensFile())
	}
	home := c.ForTenant("")
	if len(home.Profiles) != 2 || home.DataDir != c.DataDir || home.Store != c.Store || len(home.Servers) != 1 {
		t.Errorf("the home tenant has %+v", home)
	}
	if named := c.ForTenant(postgres.DefaultTenant); named.DataDir != c.DataDir || len(named.Profiles) != 2 {
		t.Errorf("by its name it has %+v", named)
	}
	if again := acme.ForTenant("acme"); again != acme {
		t.Errorf("of itself it is %+v", again)
	}
	if len(c.Profiles) != 5 || len(c.Servers) != 1 {
		t.Errorf("the whole was changed: %+v", c)
	}
	// No two tenants share a folder, on file systems that fold names either.
	folders := map[string]string{}
	for _, name := range []string{"acme", "Acme", "ACME", "acme.", "acme-", "beta", "default.", "a", "A"} {
		one := c.ForTenant(name)
		for _, folder := range []string{one.DataDir, one.Audit.Dir, one.Audit.Anchor} {
			key := strings.TrimRight(strings.ToLower(folder), ". ")
			if other, taken := folders[key]; taken {
				t.Errorf("%s and %s share %s", name, other, folder)
			}
			folders[key] = name
		}
	}
}

// TestTenantsNeedADatabase holds that a file has one tenant, without a name, and that names can be those of folders.
func TestTenantsNeedADatabase(t *testing.T) {
	for name, c := range map[string]struct {
		text, tenant string
		want         string // in the error; "" for none
		invalid      bool   // the error is one of the file
	}{
		"none":                   {"profiles: {p: {mode: full}}", "", "", false},
		"a profile's, in a file": {"profiles: {p: {tenant: acme}}", "", `profile p names the tenant "acme", and a file`, false},
		"a command's, in a file": {"", "acme", `tenant names the tenant "acme", and a file`, false},
		"in a database":          {"store: postgres://u@h/d\nprofiles: {p: {tenant: acme}}", "acme", "", false},
		"no name of a profile's": {"store: postgres://u@h/d\nprofiles: {p: {tenant: ../acme}}", "", `profile p: a tenant cannot be named "../acme"`, true},
		"no name":                {"store: postgres://u@h/d", "../acme", `a tenant cannot be named "../acme"`, false},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "tooldex.yaml")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Load(Options{Path: path, Getenv: func(string) string { return "" }, Flags: map[string]any{"tenant": c.tenant}})
			var usage UsageError
			var known *tool.Error
			switch {
			case c.want == "" && err == nil:
			case err == nil || c.want == "" || !strings.Contains(err.Error(), c.want):
				t.Errorf("%v, want %q", err, c.want)
			case c.invalid && (!errors.As(err, &known) || known.Hint == ""), !c.invalid && (!errors.As(err, &usage) || usage.Hint == ""):
				t.Errorf("%#v has no remedy", err)
			}
		})
	}
}
