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
// bytes. Names and texts are compressed in blocks, so that reading one archetype decompresses a few hundred texts and
// not all of them. Vectors and word lists are not compressed: they are read in place.
const (
	secHash      = iota // SHA-256 of the source
	secModel            // fingerprint of the model that made the vectors
	secCount            // number of archetypes
	secDict             // compressed strings: sorted stems
	secLists            // strtab: per stem, archetypes that have it and how much it adds
	secVectors          // rows of 3 bits a component
	secKinds            // strtab: the kinds of servers
	secKindOf           // the kind of each archetype, two bytes
	secDomainOf         // the domain of each kind, a byte
	secEffects          // what each archetype does, a byte
	secNames            // strtab: compressed blocks of the archetypes' names
	secTexts            // strtab: compressed blocks of the archetypes' titles, synonyms and utterances
	secGlossary         // compressed strings: what people call objects and operations
	secThesaurus        // compressed strings: phrases and what they expand to
	secLexicon          // compressed strings: language and form, and English words
	numSections
)

// magic names the version of the form; change it with the form. The separators cannot occur in texts.
const (
	// the first bytes of the form; Open refuses any other
	magic      = "TDXK0003"
	fieldSep   = "\x1f"
	listSep    = "\x1e"
	recordSep  = "\x1d"
	perBlock   = 256 // archetypes in one compressed block of texts
	namesBlock = 64  // and of names
)

