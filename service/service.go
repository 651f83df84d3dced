package service

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tooldex/catalog"
	"tooldex/config"
	"tooldex/credential"
	"tooldex/embed"
	"tooldex/gateway"
	"tooldex/index"
	"tooldex/internal/keyring"
	"tooldex/learn"
	"tooldex/metrics"
	"tooldex/search"
	"tooldex/store"
	"tooldex/store/postgres"
	"tooldex/tool"
	"tooldex/trust"
	"tooldex/upstream"
)

// Use says how much of a service to open. Less opens faster.
type Use int

// The uses.
const (
	ToList   Use = iota // the stored tools, as they are
	ToImport            // the same, and what is new is made searchable for other processes
	ToChange            // the same, and what was made of tools can be read
	ToSearch            // all of it, with the index
)

// Options says what to open. Its zero value lists the tools of a new temporary folder.
type Options struct {
	// Dir is the data directory, made if it does not exist. Several processes may share it. "" means a temporary folder
	// that Close removes.
	Dir string
	Use Use
	// Config returns the configuration of the moment; nil means the defaults.
	Config func() *config.Config
	// Model makes tools searchable until an embedder of the configuration has taken over; nil means the built-in one.
	Model *catalog.Model
	// Unchecked accepts all tools without the scanner, for tools that are made for this run alone.
	Unchecked bool
	// Serving says that the program stays: nothing delays its first answer, and models that the configuration names
	// take over in the background.
	Serving bool
	// Repair is called with the error of a damaged file, and the file is opened again if it returns nil. Nil means that
	// the error is returned.
	Repair func(ctx context.Context, damage error) error
	// Progress reports on work that takes long; nil reports nothing. It is called on several goroutines.
	Progress Progress
	Version  string       // of this program, for upstream servers
	Logger   *slog.Logger // nil means no log
}

// Progress reports that done of total steps of some work are done. done == total ends it.
type Progress func(what string, done, total int)

// Service is the stored tools and the search over them. Its methods are safe for concurrent use; its fields must not be
// changed. Close it after use.
type Service struct {
	// Credentials are those that users gave for servers; nil if none are kept.
	Credentials *credential.Store

	Store   store.Backend
	Catalog *catalog.Catalog
	Engine  *search.Engine // nil unless opened ToSearch
	Learner *learn.Learner // what is learned from use
	Ranking search.Options // what Engine was made of
	Index   *index.Index   // what Engine searches; nil unless opened ToSearch
	Skills  *Skills        // nil if no folders of skills are configured

	o       Options
	dir     string
	scratch string          // the folder to remove on Close; "" for stored tools
	model   catalog.Model   // makes tools searchable, or will once the chosen embedder has taken over
	chosen  *chosenEmbedder // the model in place of the built-in one; nil for that
	finder  tool.Searcher   // Engine, and Skills beside it
	limited tool.Searcher   // finder, limited to what the processors can do at once
	secrets *keyring.Ring
	states  upstreamStates
	stop    func() // ends background work; nil if there is none
}

