package knowledge

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// Encoder is the built-in embedding model as this package needs it. Vectors have Dims entries and unit length.
type Encoder struct {
	Dims int
	// Query embeds a request and Document a tool. Both write Dims entries to into, over what it held.
	Fingerprint string
	Query       func(text string, into []float32)
	Document    func(name, description, params string, into []float32)
}

// The sections of the compiled form, in the order in which they lie in the file. Each is preceded by its length in four
// bytes. Names and texts are compressed in blocks, so that reading one archetype decompresses a few of them and not
// all. Texts and word lists are in codes that are read in place, and so are vectors, which are not compressed.
const (
	secHash      = iota // SHA-256 of the source
	secModel            // fingerprint of the model that made the vectors
	secCount            // number of archetypes
	secDict             // compressed strings: sorted stems
	secLists            // per stem, archetypes that have it, how much it adds, and how often requests have it
	secVectors          // rows of vectorBits a component: each archetype's description
	secMeans            // rows of meanBits a component: the mean of each archetype's requests
	secKinds            // strtab: the kinds of servers
	secKindSizes        // how many archetypes each kind has, two bytes
	secDomainOf         // the domain of each kind, a byte
	secEffects          // what each archetype does, a byte
	secNames            // strtab: compressed blocks of the archetypes' names
	secTexts            // strtab: blocks of the archetypes' titles, synonyms and utterances, coded by words
	secWords            // the code of these words, see wordCodes.compile
	secGlossary         // compressed strings: what people call objects and operations, words by their place in secDict
	secThesaurus        // compressed strings: phrases and what they expand to
	secLexicon          // compressed strings: language and form, and English words
	numSections
)

// magic names the version of the form; change it with the form. The separators cannot occur in texts.
const (
	// the first bytes of the form; Open refuses any other
	magic      = "TDXK0007"
	fieldSep   = "\x1f"
	listSep    = "\x1e"
	recordSep  = "\x1d"
	perBlock   = 8  // archetypes in one block of texts
	namesBlock = 64 // and in one compressed block of names
)

// Compile turns the source into the form that the binary carries and [Open] reads in place. The same source and encoder
// give the same bytes. src.Archetypes must be sorted by server.
func Compile(src *Source, enc Encoder) ([]byte, error) {
	sections := make([][]byte, numSections)
	sections[secHash] = src.Hash[:]
	sections[secModel] = []byte(enc.Fingerprint)
	sections[secCount] = binary.LittleEndian.AppendUint32(nil, uint32(len(src.Archetypes)))
	domains := domainsOf(src)
	glossary := analyseGlossary(src, domains)
	dict, lists := compileLists(src.Archetypes, glossary.words())
	var err error
	if sections[secDict], err = packStrings(dict); err != nil {
		return nil, err
	}
	sections[secLists] = encodeLists(lists)
	sections[secVectors], sections[secMeans] = compileVectors(src.Archetypes, enc)
	var kinds []string
	var sizes []int // of the kinds
	var an Analyzer
	// Kinds of servers and their domains are stored once, with how many archetypes each has. That is why the archetypes
	// must be sorted by server: a new kind begins where the server changes.
	for _, a := range src.Archetypes {
		if len(kinds) == 0 || kinds[len(kinds)-1] != a.Server { // they are sorted by it
			kinds, sizes = append(kinds, a.Server), append(sizes, 0)
			d, _ := slices.BinarySearch(domains, a.Domain)
			sections[secDomainOf] = append(sections[secDomainOf], byte(d))
		}
		sizes[len(sizes)-1]++
		sections[secEffects] = append(sections[secEffects], byte(an.NameEffect(a.Name)))
	}
	// Domains are numbered in one byte, and kinds and their archetypes in two. What the loop truncated is discarded with
	// the error.
	if len(domains) > math.MaxUint8 {
		return nil, fmt.Errorf("%d domains are more than the compiled form can number", len(domains))
	}
	if len(kinds) > math.MaxUint16 {
		return nil, fmt.Errorf("%d kinds of servers are more than the compiled form can number", len(kinds))
	}
	for i, n := range sizes {
		if n > math.MaxUint16 {
			return nil, fmt.Errorf("%q has %d archetypes, more than the compiled form can number", kinds[i], n)
		}
		sections[secKindSizes] = binary.LittleEndian.AppendUint16(sections[secKindSizes], uint16(n))
	}
	sections[secKinds] = encodeStringTable(kinds)
	names := joinBlocks(src.Archetypes, namesBlock, func(a *Archetype) string { return a.Name })
	for i, block := range names {
		packed, err := compressBytes([]byte(block))
		if err != nil {
			return nil, err
		}
		names[i] = string(packed)
	}
	sections[secNames] = encodeStringTable(names)
	texts := joinBlocks(src.Archetypes, perBlock, func(a *Archetype) string {
		return strings.Join([]string{a.Title, strings.Join(a.Synonyms, listSep), strings.Join(a.Utterances, listSep)},
			fieldSep)
	})
	codes := newWordCodes(texts)
	if sections[secWords], err = codes.compile(); err != nil {
		return nil, err
	}
	for i, block := range texts {
		texts[i] = string(codes.encode(block))
	}
	sections[secTexts] = encodeStringTable(texts)
	if sections[secGlossary], err = glossary.compile(dict); err != nil {
		return nil, err
	}
	if sections[secThesaurus], err = compileThesaurus(src.Thesaurus, verbsOf(src)); err != nil {
		return nil, err
	}
	if sections[secLexicon], err = compileLexicon(src.Lexicon); err != nil {
		return nil, err
	}
	out := []byte(magic)
	for _, s := range sections {
		out = binary.LittleEndian.AppendUint32(out, uint32(len(s)))
		out = append(out, s...)
	}
	return out, nil
}

// domainsOf returns the domains of the archetypes, sorted.
func domainsOf(src *Source) []string {
	var out []string
	for i := range src.Archetypes {
		if at, ok := slices.BinarySearch(out, src.Archetypes[i].Domain); !ok {
			out = slices.Insert(out, at, src.Archetypes[i].Domain)
		}
	}
	return out
}

// joinBlocks joins the results of text in blocks of so many archetypes.
func joinBlocks(all []Archetype, block int, text func(*Archetype) string) (blocks []string) {
	for some := range slices.Chunk(all, block) {
		var plain []string
		for i := range some {
			plain = append(plain, text(&some[i]))
		}
		blocks = append(blocks, strings.Join(plain, recordSep))
	}
	return blocks
}

// compressBytes compresses plain. The same bytes give the same result.
func compressBytes(plain []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	if _, err := w.Write(plain); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	return b.Bytes(), nil
}

// maxUnpacked bounds what one compressed section may hold, so that a damaged one cannot fill the memory.
const maxUnpacked = 64 << 20

// decompressBytes reverses compress. An error means that the base is damaged.
func decompressBytes(b []byte) ([]byte, error) {
	var plain bytes.Buffer
	plain.Grow(3*len(b) + bytes.MinRead) // texts shrink to some 40 %
	_, err := plain.ReadFrom(io.LimitReader(flate.NewReader(bytes.NewReader(b)), maxUnpacked+1))
	if err != nil || plain.Len() > maxUnpacked {
		return nil, errors.Join(errShort, err)
	}
	return plain.Bytes(), nil
}
