package audit

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"tooldex/internal/atomicfile"
	"tooldex/tool"
)

// saltName is the file with the key of the hashes of arguments. Arguments are often short and predictable: without a
// key, anybody who reads the log could test guesses.
const saltName = "salt"

// saltSize is the length of the key in bytes. The file holds it in hexadecimal, with a line feed.
const saltSize = 32

// Fingerprint returns the keyed hash of arguments in this log. It is equal for equal arguments, whatever the order of
// members and the white space, and "" if the key cannot be read.
func (l *Log) Fingerprint(args json.RawMessage) string {
	return l.hashKeyed("arguments", canonicalJSON(args))
}

// hashSession returns 16 hexadecimal digits that identify a session in the log. The name itself would let a reader
// continue the session. It returns "" for "", and if the key cannot be read.
func (l *Log) hashSession(name string) string {
	if name == "" {
		return ""
	}
	h := l.hashKeyed("session", []byte(name))
	return h[:min(len(h), 16)]
}

// hashKeyed hashes b under the key, in hexadecimal, or returns "" if the key cannot be read. what separates the hashes
// of different things, so that equal bytes do not show across them.
func (l *Log) hashKeyed(what string, b []byte) string {
	key, err := l.readKey()
	if err != nil {
		l.o.Logger.Debug("the key of the audit log cannot be used", "error", err)
		return ""
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(what + "\x00"))
	mac.Write(b)
	return hex.EncodeToString(mac.Sum(nil))
}

// readKey returns the key, which it reads once and creates if there is none. The lock of the directory keeps two
// processes from creating different keys.
func (l *Log) readKey() ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.salt != nil {
		return l.salt, nil
	}
	if err := l.lockFile(); err != nil {
		return nil, err
	}
	defer func() { _ = releaseLock(l.head) }() // as in appendLocked
	if err := l.checkFault("read salt"); err != nil {
		return nil, err
	}
	b, err := os.ReadFile(l.filePath(saltName))
	switch {
	case err == nil && len(bytes.TrimSpace(b)) == 2*saltSize:
		if l.salt, err = hex.DecodeString(string(bytes.TrimSpace(b))); err == nil {
			return l.salt, nil
		}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read salt: %w", err)
	}
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt) // it never fails, by its documentation
	err = atomicfile.Create(l.filePath(saltName), 0o600, func(w io.Writer) error {
		return l.writeTo(w, "write salt", []byte(hex.EncodeToString(salt)+"\n"))
	})
	if err != nil {
		return nil, fmt.Errorf("make salt: %w", err)
	}
	l.salt = salt
	return salt, nil
}

// canonicalJSON writes JSON in one form for equal values: members sorted, no white space, numbers as they were written.
// It returns what is not JSON as it is.
func canonicalJSON(raw json.RawMessage) []byte {
	if len(bytes.TrimSpace(raw)) == 0 {
		return []byte("{}")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return raw
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return raw
	}
	out, err := json.Marshal(v)
	if err != nil {
		return raw
	}
	return out
}

// definitions caches the hashes of the tools of one set. The zero value is ready.
type definitions struct {
	mu    sync.Mutex
	set   *tool.Set
	known map[tool.ID]string
}

// hashOfTool returns the hash of a tool of the set. The cache holds one set: another one empties it. It is safe for
// concurrent use.
func (d *definitions) hashOfTool(t *tool.Tool, set *tool.Set) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.set != set {
		d.set, d.known = set, map[tool.ID]string{}
	}
	id := t.ID()
	if h, ok := d.known[id]; ok {
		return h
	}
	sum := t.Hash()
	h := hex.EncodeToString(sum[:])
	d.known[id] = h
	return h
}