// Open opens a service. Its errors are those of store.Open and catalog.Open, and config.UsageError for settings that
// cannot be used. After an error nothing stays open.
func Open(ctx context.Context, o Options) (*Service, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Progress == nil {
		o.Progress = func(string, int, int) {}
	}
	if o.Config == nil {
		defaults, err := config.Load(config.Options{NoFile: true, Getenv: func(string) string { return "" }})
		if err != nil {
			return nil, err
		}
		o.Config = defaults.Config
	}
	s := &Service{o: o, dir: o.Dir}
	if s.dir == "" {
		dir, err := os.MkdirTemp("", "tooldex")
		if err != nil {
			return nil, &tool.Error{
				Code: tool.Unavailable, Op: "open", Msg: "cannot make a temporary folder",
				Hint: "set the data directory, or TMPDIR", Err: err,
			}
		}
		s.dir, s.scratch = dir, dir
	}
	var err error
	if s.Credentials, err = openCredentials(s.dir, s.Config().Credentials); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.secrets = s.openKeyring()
	err = s.openStore(ctx)
	if errors.Is(err, store.ErrDamaged) && o.Repair != nil {
		if err = o.Repair(ctx, err); err == nil {
			err = s.openStore(ctx)
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// openStore opens the store and all that rests on it. Open calls it again after a repair.
func (s *Service) openStore(ctx context.Context) (err error) {
	address := s.Config().Store
	if s.scratch != "" { // the tools are made for this run alone
		address = ""
	}
	if s.o.Serving {
		s.Store, err = openStore(ctx, address, s.dir, store.Options{}, postgres.OpenRemembering)
	} else {
		s.Store, err = OpenStore(ctx, address, s.dir, store.Options{})
	}
	if err != nil {
		return err
	}
	return s.openCatalog(ctx)
}

// openCatalog opens the catalogue over the store, and the search over the index that the catalogue fills. An embedder
// that the configuration names takes over once it has embedded all tools. Until then a program that stays answers by
// the built-in one; another waits for it, or searches by words alone if it does not answer.
func (s *Service) openCatalog(ctx context.Context) error {
	o := catalog.Options{Store: s.Store, Dir: s.dir, Logger: s.o.Logger, Trust: s.Trust(), Slim: s.o.Use == ToImport}
	o.Images = s.scratch == "" && s.o.Use != ToChange
	var queries, fallback embed.Embedder
	if o.ListOnly = s.o.Use == ToList; o.ListOnly {
		var err error
		if o.Model, err = s.builtinModel(); err != nil {
			return err
		}
	} else {
		var err error
		if o.Model, err = s.builtinModel(); err != nil {
			return err
		}
		if s.chosen, err = s.openEmbedder(); err != nil {
			return err
		}
		s.model, queries = o.Model, o.Model.Embedder
		if s.chosen != nil {
			s.model.Embedder, queries, fallback = s.chosen, s.chosen, o.Model.Embedder
			switch {
			case s.o.Serving:
				s.chosen.probeBriefly(ctx)
			case !s.embedderAnswers(ctx):
				o.Model.Embedder, queries = nil, nil
			}
		}
		o.Progress = func(done, total int) { s.o.Progress("making tools searchable", done, total) }
	}
	s.Skills = s.openSkills(o.Model)
	if s.o.Use == ToSearch {
		s.Index = &index.Index{}
		o.Index = s.Index
	}
	s.Learner = s.newLearner()
	if s.o.Use == ToSearch {
		s.Ranking = search.Options{
			Lookup: o.Index, Embedder: queries, Fallback: fallback, Base: o.Model.Base, Map: o.Model.Encoder,
			Servers: &s.states, Usage: s.Learner, Learned: s.Learner,
		}
		s.Engine = search.New(s.Ranking)
		s.finder = s.Engine
		if s.Skills != nil {
			s.finder = skillSearcher{s.Engine, s.Skills}
		}
		s.limited = newSearchLimiter(s.finder, s.chosen != nil)
		if !s.o.Serving { // a program that stays reads it while it answers already
			if err := s.Learner.Load(ctx); err != nil {
				return err
			}
		}
	}
	var err error
	s.Catalog, err = catalog.Open(ctx, o)
	switch {
	case err != nil || s.chosen == nil || o.Model.Embedder == nil:
	case s.o.Serving:
		s.embedInBackground(ctx)
	case s.o.Use == ToSearch:
		s.EmbedNow(ctx)
	}
	if err == nil && s.o.Use == ToSearch && !s.o.Serving { // a program that stays reads them while it answers already
		_, err = s.Skills.Refresh(ctx)
	}
	return err
}

// SaveIndex writes the index beside the store, so that the next process need not build it. It does nothing if it is
// there, or if the tools are made for this run alone. A failure is only logged: the next process is slower then.
func (s *Service) SaveIndex(ctx context.Context) {
	s.saved(ctx, s.Catalog.SaveImage)
}

// saved logs the error of writing the index.
func (s *Service) saved(ctx context.Context, save func(context.Context) error) {
	if err := save(ctx); err != nil && ctx.Err() == nil {
		s.o.Logger.Debug("the index could not be written", "error", err)
	}
}

// Close ends background work, writes the index beside the store and removes a temporary folder. The error is Internal
// if that folder cannot be removed.
func (s *Service) Close() error {
	if s.stop != nil {
		s.stop()
	}
	if s.scratch == "" {
		if s.Catalog != nil {
			s.saved(context.Background(), s.Catalog.Close)
		}
		if s.Store != nil {
			return s.Store.Close()
		}
		return nil
	}
	if err := os.RemoveAll(s.scratch); err != nil {
		return &tool.Error{Code: tool.Internal, Op: "close", Msg: "a temporary folder remains", Err: err}
	}
	return nil
}

// Dir returns the data directory, or the temporary folder in its place.
func (s *Service) Dir() string { return s.dir }

// Config returns the configuration of this moment.
func (s *Service) Config() *config.Config { return s.o.Config() }

// Logger returns the log.
func (s *Service) Logger() *slog.Logger { return s.o.Logger }

// Shared reports whether other machines may share what is stored.
func (s *Service) Shared() bool { return s.scratch == "" && s.Config().Store != "" }

// Owner reports whether this process does what one of those that share the state does for all: see store.Backend. A
// command that ends soon does not, where there are others.
func (s *Service) Owner() bool { return !s.Shared() || s.o.Serving && s.Store.Owner() }

// Unreached says why the database was not reached since the service was opened: it then is as at the end of an earlier
// run. It is nil once the database was reached, and for a file.
func (s *Service) Unreached() error {
	if r, ok := s.Store.(store.Remembering); ok {
		return r.Unreached()
	}
	return nil
}

// Temporary reports whether the tools are made for this run alone.
func (s *Service) Temporary() bool { return s.scratch != "" }

// Servers returns the configured servers, sorted by name: those that are stored, and those of the configuration file,
// which win. The caller owns the slice.
func (s *Service) Servers() []upstream.Server {
	return MergeServers(s.Catalog.Servers(), s.Config().Servers)
}

// knowsServer reports whether a server is configured, or has tools from a file.
func (s *Service) knowsServer(name string) bool {
	if slices.ContainsFunc(s.Servers(), func(one upstream.Server) bool { return one.Name == name }) {
		return true
	}
	all := s.Catalog.Set().All() // by ID
	first := string(tool.MakeID(name, ""))
	i, _ := slices.BinarySearchFunc(all, first, func(t *tool.Tool, id string) int { return cmp.Compare(string(t.ID()), id) })
	return i < len(all) && all[i].Server == name
}

// MergeServers returns the servers of both lists, sorted by name. Of two with the same name the one in more wins.
func MergeServers(all, more []upstream.Server) []upstream.Server {
	out := slices.Clone(all)
	for _, m := range more {
		out = slices.DeleteFunc(out, func(s upstream.Server) bool { return s.Name == m.Name })
	}
	out = append(out, more...)
	slices.SortFunc(out, func(a, b upstream.Server) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// SameServer reports whether two servers are configured alike.
func SameServer(a, b upstream.Server) bool { return reflect.DeepEqual(a, b) }

// SaveServers stores the configuration of servers, in one step, in place of those of the same names. It reads no tools.
func (s *Service) SaveServers(ctx context.Context, servers []upstream.Server) error {
	if _, err := s.Store.Write(ctx, &store.Batch{Servers: servers}); err != nil {
		return err
	}
	_, err := s.Catalog.Refresh(ctx)
	return err
}

// Unread returns those of servers of which no tool is stored and that are not disabled: an import that failed before is
// worth another try. The caller owns the slice.
func (s *Service) Unread(servers []upstream.Server) []upstream.Server {
	read := map[string]bool{}
	for _, t := range s.Catalog.Set().All() {
		read[t.Server] = true
	}
	return slices.DeleteFunc(slices.Clone(servers), func(one upstream.Server) bool {
		return one.Disabled || read[one.Name]
	})
}

// RemoveServer removes a server, its tools and what is kept of it, whether it was configured or came from a file. The
// error is NotFound if there is none of that name, and Invalid for one of the configuration file.
func (s *Service) RemoveServer(ctx context.Context, name string) error {
	if err := s.checkStored("remove server", name); err != nil {
		return err
	}
	removed, _, found := s.Server(name)
	_, err := s.Catalog.Remove(ctx, name)
	if err == nil && found == nil {
		s.dropSecrets(removed)
	}
	switch {
	case tool.CodeOf(err) == tool.NotFound:
		return unknownServer("remove", name)
	case err != nil || s.UpstreamDir() == "":
		return err
	}
	return gateway.Forget(s.UpstreamDir(), name)
}

// Trust returns the current settings of trust. Servers of the configuration file may be trusted one by one.
func (s *Service) Trust() trust.Options {
	if s.o.Unchecked {
		return trust.Options{Policy: trust.Off}
	}
	c := s.Config().Trust
	return trust.Options{
		Policy: trust.Policy(c.Policy), Servers: c.Servers,
		Trusted: func(server string) bool {
			return slices.ContainsFunc(s.Config().Servers, func(one upstream.Server) bool {
				return one.Name == server && one.Trust
			})
		},
	}
}

// newLearner returns the learner of the service, which has not loaded anything yet.
func (s *Service) newLearner() *learn.Learner {
	o := learn.Options{
		Disk: s.Store, Reader: lateReader{s}, Catalog: lateReader{s},
		KeepText: s.Config().Serve.LearnText, Logger: s.o.Logger, Sweeps: s.Owner,
	}
	if s.model.Embedder != nil {
		o.Model = s.model.Embedder.Model().Fingerprint
	}
	return learn.New(o)
}

// lateReader gives the learner access to the engine and the catalogue, which are made after it.
type lateReader struct{ s *Service }

// Read reads a request as the search does.
func (r lateReader) Read(ctx context.Context, text string, n int) (*tool.Reading, error) {
	return r.s.Engine.Read(ctx, text, n)
}

// Set returns the tools of this moment, nil while they are being read.
func (r lateReader) Set() *tool.Set {
	if r.s.Catalog == nil {
		return nil
	}
	return r.s.Catalog.Set()
}

// UpstreamDir returns where features of servers, login tokens and the states of servers are kept, "" if nothing is
// kept.
func (s *Service) UpstreamDir() string {
	if s.scratch != "" {
		return ""
	}
	return UpstreamDir(s.dir)
}

// UpstreamDir returns the folder of a data directory that Service.UpstreamDir is.
func UpstreamDir(dataDir string) string { return filepath.Join(dataDir, "upstreams") }

// NewGateway returns a gateway to the configured servers, which starts each when it is first needed. It sets the
// options that depend on the service, whatever o says. Searches rank by the server states of the gateway that was made
// last. The caller closes it.
func (s *Service) NewGateway(o gateway.Options) *gateway.Gateway {
	gw := gateway.New(s.gatewayOptions(o))
	gw.Set(s.Servers())
	s.states.gateway.Store(gw)
	return gw
}

// gatewayOptions returns o with the options that depend on the service.
func (s *Service) gatewayOptions(o gateway.Options) gateway.Options {
	counts := &toolCounts{}
	c := s.Config()
	o.StartTimeout = cmp.Or(o.StartTimeout, time.Duration(c.StartTimeout)*time.Second)
	o.CallTimeout = cmp.Or(o.CallTimeout, time.Duration(c.CallTimeout)*time.Second)
	o.MessageMemory = cmp.Or(o.MessageMemory, int64(c.MessageMemory)<<20)
	o.Logger, o.Version, o.AllowPrivate = s.o.Logger, s.o.Version, s.Config().AllowPrivate
	o.Known = func(server string) int { return counts.of(s.Catalog.Set(), server) }
	o.Dir = s.UpstreamDir()
	o.LookupEnv, o.EnvNames, o.Secret = config.LookupEnv, config.EnvNames, s.secrets.Get
	o.Users = userCredentials{s.Credentials}
	return o
}

// toolCounts counts the tools of servers, once for each state of the catalogue, since searches ask often. It is safe
// for concurrent use.
type toolCounts struct {
	mu    sync.Mutex
	set   *tool.Set
	tools map[string]int
}

// of returns how many tools of a server the set has, disabled ones included.
func (c *toolCounts) of(set *tool.Set, server string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.set != set {
		c.set, c.tools = set, map[string]int{}
		for _, t := range set.All() {
			c.tools[t.Server]++
		}
	}
	return c.tools[server]
}

// upstreamStates provides searches with the states of servers, none before there is a gateway.
type upstreamStates struct {
	gateway atomic.Pointer[gateway.Gateway]
}

// messageMemory returns the bytes of servers' messages in memory, and how many messages found no room.
func (u *upstreamStates) messageMemory() (held, refused int64) {
	if gw := u.gateway.Load(); gw != nil {
		return gw.MessageMemory()
	}
	return 0, 0
}

// Status implements search.Servers.
func (u *upstreamStates) Status() []upstream.Status {
	if gw := u.gateway.Load(); gw != nil {
		return gw.Status()
	}
	return nil
}

// serverStates returns what metrics report of the servers that the gateway knows, by name.
func (s *Service) serverStates() map[string]metrics.ServerState {
	out := map[string]metrics.ServerState{}
	for _, one := range s.states.Status() {
		out[one.Server] = metrics.ServerState{Works: one.State != upstream.Failed, Restarts: one.Restarts}
	}
	return out
}

// WarnHeld logs each tool that an import has put on hold.
func (s *Service) WarnHeld(r catalog.Report) {
	for _, id := range r.Held {
		s.o.Logger.Warn("a tool is held until somebody approves it", "tool", id, "review",
			"tooldex servers review "+id.Server())
	}
}
