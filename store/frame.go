package store

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// sumLen is the length in bytes of the checksum behind each value.
const sumLen = 4

// What is wrong with a damaged value. These are the causes in Damage.Err.
var (
	errChecksum  = errors.New("checksum does not match")
	errTruncated = errors.New("value is cut short")
)

// checksum returns the CRC-32C of a key and its payload. It covers the key so that a value that lies under another key
// is noticed.
func checksum(key, payload []byte) uint32 {
	castagnoli := crc32.MakeTable(crc32.Castagnoli) // the package keeps this table; nothing is computed here
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, payload)
}

// sealPayload returns a copy of payload followed by its checksum.
func sealPayload(key, payload []byte) []byte {
	out := make([]byte, 0, len(payload)+sumLen)
	out = append(out, payload...)
	return binary.LittleEndian.AppendUint32(out, checksum(key, payload))
}

// unsealValue returns the payload of a sealed value, which shares memory with value. The error is errTruncated or
// errChecksum.
func unsealValue(key, value []byte) ([]byte, error) {
	if len(value) < sumLen {
		return nil, errTruncated
	}
	payload := value[:len(value)-sumLen]
	if binary.LittleEndian.Uint32(value[len(payload):]) != checksum(key, payload) {
		return nil, errChecksum
	}
	return payload, nil
}

// writer builds a list of fields: a tag of one byte, the length as a varint, the bytes. Absent fields take no space,
// and readers skip tags that they do not know, so that fields can be added within a layout.
type writer struct{ b []byte }

// writeField writes v even if it is empty.
func (w *writer) writeField(tag byte, v []byte) {
	w.b = append(w.b, tag)
	w.b = binary.AppendUvarint(w.b, uint64(len(v)))
	w.b = append(w.b, v...)
}

// bytes, text and number write nothing for a zero value, which is what a reader has without the field.
func (w *writer) writeBytes(tag byte, v []byte) {
	if len(v) > 0 {
		w.writeField(tag, v)
	}
}

// writeText writes s, nothing if it is empty.
func (w *writer) writeText(tag byte, s string) {
	if s != "" {
		w.writeElement(tag, s)
	}
}

// writeElement writes s even if it is empty, as an element of a list. The same tag is written once for each element.
func (w *writer) writeElement(tag byte, s string) {
	w.b = append(w.b, tag)
	w.b = binary.AppendUvarint(w.b, uint64(len(s)))
	w.b = append(w.b, s...)
}

// writeNumber writes n as a signed varint, nothing if it is zero.
func (w *writer) writeNumber(tag byte, n int64) {
	if n != 0 {
		w.writeField(tag, binary.AppendVarint(nil, n))
	}
}

// eachField calls fn with the fields of b in order, until it fails. The slices share memory with b: fn must copy what
// it keeps. The error is that of fn, or errTruncated.
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

// readNumber reads what writer.number wrote.
func readNumber(v []byte) (int64, error) {
	n, used := binary.Varint(v)
	if used != len(v) || used <= 0 {
		return 0, errTruncated
	}
	return n, nil
}
