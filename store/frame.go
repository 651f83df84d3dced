package store

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// sumLen is the length of the checksum behind each value.
const sumLen = 4

var (
	errChecksum  = errors.New("checksum does not match")
	errTruncated = errors.New("value is cut short")
)

// checksum covers the key too, so that a value that lies under another's key is noticed.
func checksum(key, payload []byte) uint32 {
	castagnoli := crc32.MakeTable(crc32.Castagnoli) // the package keeps this table; nothing is computed here
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, payload)
}

// seal returns a copy of payload with its checksum behind it.
func seal(key, payload []byte) []byte {
	out := make([]byte, 0, len(payload)+sumLen)
	out = append(out, payload...)
	return binary.LittleEndian.AppendUint32(out, checksum(key, payload))
}

// unseal returns the payload of a sealed value, without copying it.
func unseal(key, value []byte) ([]byte, error) {
	if len(value) < sumLen {
		return nil, errTruncated
	}
	payload := value[:len(value)-sumLen]
	if binary.LittleEndian.Uint32(value[len(payload):]) != checksum(key, payload) {
		return nil, errChecksum
	}
	return payload, nil
}

// writer builds a list of fields: tag, length, bytes. A field that is absent costs nothing, and a reader passes over
// tags that it does not know.
type writer struct{ b []byte }

func (w *writer) field(tag byte, v []byte) {
	w.b = append(w.b, tag)
	w.b = binary.AppendUvarint(w.b, uint64(len(v)))
	w.b = append(w.b, v...)
}

func (w *writer) bytes(tag byte, v []byte) {
	if len(v) > 0 {
		w.field(tag, v)
	}
}

func (w *writer) text(tag byte, s string) {
	if s != "" {
		w.element(tag, s)
	}
}

// element writes s even if it is empty, as one of a list.
func (w *writer) element(tag byte, s string) {
	w.b = append(w.b, tag)
	w.b = binary.AppendUvarint(w.b, uint64(len(s)))
	w.b = append(w.b, s...)
}

func (w *writer) number(tag byte, n int64) {
	if n != 0 {
		w.field(tag, binary.AppendVarint(nil, n))
	}
}

// eachField calls fn with the fields of b in order. The slices belong to b.
func eachField(b []byte, fn func(tag byte, v []byte) error) error {
	for len(b) > 0 {
		tag := b[0]
		n, used := binary.Uvarint(b[1:])
		if used <= 0 || n > uint64(len(b)-1-used) {
			return errTruncated
		}
		b = b[1+used:]
		if err := fn(tag, b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

func readNumber(v []byte) (int64, error) {
	n, used := binary.Varint(v)
	if used != len(v) || used <= 0 {
		return 0, errTruncated
	}
	return n, nil
}
