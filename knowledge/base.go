package knowledge

import (
	"bytes"
	"cmp"
	_ "embed" // the compiled base
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"weak"
)

// Base is the compiled knowledge, read where it lies. It is immutable and safe for concurrent use. Opening it costs
// next to nothing: the stems, thesaurus and lexicon are unpacked when first needed, and texts and lists at each read.
type Base struct {
	hash, model []byte
	count       int
	lists       func() *wordLists // of stems
	vectors     []byte
	means       []byte
	effects     []byte
	kinds       stringTable
	kindOf      func() []uint16 // of each archetype, its index in kinds
	domainOf    []byte          // the domain of each kind
	names       stringTable
	texts       stringTable
	words       func() (*wordCode, error) // of texts
	thesaurus   func() pairs              // unpacked when first needed, as is the lexicon
	lexicon     func() pairs
	glossary    func() glossary
	categories  func() []string // by kind; the last for no kind
	analyzers   sync.Pool       // of *Analyzer, which remember the stems of words that requests share

	unpacking  sync.Mutex               // guards archetypes
	archetypes weak.Pointer[archetypes] // of the lenders that exist now
}

// stemWord returns the stem of a word of a request. It borrows an Analyzer, which remembers earlier words.
func (b *Base) stemWord(w string) string {
	an, ok := b.analyzers.Get().(*Analyzer)
	if !ok {
		an = new(Analyzer)
	}
	defer b.analyzers.Put(an)
	return an.stemWord(w)
}

// errForeign is the error for bytes that do not begin with magic.
var errForeign = errors.New("knowledge: not a compiled base, or one of another version")

// Open reads a compiled base. The bytes are kept, not copied, and must not change. Bytes that are no base, or one of
// another version, give an error. Only the layout is checked; a damaged text shows when it is read.
func Open(b []byte) (*Base, error) {
	if !bytes.HasPrefix(b, []byte(magic)) {
		return nil, errForeign
	}
	b = b[len(magic):]
	sections := make([][]byte, numSections)
	for i := range sections {
		if len(b) < 4 {
			return nil, errShort
		}
		n := int64(binary.LittleEndian.Uint32(b))
		if n > int64(len(b)-4) {
			return nil, errShort
		}
		sections[i], b = b[4:4+n], b[4+n:]
	}
	base := &Base{
		hash: sections[secHash], model: sections[secModel], vectors: sections[secVectors],
		means: sections[secMeans], effects: sections[secEffects], domainOf: sections[secDomainOf],
	}
	for _, t := range []struct {
		into *stringTable
		from int
	}{
		{&base.names, secNames},
		{&base.texts, secTexts},
		{&base.kinds, secKinds},
	} {
		var err error
		if *t.into, err = openStringTable(sections[t.from]); err != nil {
			return nil, fmt.Errorf("section %d: %w", t.from, err)
		}
	}
	base.lists = sync.OnceValue(func() *wordLists {
		l, err := openLists(sections[secDict], sections[secLists])
		if err != nil {
			return new(wordLists)
		}
		return l
	})
	base.words = sync.OnceValues(func() (*wordCode, error) { return openWordCode(sections[secWords]) })
	base.thesaurus = sync.OnceValue(func() pairs { return unpackPairs(sections[secThesaurus]) })
	base.lexicon = sync.OnceValue(func() pairs { return unpackPairs(sections[secLexicon]) })
	base.glossary = sync.OnceValue(func() glossary { return readGlossary(sections[secGlossary]) })
	base.categories = sync.OnceValue(base.categoriesOfKinds)
	if len(sections[secCount]) != 4 {
		return nil, errShort
	}
	base.count = int(binary.LittleEndian.Uint32(sections[secCount]))
	sizes := sections[secKindSizes]
	base.kindOf = sync.OnceValue(func() []uint16 { return numberKinds(sizes, base.count) })
	if len(base.effects) != base.count || len(base.domainOf) != base.kinds.n || len(sizes) != 2*base.kinds.n ||
		sumSizes(sizes) != base.count ||
		base.texts.n != (base.count+perBlock-1)/perBlock || base.names.n != (base.count+namesBlock-1)/namesBlock {
		return nil, errShort
	}
	return base, nil
}

// Len returns the number of archetypes.
func (b *Base) Len() int { return b.count }

// Version identifies the knowledge and the model that it was compiled with: what was lent under one version stays valid
// exactly as long as the version.
func (b *Base) Version() string { return fmt.Sprintf("%x-%s", b.hash[:min(6, len(b.hash))], b.model) }

// sumSizes returns how many archetypes there are by how many each kind has, two bytes a kind.
func sumSizes(sizes []byte) (sum int) {
	for ; len(sizes) >= 2; sizes = sizes[2:] {
		sum += int(binary.LittleEndian.Uint16(sizes))
	}
	return sum
}

