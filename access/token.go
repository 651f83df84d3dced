package access

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"tooldex/tool"
)

// View is a part of the service. The zero View is everything.
type View struct {
	// Profile names the profile whose tools are visible; "" means all tools.
	Profile string
	// ReadOnly allows only tools that change nothing, and no changes of settings.
	ReadOnly bool
	// Server names the one server whose tools are visible; "" means all. No token is bound to a server.
	Server string
}

// Token is a token that a person hands out. It does not hold the secret.
type Token struct {
	Name   string            // what people call it
	Digest [sha256.Size]byte // of the secret
	View   View              // what it is good for
	// Expires is when the token stops being good; zero means never.
	Expires time.Time
	Limits  Limits
}

// secretPrefix lets people, and programs that look for leaked secrets, recognise a token of ours.
const secretPrefix = "tdx_"

// NewSecret returns the secret of a new token: the prefix, and 130 bits of randomness.
func NewSecret() string { return secretPrefix + rand.Text() }

// Digest returns what is kept of a secret. The secrets are too long to be guessed, so no salt or slow hash is needed.
func Digest(secret string) [sha256.Size]byte { return sha256.Sum256([]byte(secret)) }

// goodName matches the names of new tokens: a word that no shell, log or header has to quote.
var goodName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$`)

// CheckName returns an Invalid error for a text that cannot be the name of a new token.
func CheckName(name string) error {
	if goodName.MatchString(name) {
		return nil
	}
	return &tool.Error{
		Code: tool.Invalid, Op: "add token", Msg: fmt.Sprintf("%q cannot be the name of a token", name),
		Hint: "use letters, digits, dots, hyphens, underscores and @, 64 at most",
	}
}

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

// maxLifetime bounds the lifetime of a new token: anything longer is a slip of the keyboard. It fits into a
// time.Duration.
const maxLifetime = 250 * 365 * 24 * time.Hour

// ParseLifetime parses the end of a new token: a number of days, a duration from now on, or what ParseExpiry parses. It
// returns the zero time, for never, if text is empty. The error is of code Invalid, also for a time that has passed.
func ParseLifetime(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	bad := &tool.Error{
		Code: tool.Invalid, Op: "read expiry", Msg: fmt.Sprintf("a token cannot expire at %q", text),
		Hint: "give 30d, 12h, 2027-01-31 or 2027-01-31T12:00:00Z, later than now",
	}
	after := time.Duration(0)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		if err != nil {
			return time.Time{}, bad
		}
		after = time.Duration(n) * 24 * time.Hour
	} else if d, err := time.ParseDuration(text); err == nil {
		after = d
	}
	at := now.Add(after).UTC().Truncate(time.Second)
	if after == 0 {
		var err error
		if at, err = ParseExpiry(text); err != nil {
			return time.Time{}, bad
		}
	}
	if !at.After(now) || at.Sub(now) > maxLifetime {
		return time.Time{}, bad
	}
	return at, nil
}

// Line is a token as it is listed for people: never with its digest. Expired is relative to the time of the listing.
type Line struct {
	Name     string `json:"name"`
	Profile  string `json:"profile,omitempty" jsonschema:"the profile that it is good for; all tools if left out"`
	ReadOnly bool   `json:"readOnly,omitempty"`
	Expires  string `json:"expires,omitempty" jsonschema:"a time; never if left out"`
	Expired  bool   `json:"expired,omitempty"`
	// The limits; none if left out.
	RequestsPerMinute int `json:"requestsPerMinute,omitempty" jsonschema:"how many requests it permits; any number if left out"`
	CallsPerMinute    int `json:"callsPerMinute,omitempty" jsonschema:"how many calls of tools it permits; any number if left out"`
	ConcurrentCalls   int `json:"concurrentCalls,omitempty" jsonschema:"how many calls at once it permits; any number if left out"`
}

// Lines returns what may be shown of tokens.
func Lines(tokens []Token, now time.Time) []Line {
	out := make([]Line, len(tokens))
	for i, t := range tokens {
		out[i] = Line{
			Name: t.Name, Profile: t.View.Profile, ReadOnly: t.View.ReadOnly, RequestsPerMinute: t.Limits.Requests,
			CallsPerMinute: t.Limits.Calls, ConcurrentCalls: t.Limits.Concurrent,
		}
		if !t.Expires.IsZero() {
			out[i].Expires, out[i].Expired = t.Expires.UTC().Format(time.RFC3339), t.hasExpired(now)
		}
	}
	return out
}
