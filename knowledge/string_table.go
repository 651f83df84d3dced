package knowledge

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"sort"
)

// stringTable is a sorted table of strings, read where it lies: u32 count, count+1 u32 offsets, bytes.
type stringTable struct {
	n     int
	offs  []byte
	data  []byte
	begin []int32 // of each prefixOf, how many entries have a lower one; empty where entries are not looked up
}

var errShort = errors.New("knowledge: compiled base is cut short")

// encodeStringTable writes list, which must be sorted where find is to work.
func encodeStringTable(list []string) []byte {
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(list)))
	off := uint32(0)
	for _, s := range list {
		out = binary.LittleEndian.AppendUint32(out, off)
		off += uint32(len(s))
	}
	out = binary.LittleEndian.AppendUint32(out, off)
	for _, s := range list {
		out = append(out, s...)
	}
	return out
}

// openStringTable checks a table once, so that look-ups need no checks. The table shares memory with b.
func openStringTable(b []byte) (stringTable, error) {
	if len(b) < 8 {
		return stringTable{}, errShort
	}
	n := int(binary.LittleEndian.Uint32(b))
	if n < 0 || n > len(b)/4 || len(b) < 4+4*(n+1) {
		return stringTable{}, errShort
	}
	t := stringTable{n: n, offs: b[4 : 4+4*(n+1)], data: b[4+4*(n+1):]}
	last := uint32(0)
	for i := range n + 1 {
		off := binary.LittleEndian.Uint32(t.offs[4*i:])
		if off < last || int64(off) > int64(len(t.data)) {
			return stringTable{}, errShort
		}
		last = off
	}
	return t, nil
}

// bounds returns where entry i begins and ends in data.
func (t *stringTable) bounds(i int) (from, to uint32) {
	return binary.LittleEndian.Uint32(t.offs[4*i:]), binary.LittleEndian.Uint32(t.offs[4*i+4:])
}

// entryAt returns entry i as a part of the table's own bytes.
func (t *stringTable) entryAt(i int) []byte {
	from, to := t.bounds(i)
	return t.data[from:to]
}

// prefixBits is how many bits of a string its prefixOf has.
const prefixBits = 13

// prefixOf returns the first bits of a string. It is not lower for a string that sorts behind another.
func prefixOf[S string | []byte](s S) int {
	var first, second int
	if len(s) > 0 {
		first = int(s[0])
	}
	if len(s) > 1 {
		second = int(s[1])
	}
	return (first<<8 | second) >> (16 - prefixBits)
}

// countPrefixes has indexOf begin with the entries that share the first bits of what it looks for.
func (t *stringTable) countPrefixes() {
	t.begin = make([]int32, 1<<prefixBits+1)
	for i := range t.n {
		t.begin[prefixOf(t.entryAt(i))+1]++
	}
	for i := range t.begin[1:] {
		t.begin[i+1] += t.begin[i]
	}
}

// indexOf returns the position of key in a sorted table.
func (t *stringTable) indexOf(key string) (int, bool) {
	from, to := 0, t.n
	if p := prefixOf(key); p+1 < len(t.begin) {
		from, to = int(t.begin[p]), int(t.begin[p+1])
	}
	i := from + sort.Search(to-from, func(i int) bool { return string(t.entryAt(from+i)) >= key })
	return i, i < t.n && string(t.entryAt(i)) == key
}

// pairs is a strtab of sorted keys with one string of bytes each.
type pairs struct{ keys, values stringTable }

// packStrings writes a list compressed: each string as how much of the one before it begins with, and the rest.
func packStrings(list []string) ([]byte, error) {
	var plain []byte
	last := ""
	for _, s := range list {
		same := 0
		for same < min(len(last), len(s)) && last[same] == s[same] {
			same++
		}
		plain = binary.AppendUvarint(plain, uint64(same))
		plain = binary.AppendUvarint(plain, uint64(len(s)-same))
		plain = append(plain, s[same:]...)
		last = s
	}
	return compressBytes(plain)
}

// unpackStrings reads what packStrings wrote.
func unpackStrings(packed []byte) (stringTable, error) {
	plain, err := decompressBytes(packed)
	if err != nil {
		return stringTable{}, err
	}
	var t stringTable
	t.offs = binary.LittleEndian.AppendUint32(nil, 0)
	for from := 0; len(plain) > 0; t.n++ {
		same, n := binary.Uvarint(plain)
		if n <= 0 || same > uint64(len(t.data)-from) {
			return stringTable{}, errShort
		}
		plain = plain[n:]
		rest, n := binary.Uvarint(plain)
		if n <= 0 || rest > uint64(len(plain)-n) || len(t.data) > maxUnpacked {
			return stringTable{}, errShort
		}
		begin := len(t.data)
		t.data = append(t.data, t.data[from:from+int(same)]...)
		t.data = append(t.data, plain[n:n+int(rest)]...)
		t.offs = binary.LittleEndian.AppendUint32(t.offs, uint32(len(t.data)))
		plain, from = plain[n+int(rest):], begin
	}
	return t, nil
}

// packPairs writes m compressed.
func packPairs(m map[string][]byte) ([]byte, error) {
	keys := slices.Sorted(maps.Keys(m))
	values := make([]string, len(keys))
	for i, k := range keys {
		values[i] = string(m[k])
	}
	k, err := packStrings(keys)
	if err != nil {
		return nil, err
	}
	v, err := packStrings(values)
	if err != nil {
		return nil, err
	}
	return append(append(binary.LittleEndian.AppendUint32(nil, uint32(len(k))), k...), v...), nil
}

// unpackPairs reads what packPairs wrote; bytes that cannot be read give no pairs, and requests then stay as they are.
func unpackPairs(packed []byte) pairs {
	if len(packed) < 4 {
		return pairs{}
	}
	n := int64(binary.LittleEndian.Uint32(packed))
	if packed = packed[4:]; n > int64(len(packed)) {
		return pairs{}
	}
	keys, errKeys := unpackStrings(packed[:n])
	values, errValues := unpackStrings(packed[n:])
	if errKeys != nil || errValues != nil || keys.n != values.n {
		return pairs{}
	}
	keys.countPrefixes()
	return pairs{keys, values}
}

// get returns the value of a key, nil if there is none. It shares memory with the table.
func (p pairs) get(key string) []byte {
	i, ok := p.keys.indexOf(key)
	if !ok || i >= p.values.n {
		return nil
	}
	return p.values.entryAt(i)
}
