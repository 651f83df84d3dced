package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
)

// defaultTenant is the tenant of a database's address that names none. It is that of package store/postgres, which a
// test checks.
const defaultTenant = "default"

// tenantName matches what can be the name of a tenant.
var tenantName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

const tenantHint = "use letters, digits, dots, hyphens and underscores, 64 at most"

// tenantConns bounds the connections that one tenant has open to the database for its statements: with many tenants
// they would otherwise use up what the server permits. The address may set pool_max_conns itself.
const tenantConns = "3"

// homeTenant returns the tenant that the address of the database names: that of profiles without one.
func (c *Config) homeTenant() string {
	u, err := url.Parse(c.Store)
	if err != nil { // the store refuses it
		return defaultTenant
	}
	return cmp.Or(u.Query().Get("tenant"), defaultTenant)
}

// checkTenants returns a UsageError for tenants that cannot be: a file has one tenant, without a name.
func (c *Config) checkTenants() error {
	if c.Tenant != "" && !tenantName.MatchString(c.Tenant) {
		return UsageError{fmt.Sprintf("a tenant cannot be named %q", c.Tenant), tenantHint}
	}
	if c.Store != "" {
		return nil
	}
	named, what := c.Tenant, "tenant"
	for _, name := range slices.Sorted(maps.Keys(c.Profiles)) {
		if p := c.Profiles[name]; p.Tenant != "" && named == "" {
			named, what = p.Tenant, "profile "+name
		}
	}
	if named == "" {
		return nil
	}
	return UsageError{
		fmt.Sprintf("%s names the tenant %q, and a file keeps the tools of one tenant only", what, named),
		"set store to a PostgreSQL database, or remove the tenant",
	}
}

// TenantOf returns the tenant of a profile; "" stands for the home tenant, that of the address of the database, and for
// a profile that does not exist.
func (c *Config) TenantOf(profile string) string {
	// The home tenant is looked at each time: a reload keeps the address, and may change the profiles.
	if name := c.Profiles[profile].Tenant; name != "" && name != c.homeTenant() {
		return name
	}
	return ""
}

// HasTenants reports whether there is a profile of another tenant than the home tenant.
func (c *Config) HasTenants() bool {
	for name := range c.Profiles {
		if c.TenantOf(name) != "" {
			return true
		}
	}
	return false
}

// ForTenant returns the configuration as the service of one tenant may see it; "" stands for the home tenant. It has
// the profiles of that tenant alone. That of another tenant than the home tenant also has the tenant's part of the
// database, a data directory of its own below the one of c, and nothing that names servers or tools of the home tenant:
// no servers, folders of skills, trusted servers, tools that are always listed, exceptions from confirmation, or
// summary. C is not changed.
func (c *Config) ForTenant(name string) *Config {
	if name != "" && name == c.homeTenant() {
		name = ""
	}
	if name == "" && !c.HasTenants() {
		return c
	}
	out := *c
	out.Profiles = map[string]Profile{}
	for key, p := range c.Profiles {
		if c.TenantOf(key) == name {
			out.Profiles[key] = p
		}
	}
	if name == "" {
		return &out
	}
	out.Tenant, out.Store = name, addressFor(c.Store, name)
	out.Serve.TokensFile = c.TokensFile()
	folder := tenantFolder(name)
	if c.DataDir != "" {
		out.DataDir = filepath.Join(c.DataDir, "tenants", folder)
	}
	if c.Audit.Dir != "" {
		out.Audit.Dir = filepath.Join(c.Audit.Dir, "tenants", folder)
	}
	if c.Audit.Anchor != "" {
		out.Audit.Anchor += "." + folder
	}
	out.Servers, out.Skills, out.Trust.Servers = nil, nil, nil
	out.Serve.Always, out.Serve.ConfirmExcept, out.Serve.Summary = nil, nil, ""
	return &out
}

// addressFor returns the address of a database for a tenant.
func addressFor(address, tenant string) string {
	u, err := url.Parse(address)
	if err != nil { // the store refuses it
		return address
	}
	query := u.Query()
	query.Set("tenant", tenant)
	if !query.Has("pool_max_conns") {
		query.Set("pool_max_conns", tenantConns)
	}
	u.RawQuery = query.Encode()
	return u.String()
}

// tenantFolder returns the name of a tenant's folder. The sum keeps names apart that some file systems do not: those
// that differ in case only, or that end with a dot.
func tenantFolder(name string) string {
	sum := sha256.Sum256([]byte(name))
	return name + "-" + hex.EncodeToString(sum[:6])
}
