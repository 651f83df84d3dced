package mcpsrv

// liveOptions are the options that may change while clients are connected. A value is never changed: Reconfigure
// replaces it.
type liveOptions struct {
	mode      Mode
	threshold int
	followers map[string]bool
	always    []string
	summary   string
}

// liveOptionsOf copies the changeable options out of o.
func liveOptionsOf(o Options) *liveOptions {
	w := &liveOptions{mode: o.Mode, threshold: o.Threshold, followers: map[string]bool{}, always: o.Always, summary: o.Summary}
	for _, name := range o.Followers {
		w.followers[name] = true
	}
	return w
}

// Reconfigure applies Mode, Threshold, Followers, Always and Summary of o from now on, and tells connected clients to
// list again if that changes their listing. It ignores the rest of o. Sessions go on.
func (s *Server) Reconfigure(o Options) {
	s.live.Store(liveOptionsOf(o.withDefaults()))
	s.listings.mu.Lock()
	s.listings.byMode, s.listings.always = nil, nil
	s.listings.mu.Unlock()
	s.CatalogChanged()
}
