package mcpsrv

// liveOptions are the options that may change while clients are connected.
type liveOptions struct {
	mode      Mode
	threshold int
	followers map[string]bool
	always    []string
	summary   string
}

func liveOptionsOf(o Options) *liveOptions {
	w := &liveOptions{mode: o.Mode, threshold: o.Threshold, followers: map[string]bool{}, always: o.Always, summary: o.Summary}
	for _, name := range o.Followers {
		w.followers[name] = true
	}
	return w
}

// Reconfigure has clients served by Mode, Threshold, Followers, Always and Summary of o from now on, and tells them to
// list again where that changes what they are listed. Nothing else of o counts. Sessions go on.
func (s *Server) Reconfigure(o Options) {
	s.live.Store(liveOptionsOf(o.withDefaults()))
	s.listings.mu.Lock()
	s.listings.byMode, s.listings.always = nil, nil
	s.listings.mu.Unlock()
	s.CatalogChanged()
}
