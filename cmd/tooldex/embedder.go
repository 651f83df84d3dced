package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"tooldex/catalog"
	"tooldex/embed"
)

// probeTimeout bounds how long a command waits for a remote model to say what it is.
const probeTimeout = 10 * time.Second

const embedderHint = "use builtin, model2vec:FOLDER, ollama:MODEL or openai:MODEL"

// embedder is the model that the user chose in place of the built-in one.
type embedder struct {
	embed.Embedder
	probe func(ctx context.Context) error // asks it what it is
}

// builtin returns the model inside the binary, with the knowledge that is lent, or not.
func (a *app) builtin() (catalog.Model, error) {
	m, err := catalog.BuiltinModel()
	m.NoBorrow = a.borrow == "off"
	return m, err
}

// chosenEmbedder returns the model that --embedder names, or nil for the one inside the binary. It asks no server.
func (a *app) chosenEmbedder() (*embedder, error) {
	kind, rest, _ := strings.Cut(a.embedder, ":")
	switch kind {
	case "", "builtin":
		return nil, nil
	case "model2vec":
		m, err := embed.OpenModel2Vec(rest)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, usageError{
				fmt.Sprintf("there is no Model2Vec model in %q", rest),
				"give the folder that holds its model.safetensors and tokenizer.json: --embedder model2vec:FOLDER",
			}
		}
		if err != nil {
			return nil, err
		}
		return &embedder{embed.NewCache(m, 0), func(context.Context) error { return nil }}, nil
	case "ollama", "openai":
	default:
		return nil, usageError{"unknown embedder " + a.embedder, embedderHint}
	}
	name, query, _ := strings.Cut(rest, "?")
	set, err := readSettings(kind, query)
	if err != nil {
		return nil, err
	}
	if kind == "ollama" {
		return a.ollama(name, set)
	}
	return a.openAI(name, set)
}

func (a *app) ollama(name string, set *modelSettings) (*embedder, error) {
	m, err := embed.NewOllama(embed.OllamaOptions{
		URL: ollamaURL(cmp.Or(set.url, a.getenv("OLLAMA_HOST"))), Model: name, Batch: set.batch, Timeout: set.timeout,
		KeepAlive: set.keepAlive,
		Prefixes:  set.prefixes(name),
	})
	if err != nil {
		return nil, misused(err)
	}
	return a.guarded(m, func(ctx context.Context) error { _, err := m.Probe(ctx); return err }), nil
}

func (a *app) openAI(name string, set *modelSettings) (*embedder, error) {
	m, err := embed.NewOpenAI(embed.OpenAIOptions{
		URL: cmp.Or(set.url, a.getenv("OPENAI_BASE_URL")), Key: a.getenv("OPENAI_API_KEY"), Model: name, Dims: set.dims,
		Batch:   set.batch,
		Timeout: set.timeout, Prefixes: set.prefixes(name),
	})
	if err != nil {
		return nil, misused(err)
	}
	return a.guarded(m, func(ctx context.Context) error { _, err := m.Probe(ctx); return err }), nil
}

// misused says what is wrong with how a model was named.
func misused(err error) error {
	var e *embed.Error
	if errors.As(err, &e) {
		return usageError{e.Msg, e.Hint}
	}
	return err
}

// guarded leaves a remote model alone while it does not answer, and says so once.
func (a *app) guarded(m embed.Embedder, probe func(context.Context) error) *embedder {
	b := embed.NewBreaker(m, embed.BreakerOptions{Changed: func(err error) {
		if err != nil {
			a.log.Warn("the embedding model does not answer; tools are searched by words only until it does",
				a.failed(err)...)
			return
		}
		a.log.Warn("the embedding model answers again", "embedder", a.embedder)
	}})
	return &embedder{embed.NewCache(b, 0), probe}
}

// modelSettings are what may follow a remote model's name: ?batch=16&timeout=30s.
type modelSettings struct {
	url, query, document string
	overridden           bool
	dims, batch          int
	timeout, keepAlive   time.Duration
}

// prefixes are those of the settings; what they leave open is as the model's name tells.
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

// unset tells a prefix that was not given from one that is empty.
const unset = "\x00"

