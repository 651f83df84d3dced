package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"tooldex/tool"
)

// headName is the file that stores how far the chain has come. Its lock is that of the whole directory. It is rewritten
// in place and never replaced, since the lock belongs to the open file.
const headName = "head"

// headSize is its size in bytes: no more than a disk writes in one step.
const headSize = 512

// Anchor is a place in a chain: the number and the hash of one record. Kept elsewhere, it shows later whether the chain
// up to there is unchanged. The zero Anchor is before the first record.
type Anchor struct {
	Seq  uint64 `json:"seq"`
	Hash string `json:"hash"`
}

// String writes the anchor as ParseAnchor reads it.
func (a Anchor) String() string { return strconv.FormatUint(a.Seq, 10) + ":" + a.Hash }

// ParseAnchor reads NUMBER:HASH. Its errors are of code Invalid.
func ParseAnchor(s string) (Anchor, error) {
	number, hash, _ := strings.Cut(s, ":")
	seq, err := strconv.ParseUint(number, 10, 64)
	if err != nil || len(hash) != len(zeroHash) || strings.Trim(hash, "0123456789abcdef") != "" {
		return Anchor{}, &tool.Error{
			Code: tool.Invalid, Op: "audit", Msg: fmt.Sprintf("%q is not an anchor", s),
			Hint: "give NUMBER:HASH, as tooldex audit verify prints it",
		}
	}
	return Anchor{seq, hash}, nil
}

// checkpoint is how far the chain has come, as the head file stores it. It may lag behind the files, when a process
// died between a record and the head; lockAndVerify catches up.
type checkpoint struct {
	Anchor           // the last record
	Base   Anchor    `json:"base"`  // the last record that was removed with its file
	File   int       `json:"file"`  // the number of the file that is written to
	Size   int64     `json:"size"`  // of that file, after the last record
	Begun  time.Time `json:"begun"` // time of the first record in that file, for Options.MaxAge
}

// errNoHead means that the head file is empty, torn or altered, so that the checkpoint has to be rebuilt.
var errNoHead = errors.New("how far the chain has come is not known")

// encodeHead returns h in exactly headSize bytes: the beginning of a hash, JSON, and spaces. A checkpoint that was only
// partly written has a wrong hash.
func (h checkpoint) encodeHead() ([]byte, error) {
	b, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("encode head: %w", err)
	}
	b = append([]byte(hashOf(b)[:16]+" "), b...)
	if len(b) >= headSize {
		return nil, fmt.Errorf("encode head: %d bytes are too many", len(b))
	}
	b = append(b, bytes.Repeat([]byte(" "), headSize-1-len(b))...)
	return append(b, '\n'), nil
}

// decodeCheckpoint reads what encode wrote; anything else is errNoHead.
func decodeCheckpoint(b []byte) (checkpoint, error) {
	sum, text, ok := bytes.Cut(bytes.TrimSpace(b), []byte(" "))
	if !ok || string(sum) != hashOf(text)[:16] {
		return checkpoint{}, errNoHead
	}
	var h checkpoint
	if err := json.Unmarshal(text, &h); err != nil || h.File < 1 || h.Size < 0 || len(h.Hash) != len(zeroHash) {
		return checkpoint{}, errNoHead
	}
	return h, nil
}

// readCheckpoint reads the checkpoint from the open head file.
func readCheckpoint(f io.ReaderAt) (checkpoint, error) {
	b := make([]byte, headSize)
	n, err := f.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return checkpoint{}, fmt.Errorf("read head: %w", err)
	}
	return decodeCheckpoint(b[:n])
}
