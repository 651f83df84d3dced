package serve

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"time"

	"tooldex/access"
	"tooldex/httpapi"
	"tooldex/service"
)

// people reports who may use the service, and who does.
type people struct {
	all    *surfaces
	tokens access.File
}

// Report implements httpapi.People. The error is that of reading the file of tokens.
func (p people) Report() (*httpapi.AccessReport, error) {
	out := &httpapi.AccessReport{}
	profiles := p.all.views.Service.Config().Profiles
	for _, name := range slices.Sorted(maps.Keys(profiles)) {
		out.Profiles = append(out.Profiles, httpapi.ProfileLine{
			Name: name, Servers: profiles[name].Servers, Mode: profiles[name].Mode,
			Tools: p.all.views.New(access.View{Profile: name}).Catalog.Set().Len(),
		})
	}
	if p.tokens.Path != "" {
		tokens, err := p.tokens.Read()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		// Those of other tenants' profiles are none of ours.
		tokens = slices.DeleteFunc(tokens, func(t access.Token) bool {
			_, ours := profiles[t.View.Profile]
			return t.View.Profile != service.WholeProfile && !ours
		})
		out.Tokens = access.Lines(tokens, time.Now())
	}
	p.all.eachSurface(func(one *surface) {
		for _, c := range one.mcp.Clients() {
			out.Clients = append(out.Clients, httpapi.ClientLine{
				Name: c.Name, Version: c.Version, Who: c.Who, Profile: one.Key.Profile, Server: one.Key.Server,
				Begun: c.Begun, LastUsed: c.LastUsed,
			})
		}
	})
	slices.SortFunc(out.Clients, func(a, b httpapi.ClientLine) int { return a.Begun.Compare(b.Begun) })
	return out, nil
}
