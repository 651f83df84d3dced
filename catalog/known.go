package catalog

import (
	"context"

	"tooldex/store"
	"tooldex/trust"
)

// knownSources is what is stored of the sources at one moment.
type knownSources struct {
	sources map[string]store.SourceState
	trust   *trust.Ledger
	outline *store.Outline // of the whole store, where its tools are not loaded; otherwise nil
}

// isUnchanged reports whether a source with this digest need not be read: neither its tools nor the rules of the
// scanner have changed, and the last reading succeeded.
func (k knownSources) isUnchanged(source string, digest [32]byte) bool {
	stored, ok := k.digest(source)
	return ok && stored == digest
}

// digest returns the digest with which a source need not be read; false if it must be read anyway.
func (k knownSources) digest(source string) (digest [32]byte, ok bool) {
	s, ok := k.sources[source]
	return s.Digest, ok && !s.Stale && s.Digest != [32]byte{} && s.Rules == k.trust.RulesVersion(source)
}

// KnownDigest returns the digest of what a source offered when it was read last; false if it must be read again
// whatever it offers. It is for [sources.Files].
func (c *Catalog) KnownDigest(source string) (digest [32]byte, ok bool) {
	return c.knownSources(context.Background()).digest(source)
}

// knownSources returns what is stored of the sources. Where the tools are not loaded, it loads them only if the store
// cannot be outlined, or is damaged.
func (c *Catalog) knownSources(ctx context.Context) knownSources {
	if known := c.outlinedSources(ctx); known.outline != nil {
		return known
	}
	st := c.loaded()
	return knownSources{sources: st.sources, trust: st.trust}
}

// outlinedSources returns what is stored of the sources where an image was opened and the tools are not loaded. There
// is no outline if they are, if the store is damaged, or if it is not the one that the image was made of any more.
func (c *Catalog) outlinedSources(ctx context.Context) knownSources {
	st := c.st.Load()
	from, ok := c.o.Store.(store.Outliner)
	if !st.partial || !ok {
		return knownSources{}
	}
	c.outlining.Lock()
	defer c.outlining.Unlock()
	if c.outlined != st { // another image was opened since, or none was outlined yet
		c.outlined, c.outline = st, nil
		// An image is made of a complete store. What it was made of is verified here, so that damage is still noticed.
		got, err := from.Outline(ctx, c.o.indexer.view())
		if err == nil && !got.Damaged && got.Generation == st.generation && got.Stamp == st.stamp {
			c.outline = got
		}
	}
	if c.outline == nil {
		return knownSources{}
	}
	return knownSources{sources: c.outline.Sources, trust: st.trust, outline: c.outline}
}
