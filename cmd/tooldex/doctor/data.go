package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"time"

	"tooldex/catalog/sources"
	"tooldex/config"
	"tooldex/serve"
	"tooldex/service"
	"tooldex/store"
	"tooldex/tool"
)

// checkConfig checks the configuration file, and warns of variables with the prefix of tooldex that are not read.
func (d *doctor) checkConfig() {
	path, _ := d.o.Settings.Path()
	switch {
	case d.o.SettingsErr != nil:
		d.addError("configuration", path, d.o.SettingsErr)
	case !d.o.Settings.FileFound():
		d.addFine("configuration", "", "no file; flags, environment and defaults are in effect")
	default:
		d.addFine("configuration", path, "%s, %s", Count(len(d.currentConfig().Servers), "server"),
			Count(len(d.currentConfig().Profiles), "profile"))
	}
	for _, name := range config.UnknownVariables(config.Environ()) {
		d.addFinding(Warn, "configuration", name, "the nearest known variable is "+sources.Nearest(name,
			config.Variables()), "this environment variable has no meaning")
	}
}

// lockPatience bounds the wait for the lock of another process, and for the answer of one that serves.
const lockPatience = 2 * time.Second

// checkData checks the data directory and the store in it, and reports whether the store can be opened. With Fix it
// rebuilds a damaged one.
func (d *doctor) checkData(ctx context.Context) bool {
	info, err := os.Stat(d.currentConfig().DataDir)
	switch {
	// Creating the folder of a misspelt flag would hide the mistake. Without the flag, a missing folder is the normal
	// state before the first import.
	case errors.Is(err, fs.ErrNotExist) && d.o.Settings.Origin("dataDir").Layer == "flag": // a slip of the keyboard
		d.addFinding(Broken, "data", d.currentConfig().DataDir, "check --data-dir; tooldex import makes a new one",
			"the folder does not exist")
		return false
	case errors.Is(err, fs.ErrNotExist):
		d.addFinding(Note, "data", d.currentConfig().DataDir, "", "the directory did not exist, and is made now")
	case err != nil:
		d.addFinding(Broken, "data", d.currentConfig().DataDir, "see that you may read the folder, or give --data-dir",
			"%v", causeOf(err))
		return false
	case !info.IsDir():
		d.addFinding(Broken, "data", d.currentConfig().DataDir, "move the file away, or give --data-dir",
			"it is not a directory")
		return false
	default:
		d.checkPermissions(info)
	}
	// A short wait: a process that serves holds the lock only for moments at a time.
	s, err := service.OpenStore(ctx, d.currentConfig().Store, d.currentConfig().DataDir, store.Options{LockTimeout: lockPatience})
	whole := true
	if err == nil {
		defer func() { _ = s.Close() }() // it is only read
		whole, err = d.readData(ctx, s)
	}
	if d.o.Fix && errors.Is(err, store.ErrDamaged) {
		s, err = d.rebuildStore(ctx, err)
	}
	if err != nil {
		d.addError("data", d.currentConfig().DataDir, err)
		if last := &d.found[len(d.found)-1]; tool.CodeOf(err) == tool.Timeout {
			last.Remedy = "end the process that keeps " + store.FileName + " locked; fuser or lsof name it"
		}
		return false
	}
	size, _ := s.Size(ctx) // it was read a moment ago
	if whole {
		d.addFine("data", s.Location(), "sound, and not locked; %.1f MB", float64(size)/1e6)
	} else {
		d.addFinding(Note, "data", s.Location(), "tooldex index verify reads all of it",
			"opens, and is not locked; of %.1f MB only the beginning was read", float64(size)/1e6)
	}
	d.checkOldFiles(d.currentConfig().DataDir)
	return true
}

// mostRead is the size of a store, in bytes, up to which each value of it is read: a second for every 200 MB.
const mostRead = 64 << 20

// readData reads what is stored and verifies it, and reports whether that was all of it. Of a large store it reads the
// head alone, unless that is damaged, or what is damaged is to be mended.
func (d *doctor) readData(ctx context.Context, s store.Backend) (whole bool, err error) {
	size, err := s.Size(ctx)
	if err == nil && size > mostRead && !d.o.Fix {
		if head, err := s.ReadHead(ctx); err == nil && !head.Damaged {
			return false, nil
		}
	}
	return true, s.Check(ctx)
}