// Compile turns the source into the form that the binary carries and [Open] reads in place. The same source and encoder
// give the same bytes. src.Archetypes must be sorted by server.
func Compile(src *Source, enc Encoder) ([]byte, error) {
	sections := make([][]byte, numSections)
	sections[secHash] = src.Hash[:]
	sections[secModel] = []byte(enc.Fingerprint)
	sections[secCount] = binary.LittleEndian.AppendUint32(nil, uint32(len(src.Archetypes)))
	dict, lists := compileLists(src.Archetypes)
	var err error
	if sections[secDict], err = packStrings(dict); err != nil {
		return nil, err
	}
	sections[secLists] = encodeStringTable(lists)
	sections[secVectors] = compileVectors(src.Archetypes, enc)
	domains := domainsOf(src)
	var kinds []string
	var an Analyzer
	// Kinds of servers and their domains are stored once, and each archetype refers to its kind by number. That is why
	// the archetypes must be sorted by server: a new kind begins where the server changes.
	for _, a := range src.Archetypes {
		if len(kinds) == 0 || kinds[len(kinds)-1] != a.Server { // they are sorted by it
			kinds = append(kinds, a.Server)
			d, _ := slices.BinarySearch(domains, a.Domain)
			sections[secDomainOf] = append(sections[secDomainOf], byte(d))
		}
		sections[secKindOf] = binary.LittleEndian.AppendUint16(sections[secKindOf], uint16(len(kinds)-1))
		sections[secEffects] = append(sections[secEffects], byte(an.NameEffect(a.Name)))
	}
	// Domains are numbered in one byte and kinds in two. The numbers are complete only after the loop; what the loop
	// truncated is discarded with the error.
	if len(domains) > math.MaxUint8 {
		return nil, fmt.Errorf("%d domains are more than the compiled form can number", len(domains))
	}
	if len(kinds) > math.MaxUint16 {
		return nil, fmt.Errorf("%d kinds of servers are more than the compiled form can number", len(kinds))
	}
	sections[secKinds] = encodeStringTable(kinds)
	if sections[secNames], err = compileTexts(src.Archetypes, namesBlock, func(a *Archetype) string {
		return a.Name
	}); err != nil {
		return nil, err
	}
	sections[secTexts], err = compileTexts(src.Archetypes, perBlock, func(a *Archetype) string {
		return strings.Join([]string{a.Title, strings.Join(a.Synonyms, listSep), strings.Join(a.Utterances, listSep)},
			fieldSep)
	})
	if err != nil {
		return nil, err
	}
	if sections[secGlossary], err = compileGlossary(src, domains); err != nil {
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

// The weights of an archetype's parts in its word list, and BM25F's saturation.
const (
	wordsName, wordsDescription, wordsSaid = 2, 1, .6
	wordsK1, wordsB                        = 1.2, .75
	impactUnits                            = 12 // steps of a stored impact in one unit of score
)

// compileLists returns the stems, sorted, and for each an inverted list of BM25F impacts over names, descriptions and
// requests. Impacts that round to zero are left out. As in BM25F, the occurrences in each field are divided by the
// field's length relative to its mean, weighted and added up, before the sum is saturated once. The first pass collects
// lengths, the second weights and document frequencies, the third the impacts.
func compileLists(all []Archetype) (dict, lists []string) {
	var an Analyzer
	weights := make([]map[string]float64, len(all))
	df := map[string]int{}
	lengths := make([][3]float64, len(all))
	parts := make([][3][]string, len(all))
	var mean [3]float64
	for i, a := range all {
		parts[i] = [3][]string{
			an.Terms(nil, a.Name+" "+a.Server), an.Terms(nil, a.Title+" "+a.Description),
			an.Terms(nil, strings.Join(a.Utterances, "\n")+"\n"+strings.Join(a.Synonyms, "\n")),
		}
		for f := range parts[i] {
			lengths[i][f] = float64(len(parts[i][f]))
			mean[f] += lengths[i][f] / float64(len(all))
		}
	}
	for i := range all {
		weights[i] = map[string]float64{}
		for f, w := range [3]float64{wordsName, wordsDescription, wordsSaid} {
			for _, t := range parts[i][f] {
				weights[i][t] += w / (1 - wordsB + wordsB*lengths[i][f]/mean[f])
			}
		}
		for t := range weights[i] {
			df[t]++
		}
	}
	stems := make([]string, 0, len(df))
	for t := range df {
		stems = append(stems, t)
	}
	slices.Sort(stems)
	// Values are pairs of a gap to the previous archetype and an impact of one byte. Archetypes are visited in
	// ascending order, so a gap is never negative. Impacts are whole numbers, so that adding them up needs no floating
	// point.
	values, last := make([][]byte, len(stems)), make([]int, len(stems))
	n := float64(len(all))
	for i := range all {
		for t, w := range weights[i] {
			k, _ := slices.BinarySearch(stems, t)
			idf := math.Log(1 + (n-float64(df[t])+.5)/(float64(df[t])+.5))
			impact := math.Round(impactUnits * idf * w * (wordsK1 + 1) / (w + wordsK1))
			if impact < 1 {
				continue
			}
			values[k] = binary.AppendUvarint(values[k], uint64(i-last[k]))
			values[k] = append(values[k], byte(min(impact, 255)))
			last[k] = i
		}
	}
	flat := make([]string, len(values))
	for k := range values {
		flat[k] = string(values[k])
	}
	return stems, flat
}

// groupSize is how many components of a vector share one scale.
const groupSize = 32

// compileVectors packs each archetype's document vector into 3 bits a component, with one byte of scale for each group.
func compileVectors(all []Archetype, enc Encoder) []byte {
	// The largest component differs from group to group. A scale for each group loses less than one for the whole
	// vector, at a cost of 8 bits for every 96.
	v := make([]float32, enc.Dims)
	var out []byte
	for _, a := range all {
		enc.Document(a.Name+" "+a.Server, a.Description, strings.Join(a.Params, " "), v)
		out = appendPacked(out, v)
	}
	return out
}

const (
	scaleSteps = 400 // steps of a group's scale in one: 255 of them reach the largest component that occurs
	levels     = 8   // of a component, at -3.5, -2.5 ... 3.5 steps
)

// appendPacked writes v by groups: the scale, then 3 bits a component, lowest bits first. The scale is the group's
// largest component.
func appendPacked(out []byte, v []float32) []byte {
	for g := 0; g < len(v); g += groupSize {
		part := v[g:min(g+groupSize, len(v))]
		var most float64
		for _, x := range part {
			most = max(most, math.Abs(float64(x)))
		}
		scale := min(255, math.Ceil(most*scaleSteps))
		out = append(out, byte(scale))
		var bits uint32
		n := 0
		for _, x := range part {
			// A group of zeros has scale 0; its levels do not matter, since unpacking multiplies them by 0.
			level := 0.0
			if scale > 0 {
				level = min(levels-1, max(0, math.Floor(float64(x)*scaleSteps/scale*levels/2+levels/2)))
			}
			bits |= uint32(level) << n
			for n += 3; n >= 8; n -= 8 {
				out = append(out, byte(bits))
				bits >>= 8
			}
		}
		if n > 0 {
			// Whole groups end at a full byte; only a last, shorter group leaves bits over.
			out = append(out, byte(bits))
		}
	}
	return out
}

// unpackVector reads one vector of len(v) components from what appendPacked wrote.
func unpackVector(b []byte, v []float32) {
	for g := 0; g < len(v); g += groupSize {
		step := float32(b[0]) * 2 / (levels * scaleSteps)
		b = b[1:]
		if g+groupSize <= len(v) {
			unpackGroup((*[groupSize * 3 / 8]byte)(b), (*[groupSize]float32)(v[g:]), step)
			b = b[groupSize*3/8:]
			continue
		}
		var bits uint32
		n := 0
		for i := g; i < min(g+groupSize, len(v)); i++ {
			if n < 3 {
				bits |= uint32(b[0]) << n
				b = b[1:]
				n += 8
			}
			v[i] = (float32(bits&7) - (levels-1)/2.0) * step
			bits >>= 3
			n -= 3
		}
	}
}

// unpackGroup unpacks a whole group, eight components of three bytes at a time.
func unpackGroup(b *[groupSize * 3 / 8]byte, v *[groupSize]float32, step float32) {
	var value [levels]float32
	for k := range value {
		value[k] = (float32(k) - (levels-1)/2.0) * step
	}
	for k := 0; k < groupSize/8; k++ {
		bits := uint32(b[3*k]) | uint32(b[3*k+1])<<8 | uint32(b[3*k+2])<<16
		for i := 8 * k; i < 8*k+8; i++ {
			v[i] = value[bits&(levels-1)]
			bits >>= 3
		}
	}
}

// packedSize returns the number of bytes that a vector of dims components takes.
func packedSize(dims int) int {
	whole, rest := dims/groupSize, dims%groupSize
	n := whole * (1 + groupSize*3/8)
	if rest > 0 {
		n += 1 + (rest*3+7)/8
	}
	return n
}

// compileTexts compresses the result of text for each archetype, in blocks of so many archetypes.
func compileTexts(all []Archetype, block int, text func(*Archetype) string) ([]byte, error) {
	var blocks []string
	for start := 0; start < len(all); start += block {
		var plain []string
		for i := start; i < min(start+block, len(all)); i++ {
			plain = append(plain, text(&all[i]))
		}
		b, err := compressBytes([]byte(strings.Join(plain, recordSep)))
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, string(b))
	}
	return encodeStringTable(blocks), nil
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
