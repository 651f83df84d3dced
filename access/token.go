package access

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strconv"
	"time"

	"tooldex/tool"
)

// View is a part of the service. The zero View is everything.
type View struct {
	// Profile names the profile whose tools are visible; "" means all tools.
	Profile string
	// ReadOnly allows only tools that change nothing, and no changes of settings.
	ReadOnly bool
}

// Token is a token that a person hands out. It does not hold the secret.
type Token struct {
	Name   string            // what people call it
	Digest [sha256.Size]byte // of the secret
	View   View              // what it is good for
	// Expires is when the token stops being good; zero means never.
	Expires time.Time
}

// secretPrefix lets people, and programs that look for leaked secrets, recognise a token of ours.
const secretPrefix = "tdx_"

// NewSecret returns the secret of a new token: the prefix, and 130 bits of randomness.
func NewSecret() string { return secretPrefix + rand.Text() }

// Digest returns what is kept of a secret. The secrets are too long to be guessed, so no salt or slow hash is needed.
func Digest(secret string) [sha256.Size]byte { return sha256.Sum256([]byte(secret)) }

// goodName matches the names of new tokens: a word that no shell, log or header has to quote.
var goodName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$`)

// hasExpired reports whether the token is no longer good.
func (t Token) hasExpired(now time.Time) bool { return !t.Expires.IsZero() && !now.Before(t.Expires) }

// principalOf returns who sends the token. If the token's view changes, so does the principal: its sessions must not go
// on.
func (t Token) principalOf() Principal {
	sum := sha256.Sum256(append(t.Digest[:], t.View.Profile+"\x00"+strconv.FormatBool(t.View.ReadOnly)...))
	return Principal{Name: "token " + t.Name, Key: "token:" + hex.EncodeToString(sum[:16])}
}

// ParseExpiry parses the end of a token: a time of RFC 3339, or a date, which includes that day. The error is of code
// Invalid.
func ParseExpiry(text string) (time.Time, error) {
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day.AddDate(0, 0, 1), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, &tool.Error{
			Code: tool.Invalid, Op: "read expiry",
			Msg: "expires is neither a date nor a time", Hint: "write 2027-01-31 or 2027-01-31T12:00:00Z",
		}
	}
	return at.UTC(), nil
}
