package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"tooldex/catalog"
	"tooldex/config"
	"tooldex/embed"
)

const embedderHint = "use builtin, model2vec:FOLDER, ollama:MODEL or openai:MODEL"

// chosenEmbedder is the model that the configuration names in place of the built-in one.
type chosenEmbedder struct {
	embed.Embedder
	probe func(ctx context.Context) error // asks the model for its identity; for a local one it does nothing
}

// builtinModel returns the model that is used until an embedder has taken over: that of the options, or the built-in
// one. The setting borrow can only forbid that archetypes lend to tools.
func (s *Service) builtinModel() (catalog.Model, error) {
	var m catalog.Model
	if s.o.Model != nil {
		m = *s.o.Model
	} else {
		var err error
		if m, err = catalog.BuiltinModel(); err != nil {
			return m, err
		}
	}
	m.NoBorrow = m.NoBorrow || !s.Config().Borrow
	return m, nil
}

// openEmbedder returns the model that the configuration names, nil for the built-in one. It contacts no server.
func (s *Service) openEmbedder() (*chosenEmbedder, error) {
	named := s.Config().Embedder
	// The part after the colon may contain further colons, as in a model's tag.
	kind, rest, _ := strings.Cut(named, ":")
	switch kind {
	case "", "builtin":
		return nil, nil
	case "model2vec":
		m, err := embed.OpenModel2Vec(rest)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, config.UsageError{
				Msg:  fmt.Sprintf("there is no Model2Vec model in %q", rest),
				Hint: "give the folder that holds its model.safetensors and tokenizer.json: --embedder model2vec:FOLDER",
			}
		}
		if err != nil {
			return nil, err
		}
		// a local model needs no breaker, since it cannot be unreachable
		return &chosenEmbedder{embed.NewCache(m, 0), func(context.Context) error { return nil }}, nil
	case "ollama", "openai":
	default:
		return nil, config.UsageError{Msg: "unknown embedder " + named, Hint: embedderHint}
	}
	name, query, _ := strings.Cut(rest, "?")
	set, err := parseModelSettings(kind, query)
	if err != nil {
		return nil, err
	}
	if kind == "ollama" {
		return s.openOllama(name, set)
	}
	return s.openOpenAI(name, set)
}

// openOllama returns a model of an Ollama server. The url of the settings takes precedence over OLLAMA_HOST.
func (s *Service) openOllama(name string, set *modelSettings) (*chosenEmbedder, error) {
	m, err := embed.NewOllama(embed.OllamaOptions{
		URL: OllamaURL(cmp.Or(set.url, s.Config().OllamaHost)), Model: name, Batch: set.batch, Timeout: set.timeout,
		KeepAlive: set.keepAlive, Prefixes: set.prefixes(name),
	})
	if err != nil {
		return nil, asUsageError(err)
	}
	return s.withBreaker(m, func(ctx context.Context) error { _, err := m.Probe(ctx); return err }), nil
}

// openOpenAI returns a model behind the API of OpenAI. Its key comes from the environment alone.
func (s *Service) openOpenAI(name string, set *modelSettings) (*chosenEmbedder, error) {
	c := s.Config()
	m, err := embed.NewOpenAI(embed.OpenAIOptions{
		URL: cmp.Or(set.url, c.OpenAIBaseURL), Key: c.OpenAIKey, Model: name, Dims: set.dims, Batch: set.batch,
		Timeout: set.timeout, Prefixes: set.prefixes(name),
	})
	if err != nil {
		return nil, asUsageError(err)
	}
	return s.withBreaker(m, func(ctx context.Context) error { _, err := m.Probe(ctx); return err }), nil
}

// asUsageError turns an *embed.Error about options into a config.UsageError.
func asUsageError(err error) error {
	var e *embed.Error
	if errors.As(err, &e) {
		return config.UsageError{Msg: e.Msg, Hint: e.Hint}
	}
	return err
}

// withBreaker wraps a remote model so that it is not asked while it does not answer, and caches its vectors. Each
// change of that state is logged once. The probe passes by the breaker.
func (s *Service) withBreaker(m embed.Embedder, probe func(context.Context) error) *chosenEmbedder {
	b := embed.NewBreaker(m, embed.BreakerOptions{Changed: func(err error) {
		if err != nil {
			s.o.Logger.Warn("the embedding model does not answer; tools are searched by words only until it does",
				s.embedderError(err)...)
			return
		}
		s.o.Logger.Warn("the embedding model answers again", "embedder", s.Config().Embedder)
	}})
	return &chosenEmbedder{embed.NewCache(b, 0), probe}
}

// modelSettings are the settings that may follow a remote model's name, as in ?batch=16&timeout=30s. Zero values mean
// the defaults of package embed.
type modelSettings struct {
	url, query, document string // the last two are prefixes; unset if they are not given
	overridden           bool   // a prefix is given
	dims, batch          int
	timeout, keepAlive   time.Duration
}

// prefixes returns the prefixes of the settings, completed by those that the model's name implies. It returns nil,
// which lets package embed choose, if the settings have none.
func (s *modelSettings) prefixes(model string) *embed.Prefixes {
	if !s.overridden {
		return nil
	}
	p := embed.PrefixesOf(model)
	if s.query != unset {
		p.Query = s.query
	}
	if s.document != unset {
		p.Document = s.document
	}
	return &p
}

// unset marks a prefix that was not given, as opposed to an empty one.
const unset = "\x00"

// parseModelSettings parses the settings after a model's name, written like the query of a URL. kind is ollama or
// openai, which decides the keys. Errors are config.UsageError.
func parseModelSettings(kind, query string) (*modelSettings, error) {
	s := &modelSettings{query: unset, document: unset}
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, config.UsageError{
			Msg:  fmt.Sprintf("the settings %q of the embedder cannot be read", query),
			Hint: "write them like ?batch=16&timeout=30s, with %20 for a blank",
		}
	}
	// unknown keys are refused, so that a misspelt one is noticed
	known := []string{"batch", "document", "query", "timeout", "url"}
	known = append(known, map[string]string{"ollama": "keep_alive", "openai": "dims"}[kind])
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(known, key) {
			return nil, config.UsageError{
				Msg:  fmt.Sprintf("an embedder of %s has no setting %q", kind, key),
				Hint: "there are " + strings.Join(known, ", "),
			}
		}
		v := values.Get(key)
		var err error
		switch key {
		case "url":
			s.url = v
		case "query":
			s.query, s.overridden = v, true
		case "document":
			s.document, s.overridden = v, true
		case "batch":
			s.batch, err = strconv.Atoi(v)
		case "dims":
			s.dims, err = strconv.Atoi(v)
		case "timeout":
			s.timeout, err = time.ParseDuration(v)
		case "keep_alive":
			s.keepAlive, err = time.ParseDuration(v)
		}
		if err != nil || s.batch < 0 || s.dims < 0 || s.timeout < 0 {
			return nil, config.UsageError{
				Msg:  fmt.Sprintf("the setting %s of the embedder cannot be %q", key, v),
				Hint: "numbers are like 16, times like 30s or 5m",
			}
		}
	}
	return s, nil
}

// OllamaURL returns the URL that OLLAMA_HOST names, as Ollama reads it: with or without a scheme.
func OllamaURL(host string) string {
	if host == "" || strings.Contains(host, "://") {
		return host
	}
	return "http://" + host
}
