package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"tooldex/tool"
)

// Kind is what a record is about.
type Kind string

// The kinds of records.
const (
	Call   Kind = "call"   // a call, when it has ended
	Begin  Kind = "begin"  // a call, before it is made; only with Options.Required
	Change Kind = "change" // something was changed
	Start  Kind = "start"  // a process began to serve
	Stop   Kind = "stop"   // it ended
	Gap    Kind = "gap"    // as many records as Lost says could not be written before this one
	Torn   Kind = "torn"   // the bytes before this record are the rest of one that was not written whole
	Cut    Kind = "cut"    // the file was shorter than it had been
	Resume Kind = "resume" // the head was broken, and was computed from the files
	// Headless is Resume after the head file was removed, maybe together with the last records.
	Headless Kind = "headless"
)

// Outcome is how a call ended.
type Outcome string

// The outcomes of a call.
const (
	OK          Outcome = "ok"
	Failed      Outcome = "failed"      // the tool ran, and reported an error
	Unconfirmed Outcome = "unconfirmed" // no person confirmed it; Reason says why
	Denied      Outcome = "denied"      // the tool may not be called
	Hidden      Outcome = "hidden"      // the tool exists, and the caller may not know of it
	Unknown     Outcome = "unknown"     // no such tool exists
	Invalid     Outcome = "invalid"     // the arguments do not fit
	TimedOut    Outcome = "timeout"
	Cancelled   Outcome = "cancelled" // the caller did not wait for it
	Error       Outcome = "error"     // anything else; Code says what kind
)

// Outcomes returns all outcomes.
func Outcomes() []Outcome {
	return []Outcome{OK, Failed, Unconfirmed, Denied, Hidden, Unknown, Invalid, TimedOut, Cancelled, Error}
}

// Who is the party on whose behalf something was done.
type Who struct {
	// Principal is whose token it was; "" if none was needed.
	Principal string `json:"principal,omitempty"`
	Profile   string `json:"profile,omitempty"`
	Client    string `json:"client,omitempty"` // the program, as it calls itself
	Version   string `json:"version,omitempty"`
	Via       string `json:"via,omitempty"`
	// Session identifies a session without revealing its name, which would let a reader continue it.
	Session string `json:"session,omitempty"`
	Process int    `json:"process,omitempty"` // of tooldex itself
}

// Record is one line of the log. What does not apply to its kind is left out.
type Record struct {
	// Seq is 1 for the first record, then one more each, over all files and processes.
	Seq uint64 `json:"seq"`
	// Time is in UTC. Clocks may be set back; Seq is not.
	Time time.Time `json:"time"`
	Kind Kind      `json:"kind"`
	Who  Who       `json:"who,omitzero"`
	Tool tool.ID   `json:"tool,omitempty"`
	// Name is what was asked for, if that is no tool.
	Name string `json:"name,omitempty"`
	// Definition is tool.Hash of the tool as it was then, so that a later change of it shows.
	Definition string `json:"definition,omitempty"`
	Arguments  string `json:"arguments,omitempty"` // the keyed hash of the arguments
	// The arguments themselves, with Options.Arguments; a string if they were long.
	Given   json.RawMessage `json:"given,omitempty"`
	Outcome Outcome         `json:"outcome,omitempty"`
	// Code of the error, as tool.Code writes it.
	Code string `json:"code,omitempty"`
	// Reason why the call was not confirmed, as confirm.Unconfirmed writes it.
	Reason    string  `json:"reason,omitempty"`
	Confirmed string  `json:"confirmed,omitempty"` // how it was confirmed
	Millis    float64 `json:"ms,omitempty"`        // how long it took
	// Of is the Seq of the record of the call's beginning.
	Of      uint64 `json:"of,omitempty"`
	Action  string `json:"action,omitempty"`  // of a change: what was done
	Subject string `json:"subject,omitempty"` // and to what
	Lost    int    `json:"lost,omitempty"`
	Torn    *Scrap `json:"torn,omitempty"`
	// Prev is the hash of the record before; zeros for the first.
	Prev string `json:"prev"`
	// Hash of this record. It ends the line, so it is not a member of the JSON.
	Hash string `json:"-"`
}

// Scrap names bytes of a file that are no record.
type Scrap struct {
	At    int64  `json:"at"` // offset in the file
	Bytes int64  `json:"bytes"`
	Hash  string `json:"sha256"`
}

// zeroHash is the Prev of the first record.
const zeroHash = "0000000000000000000000000000000000000000000000000000000000000000"

// A line ends with the hash of everything before it.
const (
	hashMember = `,"hash":"`
	lineEnd    = `"}`
	tailLength = len(hashMember) + 2*sha256.Size + len(lineEnd)
)

// encodeLine writes the line of r with its line feed, and sets r.Hash.
func (r *Record) encodeLine() ([]byte, error) {
	b, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode record: %w", err)
	}
	b = b[:len(b)-1]
	r.Hash = hashOf(b)
	b = append(b, hashMember...)
	b = append(b, r.Hash...)
	return append(b, lineEnd+"\n"...), nil
}

// hashOf returns the hash of a line's beginning, in hexadecimal.
func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// errNoRecord means that a line is torn, altered or no record at all.
var errNoRecord = errors.New("not a record as it was written")

// Decode reads a line, with or without its line feed. It returns an error if it is no record, or if its hash is wrong.
func Decode(line []byte) (Record, error) {
	line = bytes.TrimSuffix(line, []byte("\n"))
	var r Record
	at := len(line) - tailLength
	if at < 0 || string(line[at:at+len(hashMember)]) != hashMember || string(line[len(line)-len(lineEnd):]) != lineEnd {
		return Record{}, errNoRecord
	}
	r.Hash = string(line[at+len(hashMember) : len(line)-len(lineEnd)])
	if r.Hash != hashOf(line[:at]) {
		return Record{}, errNoRecord
	}
	hash := r.Hash
	if err := json.Unmarshal(append(bytes.Clone(line[:at]), '}'), &r); err != nil {
		return Record{}, fmt.Errorf("%w: %w", errNoRecord, err)
	}
	r.Hash = hash
	return r, nil
}
