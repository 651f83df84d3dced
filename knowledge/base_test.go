package knowledge

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tooldex/tool"
)

func TestCompileAndOpen(t *testing.T) {
	enc := fakeEncoder(64)
	src, data := smallSource(t), smallBytes(t, enc)
	if !bytes.Equal(data, smallBytes(t, enc)) {
		t.Error("compiling twice gives other bytes")
	}
	b, err := Open(data)
	if err != nil {
		t.Fatal(err)
	}
	if b.Len() != len(src.Archetypes) {
		t.Fatalf("%d archetypes, want %d", b.Len(), len(src.Archetypes))
	}
	for i, a := range src.Archetypes {
		h, err := b.Head(i)
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Synonyms) == 0 {
			a.Synonyms = nil
		}
		if d := cmp.Diff(Head{a.Server, a.Name, a.Title, a.Synonyms, a.Utterances}, h); d != "" {
			t.Errorf("head of %d (-want +got):\n%s", i, d)
		}
	}
	dict := b.lists().stems
	for _, stem := range []string{"issu", "defect", "umbrella", "inbox"} {
		if _, ok := dict.indexOf(stem); !ok {
			t.Errorf("%s is not known", stem)
		}
		if b.isCommon(stem) {
			t.Errorf("%s is common, in a base of a few archetypes", stem)
		}
	}
	if _, ok := dict.indexOf("zyxglorp"); ok || b.isCommon("zyxglorp") || b.isCommon("") {
		t.Error("knows what nobody wrote")
	}
}

func TestHeadOutOfRange(t *testing.T) {
	b := smallBase(t)
	for _, i := range []int{-1, b.Len(), perBlock, 1 << 40} {
		if h, err := b.Head(i); err == nil {
			t.Errorf("archetype %d is %+v", i, h)
		}
	}
}

func TestVersion(t *testing.T) {
	version := func(src *Source, enc Encoder) string {
		data, err := Compile(src, enc)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Open(data)
		if err != nil {
			t.Fatal(err)
		}
		return b.Version()
	}
	enc, src := fakeEncoder(8), smallSource(t)
	first := version(src, enc)
	if first == "" || first != version(src, enc) {
		t.Error("the same knowledge has two versions")
	}
	other := enc
	other.Fingerprint = "another"
	if version(src, other) == first {
		t.Error("another model has the same version")
	}
	src.Hash[0]++
	if version(src, enc) == first {
		t.Error("other knowledge has the same version")
	}
}

func TestCompileNothing(t *testing.T) {
	enc := fakeEncoder(8)
	data, err := Compile(&Source{}, enc)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Open(data)
	if err != nil {
		t.Fatal(err)
	}
	if b.Len() != 0 {
		t.Errorf("%d archetypes", b.Len())
	}
	useAll(t, b, enc)
}

// TestNearest asks for what one archetype does.
func TestNearest(t *testing.T) {
	b, enc := smallBase(t), fakeEncoder(64)
	var s Scratch
	for text, want := range map[string]string{
		"weather forecast for Oslo": "get_forecast",
		"create an issue":           "create_issue",
		"close the issue":           "close_issue",
		"send a message":            "send_message",
		"list messages":             "list_messages",
	} {
		v := make([]float32, 64)
		enc.Query(text, v)
		near := b.Nearest(Terms(text), v, 3, &s)
		if len(near) == 0 || near[0].Archetype != archetype(t, b, want) {
			t.Errorf("%q is nearest to %v, want %s", text, near, want)
			continue
		}
		again := b.Nearest(Terms(text), v, 2, new(Scratch))
		if d := cmp.Diff(near[:min(2, len(near))], again); d != "" {
			t.Errorf("two of three are others with a new scratch:\n%s", d)
		}
	}
	if near := b.Nearest(nil, make([]float32, 64), 3, &s); len(near) != 0 {
		t.Errorf("no words are near %v", near)
	}
	if near := b.Nearest([]string{"zyxglorp"}, make([]float32, 64), 3, &s); len(near) != 0 {
		t.Errorf("an unknown word is near %v", near)
	}
}

// useAll calls everything that reads a base. Nothing may panic, whatever the bytes say.
func useAll(t testing.TB, b *Base, enc Encoder) {
	t.Helper()
	_ = b.Version()
	for _, i := range []int{-1, 0, 1, perBlock - 1, perBlock, b.Len() - 1, b.Len()} {
		_, _ = b.Head(i) // an error is an answer
	}
	texts := []string{
		"open a ticket for the work item", "put it back to the former version", "Datei löschen bitte",
		"удалить файл", "删除文件", "파일 삭제", "create_issue close", "Grundbuchauszugsdatei",
	}
	for _, text := range texts {
		_ = b.Translate(text)
		_ = b.Expand(text, 5, func(string) bool { return true })
		_ = b.NotUnderstood(text, func(string) bool { return false })
		for _, dims := range []int{enc.Dims, 0, 7} {
			_ = b.Nearest(Terms(text), make([]float32, dims), 4, new(Scratch))
		}
		for _, stem := range Terms(text) {
			_ = b.IsVerb(stem)
		}
	}
	tools := []*tool.Tool{{Server: "a", Name: "create_issue", Description: "Opens a new issue."}, {}}
	if loans, err := b.Lender(enc).Lend(t.Context(), textsOf(tools), nil); err == nil && len(loans) != len(tools) {
		t.Errorf("%d loans for %d tools", len(loans), len(tools))
	}
}