// numberKinds returns the kind of each of count archetypes, as many as the sizes of kinds add up to.
func numberKinds(sizes []byte, count int) []uint16 {
	kinds := make([]uint16, 0, count)
	for k := range len(sizes) / 2 {
		for range binary.LittleEndian.Uint16(sizes[2*k:]) {
			kinds = append(kinds, uint16(k))
		}
	}
	return kinds
}

// Kind returns the kind of server that archetype i is a tool of. It costs nothing, unlike Head.
func (b *Base) Kind(i int) string { return string(b.kinds.entryAt(int(b.kindOf()[i]))) }

// kindNumber returns the place of archetype i's kind.
func (b *Base) kindNumber(i int) int { return int(b.kindOf()[i]) }

// domain returns the number of the domain that archetype i belongs to.
func (b *Base) domain(i int) int { return int(b.domainOf[b.kindOf()[i]]) }

// SameKind reports whether two archetypes are tools of the same kind of server.
func (b *Base) SameKind(i, k int) bool {
	kinds := b.kindOf()
	return kinds[i] == kinds[k]
}

// Head is the readable part of an archetype: its names and the requests that it answers.
type Head struct {
	Server, Name, Title  string
	Synonyms, Utterances []string
}

// Head reads archetype i, of 0 to Len-1.
func (b *Base) Head(i int) (Head, error) {
	name, err := b.Name(i)
	if err != nil {
		return Head{}, err
	}
	block, err := b.readTexts(i / perBlock)
	if err != nil {
		return Head{}, err
	}
	h, err := parseHead(block, i%perBlock)
	h.Server, h.Name = b.Kind(i), name
	return h, err
}

// Name returns the name of archetype i, of 0 to Len-1.
func (b *Base) Name(i int) (string, error) {
	if i < 0 || i >= b.count {
		return "", fmt.Errorf("knowledge: no archetype %d", i)
	}
	names, err := b.readNames(i / namesBlock)
	if err != nil {
		return "", err
	}
	if i%namesBlock >= len(names) {
		return "", errShort
	}
	return names[i%namesBlock], nil
}

// readNames decompresses a block of names.
func (b *Base) readNames(k int) ([]string, error) {
	plain, err := decompressBytes(b.names.entryAt(k))
	if err != nil {
		return nil, fmt.Errorf("read archetype names: %w", err)
	}
	return strings.Split(string(plain), recordSep), nil
}

// readTexts decodes a block of texts.
func (b *Base) readTexts(k int) ([]string, error) {
	words, err := b.words()
	if err != nil {
		return nil, fmt.Errorf("read archetype texts: %w", err)
	}
	plain, err := words.decode(b.texts.entryAt(k))
	if err != nil {
		return nil, fmt.Errorf("read archetype texts: %w", err)
	}
	return strings.Split(plain, recordSep), nil
}

// parseHead reads the texts of archetype k of a block. Server and Name are left to the caller.
func parseHead(block []string, k int) (Head, error) {
	if k >= len(block) {
		return Head{}, errShort
	}
	parts := strings.Split(block[k], fieldSep)
	if len(parts) != 3 {
		return Head{}, errShort
	}
	return Head{Title: parts[0], Synonyms: splitList(parts[1]), Utterances: splitList(parts[2])}, nil
}

// splitList splits a stored list; "" is the empty list.
func splitList(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, listSep)
}

// unpackVector unpacks the vector of archetype i's description, or clears into if the base's vectors have another
// width.
func (b *Base) unpackVector(i int, into []float32) {
	unpackRow(b.vectors, i, b.count, into, vectorBits)
}

// unpackMean unpacks the mean vector of archetype i's requests, or clears into if the base's vectors have another
// width.
func (b *Base) unpackMean(i int, into []float32) { unpackRow(b.means, i, b.count, into, meanBits) }

// Heads reads many archetypes, in the order in which they are asked for. It unpacks each block once.
func (b *Base) Heads(archetypes []int) ([]Head, error) {
	order := make([]int, len(archetypes))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(x, y int) int { return cmp.Compare(archetypes[x], archetypes[y]) })
	out := make([]Head, len(archetypes))
	var texts, names []string
	textBlock, nameBlock := -1, -1
	for _, at := range order {
		i := archetypes[at]
		if i < 0 || i >= b.count {
			_, err := b.Name(i)
			return nil, err
		}
		var err error
		if k := i / perBlock; k != textBlock {
			if texts, err = b.readTexts(k); err != nil {
				return nil, err
			}
			textBlock = k
		}
		if k := i / namesBlock; k != nameBlock {
			if names, err = b.readNames(k); err != nil {
				return nil, err
			}
			nameBlock = k
		}
		if i%namesBlock >= len(names) {
			return nil, errShort
		}
		if out[at], err = parseHead(texts, i%perBlock); err != nil {
			return nil, err
		}
		out[at].Server, out[at].Name = b.Kind(i), names[i%namesBlock]
	}
	return out, nil
}

//go:embed base.bin
var compiled []byte

var builtin = sync.OnceValues(func() (*Base, error) { return Open(compiled) })

// Builtin returns the knowledge that the binary carries. It is opened once and shared.
func Builtin() (*Base, error) { return builtin() }