func readSettings(kind, query string) (*modelSettings, error) {
	s := &modelSettings{query: unset, document: unset}
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, usageError{
			fmt.Sprintf("the settings %q of the embedder cannot be read", query),
			"write them like ?batch=16&timeout=30s, with %20 for a blank",
		}
	}
	known := []string{"batch", "document", "query", "timeout", "url"}
	known = append(known, map[string]string{"ollama": "keep_alive", "openai": "dims"}[kind])
	for _, key := range sortedKeys(values) {
		if !slices.Contains(known, key) {
			return nil, usageError{
				fmt.Sprintf("an embedder of %s has no setting %q", kind, key),
				"there are " + strings.Join(known, ", "),
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
			return nil, usageError{
				fmt.Sprintf("the setting %s of the embedder cannot be %q", key, v),
				"numbers are like 16, times like 30s or 5m",
			}
		}
	}
	return s, nil
}

// ollamaURL reads OLLAMA_HOST as Ollama does: with or without a scheme.
func ollamaURL(host string) string {
	if host == "" || strings.Contains(host, "://") {
		return host
	}
	return "http://" + host
}

// glance is how long a server that starts waits for a remote model to say which version of it there is.
const glance = 300 * time.Millisecond

// look finds out what can be found out at once. A model that is not there is told of later, by who embeds with it.
func (e *embedder) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, glance)
	defer cancel()
	_ = e.probe(ctx)
}

// answers reports whether the chosen model answers now. It is waited for only so long, and told of.
func (a *app) answers(ctx context.Context, e *embedder) bool {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	err := e.probe(ctx)
	if err != nil {
		a.log.Warn("the embedding model does not answer; tools are searched by words only", a.failed(err)...)
	}
	return err == nil
}

// failed is what the log tells of an error of the chosen model.
func (a *app) failed(err error) []any {
	args := []any{"embedder", a.embedder, "error", err}
	var told *embed.Error
	if errors.As(err, &told) && told.Hint != "" {
		args = append(args, "hint", told.Hint)
	}
	return args
}

// embedNow makes tools searchable by the chosen model, with progress on a terminal. What fails is told, and no reason
// to stop: what is in use goes on.
func (a *app) embedNow(ctx context.Context, s *stack) {
	if s.chosen == nil || s.catalog == nil {
		return
	}
	p := a.newProgress()
	defer p.end()
	if err := s.catalog.Use(ctx, s.model, func(done, total int) {
		p.update("embedding tools with "+a.embedder, done,
			total)
	}); err != nil && ctx.Err() == nil {
		a.log.Warn("not all tools could be embedded; it goes on with the next command", a.failed(err)...)
	}
}

// embedEvery is how often a server looks whether tools lack vectors of the chosen model: new ones do, and many after a
// time in which it did not answer.
const embedEvery = 3 * time.Second

// embedAlways is embedNow for a server, again and again: until then, and while a model that was replaced is asked for
// everything anew, it answers with what it has.
func (a *app) embedAlways(ctx context.Context, s *stack) {
	ticker := time.NewTicker(embedEvery)
	defer ticker.Stop()
	var said saidOnce
	for {
		p := a.newProgress()
		begun := false
		err := s.catalog.Use(ctx, s.model, func(done, total int) {
			if !begun {
				a.log.Info("embedding tools in the background", "embedder", a.embedder, "tools", total)
			}
			begun = true
			p.update("embedding tools with "+a.embedder, done, total)
		})
		p.end()
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && begun:
			a.log.Info("all tools are embedded", "embedder", a.embedder)
		case said.news(err):
			a.log.Warn("not all tools could be embedded yet", a.failed(err)...)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// saidOnce keeps a failure that goes on from being told again and again. The zero value is ready.
type saidOnce struct{ what string }

// news reports whether err is to be told: whether it is another failure than the last one, by its remedy, since the
// message may count. That a model is left alone for a while has the same remedy. After nil, everything is news.
func (o *saidOnce) news(err error) bool {
	if err == nil {
		o.what = ""
		return false
	}
	what := err.Error()
	var told *embed.Error
	for in := err; errors.As(in, &told); in = told.Err { // to the first cause
		what = told.Hint
	}
	if what == o.what {
		return false
	}
	o.what = what
	return true
}