func TestOpenRefuses(t *testing.T) {
	good := smallBytes(t, fakeEncoder(16))
	for name, data := range map[string][]byte{
		"nothing":         nil,
		"text":            []byte("hello, world"),
		"another version": append([]byte("TDXK0000"), good[8:]...),
		"magic alone":     good[:8],
	} {
		t.Run(name, func(t *testing.T) {
			if b, err := Open(data); err == nil {
				t.Errorf("opened a base of %d archetypes", b.Len())
			}
		})
	}
	t.Run("cut short anywhere", func(t *testing.T) {
		for n := range good {
			if _, err := Open(good[:n]); err == nil {
				t.Fatalf("the first %d of %d bytes are taken for a base", n, len(good))
			}
		}
	})
}

// TestOpenDamaged turns the bytes of a base one at a time, all at its front and every third of the rest: what opens
// must not panic later.
func TestOpenDamaged(t *testing.T) {
	enc := fakeEncoder(16)
	good := smallBytes(t, enc)
	opened := 0
	for i := 0; i < len(good); i++ {
		if i > 200 && i%3 != 0 {
			continue
		}
		for _, flip := range []byte{0xff, 0x01} {
			bad := slices.Clone(good)
			bad[i] ^= flip
			if b, err := Open(bad); err == nil {
				opened++
				useAll(t, b, enc)
			}
		}
	}
	t.Logf("%d damaged bases opened", opened)
}

func FuzzOpen(f *testing.F) {
	enc := fakeEncoder(16)
	good := smallBytes(f, enc)
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add([]byte(magic))
	huge := slices.Clone(good)
	binary.LittleEndian.PutUint32(huge[len(magic):], 1<<31)
	f.Add(huge)
	f.Fuzz(func(t *testing.T, data []byte) {
		if b, err := Open(data); err == nil {
			useAll(t, b, enc)
		}
	})
}

func TestStrtab(t *testing.T) {
	for name, list := range map[string][]string{
		"none":          {},
		"one empty":     {""},
		"sorted":        {"", "a", "aa", "b", "ünder", "日本"},
		"one long":      {strings.Repeat("x", 100_000)},
		"with any byte": {"\x00", "\x01\xff", "\xfe"},
	} {
		t.Run(name, func(t *testing.T) {
			tab, err := openStringTable(encodeStringTable(list))
			if err != nil || tab.n != len(list) {
				t.Fatalf("%d entries, %v", tab.n, err)
			}
			for i, want := range list {
				if got := string(tab.entryAt(i)); got != want {
					t.Errorf("entry %d is %q, want %q", i, got, want)
				}
				if at, ok := tab.indexOf(want); !ok || at != i {
					t.Errorf("%q is found at %d, %v", want, at, ok)
				}
				if _, ok := tab.indexOf(want + "\x00?"); ok {
					t.Errorf("%q is found with more after it", want)
				}
			}
		})
	}
}

func TestPairs(t *testing.T) {
	m := map[string][]byte{"b": []byte("2"), "a": []byte("1"), "": nil, "c": {0, 255}}
	packed, err := packPairs(m)
	if err != nil {
		t.Fatal(err)
	}
	p := unpackPairs(packed)
	for key, want := range m {
		if got := p.get(key); !bytes.Equal(got, want) {
			t.Errorf("%q has %q, want %q", key, got, want)
		}
	}
	if p.get("d") != nil || (pairs{}).get("a") != nil {
		t.Error("a key that is not there has a value")
	}
}

func FuzzStrtab(f *testing.F) {
	f.Add(encodeStringTable([]string{"a", "b"}))
	f.Add([]byte{255, 255, 255, 255, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		tab, err := openStringTable(data)
		if err != nil {
			return
		}
		for i := range tab.n {
			_ = tab.entryAt(i)
		}
		_, _ = tab.indexOf("a")
	})
}

// TestVectors keeps vectors of every width up to two groups of components and one more.
func TestVectors(t *testing.T) {
	src := smallSource(t)
	for dims := 1; dims < 70; dims++ {
		enc := fakeEncoder(dims)
		b, err := Open(smallBytes(t, enc))
		if err != nil {
			t.Fatal(err)
		}
		got, want := make([]float32, dims), make([]float32, dims)
		for i, a := range src.Archetypes {
			b.unpackVector(i, got)
			enc.Document(a.Name+" "+a.Server, a.Description, strings.Join(a.Params, " "), want)
			if cos := cosineOf(got, want); cos < .9 && dims > 3 {
				t.Errorf("%d dimensions: the vector of %s came back at a cosine of %v", dims, a.Name, cos)
			}
		}
	}
}
