package main

import (
	"context"
	"strings"
	"time"

	"tooldex/catalog"
	"tooldex/embed"
)

// probeTimeout bounds how long a command waits for a remote model to say what it is.
const probeTimeout = 10 * time.Second

// model returns the embedding model that the user chose, with the built-in knowledge, lent or not. A remote model that does not answer
// is left out, with a warning: words still find tools.
func (a *app) model(ctx context.Context) (catalog.Model, error) {
	m, err := catalog.BuiltinModel()
	if err != nil {
		return m, err
	}
	m.NoBorrow = a.borrow == "off"
	kind, name, _ := strings.Cut(a.embedder, ":")
	switch kind {
	case "", "builtin":
		return m, nil
	case "ollama":
	default:
		return m, usageError{"unknown embedder " + a.embedder, "use builtin, or ollama:MODEL"}
	}
	remote, err := embed.NewOllama(embed.OllamaOptions{URL: ollamaURL(a.getenv("OLLAMA_HOST")), Model: name})
	if err != nil {
		return m, err
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	if _, err := remote.Probe(ctx); err != nil {
		a.log.Warn("the embedding model does not answer; tools are searched by words only", "embedder", a.embedder, "error", err)
		m.Embedder = nil
		return m, nil
	}
	m.Embedder = embed.NewCache(remote, 0)
	return m, nil
}

// ollamaURL reads OLLAMA_HOST as Ollama does: with or without a scheme.
func ollamaURL(host string) string {
	if host == "" || strings.Contains(host, "://") {
		return host
	}
	return "http://" + host
}
