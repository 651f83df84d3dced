package store

import (
	"bytes"
	"math"
	"testing"
	"time"

	"tooldex/tool"
)

func TestRecordRoundTrip(t *testing.T) {
	for name, r := range map[string]Record{
		"all fields":       record(6),
		"only what is due": {Tool: &tool.Tool{Server: "s", Name: "n"}},
		"borrows nothing":  {Tool: &tool.Tool{Server: "s", Name: "n", NoBorrow: true}},
		"no hints said":    {Tool: &tool.Tool{Server: "s", Name: "n", Annotations: &tool.Annotations{}}},
		"other scripts":    {Tool: &tool.Tool{Server: "сервер", Name: "工具 with space.and/slash", Description: "\x00\xff"}},
		"before the epoch": {Tool: &tool.Tool{Server: "s", Name: "n"}, First: time.UnixMilli(-5).UTC()},
		"long description": {Tool: &tool.Tool{Server: "s", Name: "n", Description: string(bytes.Repeat([]byte("x"),
			1<<20))}},
	} {
		t.Run(name, func(t *testing.T) {
			b := EncodeRecord(&r)
			got, err := DecodeRecord(b)
			if err != nil {
				t.Fatal(err)
			}
			clear(b) // the record must not live in the file's memory
			if d := diff(r, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

func TestDecodeRefusesDamage(t *testing.T) {
	r := record(1)
	key := []byte(r.Tool.ID())
	sealed := sealPayload(key, EncodeRecord(&r))
	if _, err := unsealValue(key, sealed); err != nil {
		t.Fatal(err)
	}
	for i := range sealed {
		for bit := range 8 {
			b := bytes.Clone(sealed)
			b[i] ^= 1 << bit
			if _, err := unsealValue(key, b); err == nil {
				t.Fatalf("bit %d of byte %d flipped, and nobody noticed", bit, i)
			}
		}
	}
	if _, err := unsealValue([]byte("files/other"), sealed); err == nil {
		t.Error("a value under another's key was accepted")
	}
	for n := range sumLen {
		if _, err := unsealValue(key, sealed[:n]); err == nil {
			t.Errorf("a value of %d bytes was accepted", n)
		}
	}
	if _, err := DecodeRecord(nil); err == nil {
		t.Error("an empty record was accepted")
	}
}

func FuzzDecodeRecord(f *testing.F) {
	full := record(3)
	f.Add(EncodeRecord(&full))
	f.Add(EncodeRecord(&Record{Tool: &tool.Tool{Server: "s", Name: "n"}}))
	f.Add([]byte{tagServer, 1, 's', tagName, 1, 'n', tagExample, 3, tagText, 200, 1})
	f.Add([]byte{tagName, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := DecodeRecord(b)
		if err != nil {
			return
		}
		again, err := DecodeRecord(EncodeRecord(&r))
		if err != nil {
			t.Fatalf("what was read cannot be written and read again: %v", err)
		}
		if d := diff(r, again); d != "" {
			t.Errorf("(-first +second)\n%s", d)
		}
	})
}

func FuzzDecodeVector(f *testing.F) {
	f.Add(EncodeVector(Quantize([]float32{1, 2, 3})), 3)
	f.Fuzz(func(t *testing.T, b []byte, dims int) {
		if dims < 0 || dims > 1<<16 {
			t.Skip()
		}
		if v, err := DecodeVector(b, dims); err == nil && !bytes.Equal(EncodeVector(v), b) {
			t.Error("the vector is written otherwise than it was read")
		}
	})
}

func TestQuantize(t *testing.T) {
	inf := float32(math.Inf(1))
	for name, c := range map[string]struct{ in, want []float32 }{
		"zero":       {[]float32{0, 0}, []float32{0, 0}},
		"largest":    {[]float32{-0.5, 0.25}, []float32{-0.5, 0.25}},
		"not finite": {[]float32{inf, float32(math.NaN()), 1}, []float32{0, 0, 1}},
		"empty":      {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			v := Quantize(c.in)
			got := v.Float32s(nil)
			if len(got) != len(c.want) {
				t.Fatalf("%d components, want %d", len(got), len(c.want))
			}
			for i := range got {
				if math.Abs(float64(got[i]-c.want[i])) > float64(v.Scale)/2+1e-7 {
					t.Errorf("component %d is %v, want %v", i, got[i], c.want[i])
				}
			}
		})
	}
}

func TestHashTextTellsPartsApart(t *testing.T) {
	if HashText("ab", "c") == HashText("a", "bc") || HashText("a") == HashText("a", "") {
		t.Error("different parts have one hash")
	}
}
