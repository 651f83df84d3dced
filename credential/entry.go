package credential

import (
	"regexp"
	"strings"
	"time"

	"tooldex/tool"
)

// User is who owns a credential. The zero User is the one who needs no token: the operator of a local service.
type User struct {
	Key  string // as access.Principal has it
	Name string // for people
}

// Server is what a credential is for.
type Server struct {
	Name string
	At   string // the address as it is configured; a credential for another one is not used
}

// Entry is a stored credential without its value.
type Entry struct {
	User   string    `json:"user" jsonschema:"identifies whose it is; it is no secret, and nobody can log in with it"`
	Who    string    `json:"who,omitempty" jsonschema:"whose it is, for people"`
	Server string    `json:"server"`
	Name   string    `json:"name" jsonschema:"as the configuration of the server has it in ${user:NAME}, or oauth login"`
	Set    time.Time `json:"set" jsonschema:"when it was stored"`
}

// sealedEntry is an entry as it is in the file.
type sealedEntry struct {
	Entry
	Sealed []byte `json:"sealed"` // nonce and ciphertext
}

// Bounds of what is stored. maxValue is in bytes.
const (
	maxValue   = 16 << 10
	maxPerUser = 100
	maxEntries = 10_000
)

// goodName is the form of names: those of variables, and the one under which package gateway keeps logins.
var goodName = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]{0,63}|oauth login)$`)

// checkValue returns an Invalid error for a name or value that cannot be stored. A value becomes part of a header, so
// it has no line breaks.
func checkValue(name, value string) error {
	msg := ""
	switch {
	case !goodName.MatchString(name):
		msg = "the name of the credential is no name of a variable"
	case value == "" || len(value) > maxValue:
		msg = "the value of the credential is empty, or longer than 16 KiB"
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
		msg = "the value of the credential has control characters"
	default:
		return nil
	}
	return &tool.Error{Code: tool.Invalid, Op: "store credential", Msg: msg, Hint: "check it and send it again"}
}