// rebuildStore replaces a damaged file and imports the tools again. Because is the error that led to it. A source that
// fails is a finding and no error.
func (d *doctor) rebuildStore(ctx context.Context, because error) (store.Backend, error) {
	saved, err := d.o.Rebuild(ctx)
	if err != nil {
		return nil, errors.Join(because, err)
	}
	d.addFinding(Fixed, "data", d.currentConfig().DataDir, "", "%v; %s", causeOf(because), saved)
	if err := d.o.ReadSources(ctx); err != nil {
		d.addFinding(Warn, "data", d.currentConfig().DataDir, "tooldex import reads them again",
			"not every source could be read again: %v", err)
	}
	return store.Open(d.currentConfig().DataDir, store.Options{LockTimeout: lockPatience})
}

// checkOldFiles counts the files that rebuilds and restores have kept, which nothing removes.
func (d *doctor) checkOldFiles(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // the directory was read a moment ago
	}
	number, size := 0, int64(0)
	for _, e := range entries {
		name, ok := strings.CutPrefix(e.Name(), store.FileName+".")
		if info, err := e.Info(); ok && err == nil && (strings.HasPrefix(name, "damaged-") ||
			strings.HasPrefix(name, "before-restore-") || strings.HasPrefix(name, "before-copy-")) {
			number++
			size += info.Size()
		}
	}
	if number > 0 {
		d.addFinding(Note, "data", d.currentConfig().DataDir, "remove them when nothing is missed",
			"%d old files are kept from before a rebuild or a restore; %.1f MB", number, float64(size)/1e6)
	}
}

// checkPermissions warns of a data directory that others can read, since the configurations of servers hold secrets.
// With Fix it takes the permissions away. On Windows modes say nothing.
func (d *doctor) checkPermissions(info fs.FileInfo) {
	const others = 0o077
	mode := info.Mode().Perm()
	if runtime.GOOS == "windows" || mode&others == 0 {
		return
	}
	status, remedy := Warn, "chmod 700 "+d.currentConfig().DataDir+", or tooldex doctor --fix"
	if d.o.Fix && os.Chmod(d.currentConfig().DataDir, mode&^others) == nil {
		status, remedy = Fixed, ""
	}
	d.addFinding(status, "data", d.currentConfig().DataDir, remedy, "other users may read the directory (mode %o)",
		mode)
}

// checkEmbedder asks the configured embedding model for an answer.
func (d *doctor) checkEmbedder(ctx context.Context) {
	name := d.currentConfig().Embedder
	start := time.Now()
	named, err := service.ProbeEmbedder(ctx, d.o.Settings.Config, d.o.Logger)
	switch {
	case err != nil:
		d.addError("model", name, err)
	case named:
		d.addFine("model", name, "answers in %s", roundDuration(time.Since(start)))
	default:
		d.addFine("model", "builtin", "works without any server")
	}
}

// checkPort checks that the address to serve on is free or served by tooldex, and that it is not public without a
// token.
func (d *doctor) checkPort(ctx context.Context) {
	cfg := d.currentConfig().Serve
	addr := cfg.Listen
	here, err := serve.IsLoopback(addr)
	if err != nil {
		d.addError("port", addr, err)
		return
	}
	if !here && cfg.Token == "" && cfg.TokenFile == "" && cfg.TokensFile == "" {
		d.addFinding(Broken, "port", addr, "set TOOLDEX_TOKEN, or listen on "+config.DefaultListen,
			"others can reach the address, and there is no token")
	}
	// Listening is the only test that covers permissions, ports in use and addresses that are not of this machine.
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err == nil {
		_ = l.Close() // nobody has connected yet
		d.addFine("port", addr, "free for tooldex serve")
		return
	}
	if servesAt(ctx, addr) {
		d.addFine("port", addr, "tooldex serves here")
		return
	}
	d.addFinding(Warn, "port", addr, "end the other program, or choose another address with --listen or TOOLDEX_LISTEN",
		"cannot be listened on: %v", err)
}

// servesAt reports whether a server at an address answers /healthz as tooldex does, with status 200.
func servesAt(ctx context.Context, addr string) bool {
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/healthz", nil)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer func() { _ = res.Body.Close() }()
	return res.StatusCode == http.StatusOK
}

// roundDuration formats a duration in milliseconds, or from a second on in seconds.
func roundDuration(took time.Duration) string {
	if took < time.Second {
		return fmt.Sprintf("%d ms", took.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", took.Seconds())
}
