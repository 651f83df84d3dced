package service

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"tooldex/config"
	"tooldex/internal/keyring"
	"tooldex/internal/redact"
	"tooldex/upstream"
)

// keyringReference is a reference to a secret of the keyring. Group 1 is the name.
var keyringReference = regexp.MustCompile(`\$\{keyring:([^}]+?)(?::-[^}]*)?\}`)

// openKeyring returns where secrets of servers are kept.
func (s *Service) openKeyring() *keyring.Ring {
	dir := ""
	if s.scratch == "" {
		dir = filepath.Join(s.dir, "secrets")
	}
	return keyring.New(keyring.Options{Dir: dir, System: s.Config().Keyring, LookupEnv: config.LookupEnv})
}

// MoveSecrets stores the secrets that stand in a server as they are in the keyring, and returns the server with
// references in their place, and where they are. It stores nothing if PutServer would refuse the server. A secret that
// was moved before, from the same place of the same server, is replaced.
func (s *Service) MoveSecrets(server upstream.Server, replace bool) (moved upstream.Server, where []string, err error) {
	moved, secrets := s.referTo(server)
	if _, err := s.checkPut(moved, replace); err != nil {
		return server, nil, err
	}
	for _, one := range secrets {
		at, err := s.secrets.Set(one.name, one.value)
		if err != nil {
			return server, nil, err
		}
		if !slices.Contains(where, at) {
			where = append(where, at)
		}
	}
	return moved, where, nil
}

// movedSecret is a secret and the name under which the keyring has it.
type movedSecret struct{ name, value string }

// referTo returns a server with references in place of its secrets.
func (s *Service) referTo(server upstream.Server) (upstream.Server, []movedSecret) {
	var out []movedSecret
	refer := func(place, value string) string {
		name := s.secretName(server.Name, place)
		for i := 2; slices.ContainsFunc(out, func(one movedSecret) bool { return one.name == name }); i++ {
			name = s.secretName(server.Name, fmt.Sprintf("%s.%d", place, i))
		}
		out = append(out, movedSecret{name, value})
		return "${keyring:" + name + "}"
	}
	server.Args, server.Env, server.Headers = slices.Clone(server.Args), maps.Clone(server.Env), maps.Clone(server.Headers)
	for _, place := range PlainSecrets(server) {
		kind, key, _ := strings.Cut(place, ".")
		switch kind {
		case "env":
			server.Env[key] = refer(place, server.Env[key])
		case "headers":
			scheme := headerScheme.FindString(server.Headers[key])
			server.Headers[key] = scheme + refer(place, strings.TrimPrefix(server.Headers[key], scheme))
		case "url":
			server.URL = referIn(server.URL, redact.Values(nil, server.URL, nil, nil), place, refer)
		default:
			i := 0
			if _, err := fmt.Sscanf(place, "args[%d]", &i); err != nil || i >= len(server.Args) {
				continue
			}
			values := redact.Values(server.Args[max(i-1, 0):i+1], "", nil, nil)
			server.Args[i] = referIn(server.Args[i], values, fmt.Sprintf("args.%d", i), refer)
		}
	}
	return server, out
}

// headerScheme is the word before the secret in a header such as Authorization.
var headerScheme = regexp.MustCompile(`^[A-Za-z]{1,12} +`)

// referIn replaces each of some secrets that stands in a text by what refer returns for it.
func referIn(text string, secrets []string, place string, refer func(place, value string) string) string {
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) }) // one may hold another
	for _, secret := range slices.Compact(secrets) {
		if bare := keyringReference.ReplaceAllString(text, ""); strings.Contains(bare, secret) {
			text = strings.ReplaceAll(text, secret, refer(place, secret))
		}
	}
	return text
}

// secretName returns the name of the secret at a place of a server.
func (s *Service) secretName(server, place string) string {
	return server + "/" + url.PathEscape(place) + s.secretSuffix()
}

// secretSuffix ends the names of secrets that were moved from this data directory: all of a user share one keyring.
func (s *Service) secretSuffix() string {
	dir, err := filepath.Abs(s.dir)
	if err != nil {
		dir = s.dir
	}
	sum := sha256.Sum256([]byte(dir))
	return "@" + hex.EncodeToString(sum[:4])
}

// dropSecrets removes the secrets of a server that MoveSecrets stored and that no server refers to any more.
func (s *Service) dropSecrets(gone upstream.Server) {
	used := map[string]bool{}
	for _, server := range s.Servers() {
		for _, name := range secretsOf(server) {
			used[name] = true
		}
	}
	for _, name := range secretsOf(gone) {
		if strings.HasSuffix(name, s.secretSuffix()) && !used[name] {
			s.secrets.Remove(name)
		}
	}
}

// secretsOf returns the names of the secrets of the keyring that a server refers to.
func secretsOf(server upstream.Server) []string {
	var out []string
	texts := append(slices.Clone(server.Args), server.Command, server.URL)
	for _, values := range []map[string]string{server.Env, server.Headers} {
		for _, value := range values {
			texts = append(texts, value)
		}
	}
	for _, text := range texts {
		for _, found := range keyringReference.FindAllStringSubmatch(text, -1) {
			out = append(out, found[1])
		}
	}
	return out
}
