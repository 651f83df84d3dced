package train

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"unicode/utf8"
)

// teacherDims is the width of the teacher's rows.
const teacherDims = 64

// teacher is a static model of somebody else's, from whose rows ours start.
type teacher struct {
	rows map[string]int
	vecs []float32
}

// readTeacher reads the layout: magic GGE1, rows, width, scales, bytes, tokens.
func readTeacher(path string) (*teacher, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(b) < 12 || string(b[:4]) != "GGE1" {
		return nil, fmt.Errorf("%s: no teacher's table", path)
	}
	n, d := int(binary.LittleEndian.Uint32(b[4:])), int(binary.LittleEndian.Uint32(b[8:]))
	scales, at := 12, 12+4*n
	if d != teacherDims || n > 1<<20 || at+n*d > len(b) {
		return nil, fmt.Errorf("%s: %d rows of %d in %d bytes", path, n, d, len(b))
	}
	t := &teacher{rows: make(map[string]int, n), vecs: make([]float32, n*d)}
	total := 0.0
	for i := range n {
		scale := math.Float32frombits(binary.LittleEndian.Uint32(b[scales+4*i:]))
		sum := 0.0
		for k := range d {
			v := scale * float32(int8(b[at+i*d+k]))
			t.vecs[i*d+k] = v
			sum += float64(v * v)
		}
		total += math.Sqrt(sum)
	}
	mean := float32(total / float64(n)) // so that rows are of length 1 or so
	for i := range t.vecs {
		t.vecs[i] /= mean
	}
	at += n * d
	for i := range n {
		if at+2 > len(b) {
			return nil, fmt.Errorf("%s: tokens end early", path)
		}
		size := int(binary.LittleEndian.Uint16(b[at:]))
		if at+2+size > len(b) {
			return nil, fmt.Errorf("%s: tokens end early", path)
		}
		t.rows[string(b[at+2:at+2+size])] = i
		at += 2 + size
	}
	return t, nil
}

// embed is the mean of the rows of the teacher's pieces for one of our tokens, or false if it cannot be spelled.
func (t *teacher) embed(token string, into []float32) bool {
	lead := ""
	if len(token) > 1 && token[0] == '#' {
		lead, token = "##", token[1:]
	}
	var found []int
	for len(token) > 0 {
		n := len(token)
		row, ok := t.rows[lead+token]
		for !ok && n > 0 {
			_, size := utf8.DecodeLastRuneInString(token[:n])
			n -= size
			row, ok = t.rows[lead+token[:n]]
		}
		if !ok || n == 0 {
			return false
		}
		found = append(found, row)
		token, lead = token[n:], "##"
	}
	for _, row := range found {
		for k := range into {
			into[k] += t.vecs[row*teacherDims+k] / float32(len(found))
		}
	}
	return true
}
