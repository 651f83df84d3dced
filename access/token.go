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

// View is a part of what there is. The zero View is everything.
type View struct {
	Profile  string // "" means all tools
	ReadOnly bool   // only tools that change nothing, and nothing can be changed
}

// Token is one that a person hands out. Its secret is not in it.
type Token struct {
	Name    string            // what people call it
	Digest  [sha256.Size]byte // of the secret
	View    View              // what it is good for
	Expires time.Time         // from when on it is good for nothing; zero means that it never ends
}

// secretPrefix lets people, and programs that look for leaked secrets, know a token of ours when they see one.
const secretPrefix = "tdx_"

// NewSecret makes the secret of a token: a prefix that tells what it is, and 130 bits of chance.
func NewSecret() string { return secretPrefix + rand.Text() }

// Digest is what is kept of a secret. Secrets of ours are too long to be guessed, so no salt or slow hash is needed.
func Digest(secret string) [sha256.Size]byte { return sha256.Sum256([]byte(secret)) }

// goodName is what a new token may be called: a word that no shell, log or header has to quote.
var goodName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$`)

// expired reports whether the token is good for nothing any more.
func (t Token) expired(now time.Time) bool { return !t.Expires.IsZero() && !now.Before(t.Expires) }

// principal is who bears the token. One that is good for something else now is somebody else.
func (t Token) principal() Principal {
	sum := sha256.Sum256(append(t.Digest[:], t.View.Profile+"\x00"+strconv.FormatBool(t.View.ReadOnly)...))
	return Principal{Name: "token " + t.Name, Key: "token:" + hex.EncodeToString(sum[:16])}
}

// ParseExpiry reads the end of a token: a time of RFC 3339, or a date, through which it lasts. The error is of code
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
