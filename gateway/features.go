package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/atomicfile"
	"tooldex/upstream"
)

// Features returns what every server offers beside its tools, sorted by name, as stored when the server was last asked.
// It waits for no server. The items are shared and must not be changed.
func (g *Gateway) Features() []upstream.Features {
	g.mu.RLock()
	list := slices.Collect(maps.Values(g.upstreams))
	g.mu.RUnlock()
	out := make([]upstream.Features, 0, len(list))
	for _, u := range list {
		out = append(out, *u.knownFeatures())
	}
	slices.SortFunc(out, func(a, b upstream.Features) int { return cmp.Compare(a.Server, b.Server) })
	return out
}

// knownFeatures returns the last known features, which it loads from the file on first use. It never returns nil. The
// value is replaced, never changed, so it may be read without u.mu.
func (u *Upstream) knownFeatures() *upstream.Features {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.personal != nil { // one user's resources and prompts are nothing for another
		return &upstream.Features{Server: u.cfg.Name}
	}
	if u.features == nil {
		u.features = u.loadFeatures()
	}
	return u.features
}

// featureWait bounds how long a listing of a server's tools waits for what else it offers.
const featureWait = 10 * time.Second

// readFeatures asks a running server for what it offers beside tools, and stores it. A list that cannot be read keeps
// its old content. u.reading serializes the calls, so that a change is announced once, and an older answer never
// replaces a newer one. ctx ending meanwhile leaves everything as it was.
func (u *Upstream) readFeatures(ctx context.Context, s *session) {
	if u.personal != nil { // see knownFeatures
		return
	}
	u.reading.Lock()
	defer u.reading.Unlock()
	caps := s.cs.InitializeResult().Capabilities
	if caps == nil {
		caps = &mcp.ServerCapabilities{}
	}
	before := *u.knownFeatures()
	now := upstream.Features{Server: u.cfg.Name}
	wait := min(featureWait, u.callTimeout())
	var lists sync.WaitGroup
	read := func(kind listKind, offered bool, old []json.RawMessage, into *[]json.RawMessage) {
		if !offered {
			return
		}
		lists.Go(func() {
			var items []json.RawMessage
			_, err := s.listPages(ctx, kind, wait, func(page []json.RawMessage) { items = append(items, page...) })
			if err != nil {
				u.logger.Warn("what a server offers beside tools could not be read; what is stored is served", "method",
					kind.method, "error", err)
				items = old
			}
			*into = items
		})
	}
	read(resourceList(), caps.Resources != nil, before.Resources, &now.Resources)
	read(templateList(), caps.Resources != nil, before.Templates, &now.Templates)
	read(promptList(), caps.Prompts != nil, before.Prompts, &now.Prompts)
	lists.Wait()
	if ctx.Err() != nil || equalFeatures(&before, &now) && u.featuresStored() {
		return
	}
	u.mu.Lock()
	u.features = &now
	err := u.saveFeatures(&now)
	u.mu.Unlock()
	if err != nil {
		u.logger.Warn("what a server offers beside tools could not be stored", "error", err)
	}
	if u.opts.OnFeatures != nil && !equalFeatures(&before, &now) {
		u.opts.OnFeatures(u.cfg.Name)
	}
}

// resourceList, templateList and promptList are the listings that servers offer beside tools.
func resourceList() listKind {
	return listKind{"resources/list", "resources", func(ctx context.Context, cs *mcp.ClientSession, cursor string) (any,
		error,
	) {
		return cs.ListResources(ctx, &mcp.ListResourcesParams{Cursor: cursor})
	}}
}

// templateList lists the templates of resources.
func templateList() listKind {
	return listKind{"resources/templates/list", "resourceTemplates", func(ctx context.Context, cs *mcp.ClientSession,
		cursor string,
	) (any, error) {
		return cs.ListResourceTemplates(ctx, &mcp.ListResourceTemplatesParams{Cursor: cursor})
	}}
}

// promptList lists the prompts.
func promptList() listKind {
	return listKind{"prompts/list", "prompts", func(ctx context.Context, cs *mcp.ClientSession, cursor string) (any,
		error,
	) {
		return cs.ListPrompts(ctx, &mcp.ListPromptsParams{Cursor: cursor})
	}}
}

// equalFeatures compares the bytes of the items, in their order.
func equalFeatures(a, b *upstream.Features) bool {
	same := func(a, b json.RawMessage) bool { return string(a) == string(b) }
	return slices.EqualFunc(a.Resources, b.Resources, same) && slices.EqualFunc(a.Templates, b.Templates, same) &&
		slices.EqualFunc(a.Prompts, b.Prompts, same)
}

// refreshFeatures reads the features after the server announced a change. It does not start a server for that.
func (u *Upstream) refreshFeatures() {
	u.mu.Lock()
	s := u.session
	u.mu.Unlock()
	if s != nil && s.isAlive() {
		u.readFeatures(s.ctx, s)
	}
}

// reloadFeatures restores on a new session what the session before it had: the subscriptions of clients, and the
// features if none are stored yet. What fails is logged.
func (u *Upstream) reloadFeatures(s *session) {
	if !u.featuresStored() {
		wakeChannel(u.others)
	}
	u.mu.Lock()
	watched := slices.Sorted(maps.Keys(u.watched))
	u.mu.Unlock()
	for _, uri := range watched {
		ctx, stop := context.WithTimeout(s.ctx, featureWait)
		err := s.subscribe(ctx, &mcp.SubscribeParams{URI: uri})
		stop()
		if err != nil {
			u.logger.Warn("upstream does not take a subscription again", "uri", truncateText(uri, 200), "error",
				s.redact.redactError(err))
		}
	}
}

// featureFile returns the file in which a server's features are stored, or "" if there is no folder for it.
func (u *Upstream) featureFile() string {
	if u.opts.Dir == "" {
		return ""
	}
	return filepath.Join(u.opts.Dir, featureFileName(u.cfg.Name))
}

// featureFileName returns the name of a server's file. It holds no separator and no dot but that of its extension, so
// no server name can lead out of the folder.
func featureFileName(server string) string {
	return strings.ReplaceAll(url.PathEscape(server), ".", "%2E") + ".json"
}

// featuresStored reports whether the features of an earlier run are on disk, so that the server need not be started to
// list them.
func (u *Upstream) featuresStored() bool {
	file := u.featureFile()
	if file == "" {
		return false
	}
	_, err := os.Stat(file)
	return err == nil
}

// loadFeatures reads the stored features. It never returns nil: a missing or broken file counts as empty.
func (u *Upstream) loadFeatures() *upstream.Features {
	f := &upstream.Features{}
	if file := u.featureFile(); file != "" {
		b, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(b, f)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			u.logger.Warn("what a server offers beside tools could not be read; it is asked again", "error", err)
			f = &upstream.Features{}
		}
	}
	f.Server = u.cfg.Name
	return f
}

// saveFeatures replaces the stored features in one step, so that another process never reads half of them.
func (u *Upstream) saveFeatures(f *upstream.Features) error {
	file := u.featureFile()
	if file == "" {
		return nil
	}
	b, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("encode features: %w", err)
	}
	return replaceFile(file, b)
}

// replaceFile writes a file that only this user can read, in one step.
func replaceFile(file string, data []byte) error {
	if err := atomicfile.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	if err := atomicfile.Write(file, data, 0o600); err != nil {
		return fmt.Errorf("write file: %w", err)
	}
	return nil
}
