package store

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"time"

	"tooldex/tool"
	"tooldex/upstream"
)

// The format of a bbolt page that holds values, as far as it is read here. Numbers are in the machine's byte order.
const (
	leafFlag     = 0x02 // in the flags of such a page
	elementLen   = 16   // bytes for each value: flags, position, length of the key, length of the value
	innerFlag    = 0x01 // in the flags of an element that is a bucket
	innerHeader  = 16   // bytes before the page of a bucket that is stored inside an element
	mostPageSize = 64 << 10
)

// scanPages reads a file page by page, without its tree, and adds the values that are not in into yet. It is for a file
// whose tree cannot be walked. Each value proves by its checksum what it is. Some may have been removed or replaced
// before; of several, the newest counts where that can be decided. An error means that the file could not be opened,
// which must not be mistaken for lost values.
func (into *salvaged) scanPages(path string) error {
	b, err := into.readTolerant(path)
	if err != nil {
		return err
	}
	f := &found{
		tools: map[tool.ID]Record{}, servers: map[string]upstream.Server{}, sources: map[string]SourceState{},
		preferences: map[string]Preference{},
		trust:       map[tool.ID]dated{},
	}
	size := os.Getpagesize()
	for _, n := range []int{size, 4096, 16 << 10, mostPageSize} { // the file may come from another system
		if len(b) >= n+pageHeader+metaLen && metaWhole(b[n+pageHeader:]) {
			size = n
			break
		}
	}
	for at := 0; at+size <= len(b); at += size {
		// A page begins with its own number. Other places in the file hold the inside of large pages.
		if binary.NativeEndian.Uint64(b[at:]) == uint64(at/size) {
			f.readPage(b[at:])
		}
	}
	// What was read through the tree is newer than what a scan finds, so it has precedence.
	for _, r := range into.Records {
		delete(f.tools, r.Tool.ID())
	}
	for _, v := range into.Servers {
		delete(f.servers, v.Name)
	}
	for _, r := range f.tools {
		into.Records = append(into.Records, r)
	}
	for _, v := range f.servers {
		into.Servers = append(into.Servers, v)
	}
	// A decision that was taken back may come back: it holds a tool, or approves a form that is gone.
	for id, d := range f.trust {
		if into.Trust[id] == nil {
			into.Trust[id] = d.value
		}
	}
	for name, v := range f.sources {
		if _, ok := into.Sources[name]; !ok {
			into.Sources[name] = v
		}
	}
	if into.preferences == nil {
		into.preferences = map[string]Preference{}
	}
	for name, p := range f.preferences {
		if into.preferences[name].Version < p.Version {
			into.preferences[name] = p
		}
	}
	return nil
}

// readTolerant reads a file from a disk that may fail: parts that cannot be read are zero, and noted as damaged.
func (into *salvaged) readTolerant(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read from
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b := make([]byte, info.Size())
	for at := 0; at < len(b); at += mostPageSize {
		// one bad block costs 64 KiB at most
		if _, err := f.ReadAt(b[at:min(at+mostPageSize, len(b))], int64(at)); err != nil {
			into.Damaged = append(into.Damaged, Damage{
				Kind: "page", Key: strconv.Itoa(at / os.Getpagesize()),
				Err: err,
			})
		}
	}
	return b, nil
}

// found holds the values that a scan found, the newest of each.
type found struct {
	tools       map[tool.ID]Record
	servers     map[string]upstream.Server
	sources     map[string]SourceState
	preferences map[string]Preference
	trust       map[tool.ID]dated
}

// dated is a decision about a tool with the time at which it was taken.
type dated struct {
	at    time.Time
	value []byte
}

// readPage reads the values of the page at the beginning of b. Large pages continue in those behind, so b reaches to
// the end of the file.
func (f *found) readPage(b []byte) {
	if len(b) < pageHeader || binary.NativeEndian.Uint16(b[8:])&leafFlag == 0 {
		return
	}
	count := int(binary.NativeEndian.Uint16(b[10:]))
	for i := range count {
		at := pageHeader + i*elementLen
		if at+elementLen > len(b) {
			return
		}
		flags, pos := binary.NativeEndian.Uint32(b[at:]), uint64(binary.NativeEndian.Uint32(b[at+4:]))
		keyLen, valueLen := uint64(binary.NativeEndian.Uint32(b[at+8:])), uint64(binary.NativeEndian.Uint32(b[at+12:]))
		start := uint64(at) + pos
		// The lengths may be nonsense; 64-bit sums of 32-bit numbers do not overflow.
		if start+keyLen+valueLen > uint64(len(b)) {
			continue
		}
		key, value := b[start:start+keyLen], b[start+keyLen:start+keyLen+valueLen]
		switch {
		case flags&innerFlag == 0:
			f.keepValue(key, value)
		case len(value) > innerHeader:
			f.readPage(value[innerHeader:])
		}
	}
}

// keepValue keeps a value whose checksum holds, if its content shows what kind it is: the bucket that it belonged to is
// unknown.
func (f *found) keepValue(key, value []byte) {
	// The checksum covers key and value, so a value in a freed page is as trustworthy as one in use.
	payload, err := unsealValue(key, value)
	if err != nil {
		return
	}
	if name, ok := strings.CutPrefix(string(key), profileKey); ok && len(payload) >= 8 {
		if p := (Preference{
			binary.BigEndian.Uint64(payload),
			bytes.Clone(payload[8:]),
		}); f.preferences[name].Version < p.Version {
			f.preferences[name] = p
		}
		return
	}
	if len(payload) > 0 && payload[0] == '{' && strings.Contains(string(key), "/") { // which no other key of JSON has
		var d struct{ At time.Time }
		if json.Unmarshal(payload, &d) == nil && !d.At.Before(f.trust[tool.ID(key)].at) {
			f.trust[tool.ID(key)] = dated{d.At, bytes.Clone(payload)}
		}
		return
	}
	if len(payload) > 0 && payload[0] == '{' {
		var v struct {
			SourceState
			Command, URL, OpenAPI string
		}
		if json.Unmarshal(payload, &v) != nil || v.Name != string(key) {
			return
		}
		// servers and sources are both JSON by name; only servers have one of the three
		if v.Command != "" || v.URL != "" || v.OpenAPI != "" {
			var s upstream.Server
			if json.Unmarshal(payload, &s) == nil {
				f.servers[s.Name] = s
			}
			return
		}
		if have, ok := f.sources[v.Name]; !ok || have.Synced.Before(v.Synced) {
			f.sources[v.Name] = v.SourceState
		}
		return
	}
	if r, err := DecodeRecord(payload); err == nil && string(r.Tool.ID()) == string(key) {
		if have, ok := f.tools[r.Tool.ID()]; !ok || !r.Changed.Before(have.Changed) {
			f.tools[r.Tool.ID()] = r
		}
	}
}
