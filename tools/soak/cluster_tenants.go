package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"tooldex/access"
)

// The tenants: the first is the home tenant, whose token is for everything of it.
var tenantNames = []string{"home", "acme", "globex", "initech"}

// profilesEach is how many profiles each tenant has.
const profilesEach = 6

// holder is somebody with a token of a tenant.
type holder struct {
	tenant   string
	mark     string // in every name and text of the tenant, and of no other
	token    string
	profiles []profile // each has preferences
}

// aMark finds the marks of tenants in a text.
var aMark = regexp.MustCompile(`qz[a-z]+?qz`)

// foreign returns a mark of another tenant in a text, or "".
func (h *holder) foreign(text []byte) string {
	for _, m := range aMark.FindAll(text, -1) {
		if string(m) != h.mark {
			return string(m)
		}
	}
	return ""
}

// profile is one of a tenant, with a token; name is "" for all tools.
type profile struct{ name, token string }

// preferences is the path of the preferences of a profile.
func (p profile) preferences() string {
	if p.name == "" {
		return "/api/tools/preferences"
	}
	return "/api/tools/preferences?profile=" + p.name
}

// configure makes the tenants, and writes the configuration and the tokens that all replicas share.
func (c *cluster) configure() error {
	var b strings.Builder
	fmt.Fprintf(&b, "trust: {policy: warn}\nserve: {rate: -1}\nprofiles:\n")
	tokens := access.File{Path: filepath.Join(c.dir, "tokens.yaml")}
	for i, name := range append(slices.Clone(tenantNames), figuresTenant) {
		h := &holder{tenant: name, mark: "qz" + name + "qz"}
		if i == 0 {
			h.profiles = append(h.profiles, profile{"", access.NewSecret()})
		}
		for n := range profilesEach {
			h.profiles = append(h.profiles, profile{fmt.Sprintf("%s-%d", name, n), access.NewSecret()})
		}
		for _, p := range h.profiles {
			if p.name != "" {
				fmt.Fprintf(&b, "  %s: {tenant: %s}\n", p.name, name)
			}
			err := tokens.Add(access.Token{
				Name: "agents-" + name + p.name, Digest: access.Digest(p.token), View: access.View{Profile: p.name},
			})
			if err != nil {
				return err
			}
		}
		h.token = h.profiles[0].token
		if name == figuresTenant {
			c.figures.h = h
			continue
		}
		c.people = append(c.people, h)
	}
	alone := access.File{Path: filepath.Join(c.dir, "alone-tokens.yaml")}
	one := c.figures.h.profiles[0]
	err := alone.Add(access.Token{
		Name: "agents", Digest: access.Digest(one.token), View: access.View{Profile: one.name},
	})
	if err != nil {
		return err
	}
	c.addKeys()
	return os.WriteFile(filepath.Join(c.dir, "tooldex.yaml"), []byte(b.String()), 0o600)
}
