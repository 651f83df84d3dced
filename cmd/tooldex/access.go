package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"gopkg.in/yaml.v3"

	"tooldex/tool"
)

// access says who may use the HTTP surface, for what, and how often.
type access struct {
	token  string       // for everything; "" means none
	tokens []boundToken // for less
	rate   float64      // requests a second from one address; zero means as many as come
}

// boundToken is a token that is good for a part.
type boundToken struct {
	name   string // what people call it
	digest [sha256.Size]byte
	view   view
}

// view is a part of what there is.
type view struct {
	profile  string // "" means all tools
	readOnly bool   // only tools that change nothing, and nothing can be changed
}

// openRate is the rate where others can reach the address, unless the command line says otherwise.
const openRate = 50

// access reads what the flags and the environment say of it. Its errors are of usage, and Invalid for what the files hold.
func (f *serveFlags) access(getenv func(string) string, profiles map[string]profile) (access, error) {
	out := access{token: getenv("TOOLDEX_TOKEN"), rate: f.rate}
	if file := cmp.Or(f.tokenFile, getenv("TOOLDEX_TOKEN_FILE")); file != "" {
		b, err := os.ReadFile(file)
		if err != nil {
			return access{}, fileError("read the token", file, err)
		}
		if out.token = strings.TrimSpace(string(b)); out.token == "" {
			return access{}, usageError{file + " holds no token", "write one into it, for example from openssl rand -hex 32"}
		}
	}
	if file := cmp.Or(f.tokens, getenv("TOOLDEX_TOKENS")); file != "" {
		b, err := os.ReadFile(file)
		if err != nil {
			return access{}, fileError("read tokens", file, err)
		}
		if out.tokens, err = parseTokens(b, profiles); err != nil {
			return access{}, fmt.Errorf("%s: %w", file, err)
		}
	}
	here, err := loopback(f.listen)
	switch {
	case err != nil:
		return access{}, err
	case here:
	case out.token == "" && len(out.tokens) == 0:
		// Whoever can call tools can do whatever the tools do.
		return access{}, usageError{fmt.Sprintf("others can reach %s, and there is no token", f.listen), "set TOOLDEX_TOKEN, or listen on " + defaultListen}
	case f.rate == 0:
		out.rate = openRate
	}
	out.rate = max(out.rate, 0)
	return out, nil
}

// loopback reports whether only programs of this machine can reach an address.
func loopback(addr string) (bool, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false, usageError{fmt.Sprintf("%q is not an address", addr), "give host:port, for example " + defaultListen}
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback(), nil
}

const tokensHint = "a token has a name, the sha256 of its secret (printf %s SECRET | sha256sum), and may have a profile and readOnly: true"

// parseTokens reads YAML or JSON: {"tokens": [{"name": …, "sha256": …, "profile": …, "readOnly": …}]}. Secrets are not in it.
// Its errors are of code Invalid.
func parseTokens(b []byte, profiles map[string]profile) ([]boundToken, error) {
	var file struct {
		Tokens []struct {
			Name     string `yaml:"name"`
			SHA256   string `yaml:"sha256"`
			Profile  string `yaml:"profile"`
			ReadOnly bool   `yaml:"readOnly"`
		} `yaml:"tokens"`
	}
	bad := func(format string, args ...any) error {
		return &tool.Error{Code: tool.Invalid, Op: "read tokens", Msg: fmt.Sprintf(format, args...), Hint: tokensHint}
	}
	dec := yaml.NewDecoder(bytes.NewReader(b))
	dec.KnownFields(true)
	if err := dec.Decode(&file); err != nil && !errors.Is(err, io.EOF) {
		return nil, bad("tokens cannot be read: %s", firstLine(err.Error()))
	}
	if len(file.Tokens) == 0 {
		return nil, bad("there are no tokens")
	}
	seen := map[[sha256.Size]byte]string{sha256.Sum256(nil): "no secret"}
	var out []boundToken
	for i, t := range file.Tokens {
		name := cmp.Or(t.Name, fmt.Sprintf("number %d", i+1))
		one := boundToken{name: name, view: view{t.Profile, t.ReadOnly}}
		digest, err := hex.DecodeString(t.SHA256)
		if err != nil || len(digest) != sha256.Size {
			return nil, bad("token %s: sha256 is not 64 hexadecimal digits", name)
		}
		copy(one.digest[:], digest)
		if other, taken := seen[one.digest]; taken {
			return nil, bad("token %s: its sha256 is that of %s", name, other)
		}
		seen[one.digest] = "token " + name
		if _, ok := profiles[t.Profile]; !ok && t.Profile != wholeName {
			return nil, bad("token %s: there is no profile %q", name, t.Profile)
		}
		out = append(out, one)
	}
	return out, nil
}
