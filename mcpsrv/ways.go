package mcpsrv

// ways are the options that may change while clients are connected.
type ways struct {
	mode      Mode
	threshold int
	followers map[string]bool
	always    []string
	summary   string
}

func waysOf(o Options) *ways {
	w := &ways{mode: o.Mode, threshold: o.Threshold, followers: map[string]bool{}, always: o.Always, summary: o.Summary}
	for _, name := range o.Followers {
		w.followers[name] = true
	}
	return w
}

// Reconfigure has clients served by Mode, Threshold, Followers, Always and Summary of o from now on, and tells them to
// list again where that changes what they are listed. Nothing else of o counts. Sessions go on.
func (s *Server) Reconfigure(o Options) {
	s.ways.Store(waysOf(o.withDefaults()))
	s.listings.mu.Lock()
	s.listings.byMode, s.listings.always = nil, nil
	s.listings.mu.Unlock()
	s.CatalogChanged()
}
