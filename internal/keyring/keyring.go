package keyring

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	system "github.com/zalando/go-keyring"

	"tooldex/internal/atomicfile"
	"tooldex/tool"
)

// Options configures a Ring. The zero value keeps nothing and finds nothing.
type Options struct {
	// Dir is the folder of the files; "" means that there are none. It is created when a secret is stored.
	Dir string
	// System says that the keyring of the system may be used.
	System bool
	// LookupEnv finds the variables that say where the keyring is; nil finds none.
	LookupEnv func(name string) (string, bool)

	wait time.Duration // for an answer of the keyring; tests lower it
}

// Ring keeps secrets. It is safe for concurrent use, also by several processes.
type Ring struct {
	o Options
	// asking has an item while the keyring is asked. It may ask a person, who may never answer, and cannot be
	// interrupted: so at most one question waits.
	asking chan struct{}
}

// service is the name under which the keyring lists our secrets. most bounds a secret in bytes, as Windows does.
const (
	service = "tooldex"
	most    = 2500
)

// New returns a Ring. It starts nothing.
func New(o Options) *Ring {
	o.wait = cmp.Or(o.wait, 20*time.Second)
	if o.LookupEnv == nil {
		o.LookupEnv = func(string) (string, bool) { return "", false }
	}
	return &Ring{o: o, asking: make(chan struct{}, 1)}
}

// Get returns the secret of a name. The error is NotFound if there is none, and Unavailable if the keyring cannot tell.
func (r *Ring) Get(name string) (string, error) {
	if b, err := os.ReadFile(r.file(name)); err == nil {
		return string(b), nil
	}
	if !r.hasSystem() {
		return "", notFound(name)
	}
	value, err := r.ask(func() (string, error) { return system.Get(service, name) })
	switch {
	case err == nil:
		return value, nil
	case errors.Is(err, system.ErrNotFound), errors.Is(err, system.ErrUnsupportedPlatform):
		return "", notFound(name)
	}
	return "", &tool.Error{
		Code: tool.Unavailable, Op: "read secret", Msg: fmt.Sprintf("the keyring does not give the secret %q", name),
		Hint: "unlock the keyring of this computer, and try again", Err: err,
	}
}

// Set stores a secret, and returns where it is: "the keyring", or the file if the keyring did not take it. A secret of
// the same name is replaced. The error is Invalid for a secret that is too long, and Internal if no file can be
// written.
func (r *Ring) Set(name, value string) (where string, err error) {
	if len(value) > most {
		return "", &tool.Error{
			Code: tool.Invalid, Op: "store secret", Msg: fmt.Sprintf("the secret %q is longer than %d bytes", name, most),
			Hint: "give it in the environment, as ${VAR}",
		}
	}
	if r.hasSystem() {
		if _, err := r.ask(func() (string, error) { return "", system.Set(service, name, value) }); err == nil {
			return "the keyring", nil
		}
	}
	path := r.file(name)
	if path == "" {
		return "", &tool.Error{
			Code: tool.Invalid, Op: "store secret", Msg: "there is no keyring, and no data directory",
			Hint: "give the secret in the environment, as ${VAR}",
		}
	}
	if err = atomicfile.MkdirAll(r.o.Dir, 0o700); err == nil {
		err = atomicfile.Write(path, []byte(value), 0o600)
	}
	if err != nil {
		return "", &tool.Error{
			Code: tool.Internal, Op: "store secret", Msg: path + " cannot be written",
			Hint: "check the permissions, and whether the disk is full", Err: err,
		}
	}
	return path, nil
}

// Remove removes a secret, if there is one. A keyring that does not answer keeps it.
func (r *Ring) Remove(name string) {
	if os.Remove(r.file(name)) != nil && r.hasSystem() {
		_, _ = r.ask(func() (string, error) { return "", system.Delete(service, name) })
	}
}

// file returns the file of a secret, "" if there are no files. Names may hold what no file's name can.
func (r *Ring) file(name string) string {
	if r.o.Dir == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(name))
	return filepath.Join(r.o.Dir, hex.EncodeToString(sum[:16]))
}

// errSilent is the error of a keyring that does not answer in time.
var errSilent = errors.New("it does not answer")

// answer is what the keyring answers.
type answer struct {
	value string
	err   error
}

// ask calls the keyring, and gives up when it does not answer in time.
func (r *Ring) ask(call func() (string, error)) (string, error) {
	late := time.NewTimer(r.o.wait)
	defer late.Stop()
	select {
	case r.asking <- struct{}{}:
	case <-late.C:
		return "", errSilent
	}
	answered := make(chan answer, 1)
	go func() {
		defer func() { <-r.asking }()
		value, err := call()
		answered <- answer{value, err}
	}()
	select {
	case a := <-answered:
		return a.value, a.err
	case <-late.C:
		return "", errSilent
	}
}

// notFound returns the error for a name without a secret.
func notFound(name string) error {
	return &tool.Error{
		Code: tool.NotFound, Op: "read secret", Msg: fmt.Sprintf("the keyring has no secret %q", name),
		Hint: "add the server again with the secret itself and --keyring, which stores it",
	}
}
