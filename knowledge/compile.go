package knowledge

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Encoder is the built-in embedding model as this package needs it. Vectors have Dims entries and unit length.
type Encoder struct {
	Dims        int
	Fingerprint string
	Query       func(text string, into []float32)
	Document    func(name, description, params string, into []float32)
}

// The sections of the compiled form.
const (
	secHash     = iota // SHA-256 of the source
	secModel           // fingerprint of the model that made the vectors
	secCount           // number of archetypes
	secDict            // strtab: sorted stems
	secLists           // strtab: per stem, archetypes that have it and how much it adds
	secVectors         // int4 rows
	secTexts           // strtab: compressed blocks of synonyms and utterances
	secThesKeys        // strtab: phrases
	secThesVals        // strtab: what they expand to
	secLexKeys         // strtab: language and form
	secLexVals         // strtab: English words
	numSections
)

const (
	magic     = "TDXK0001"
	fieldSep  = "\x1f"
	listSep   = "\x1e"
	recordSep = "\x1d"
	perBlock  = 256 // archetypes in one compressed block of texts
)

// Compile turns the source into the form that the binary carries and [Open] reads in place.
func Compile(src *Source, enc Encoder) ([]byte, error) {
	sections := make([][]byte, numSections)
	sections[secHash] = src.Hash[:]
	sections[secModel] = []byte(enc.Fingerprint)
	sections[secCount] = binary.LittleEndian.AppendUint32(nil, uint32(len(src.Archetypes)))
	sections[secDict], sections[secLists] = compileLists(src.Archetypes)
	sections[secVectors] = compileVectors(src.Archetypes, enc)
	texts, err := compileTexts(src.Archetypes)
	if err != nil {
		return nil, err
	}
	sections[secTexts] = texts
	sections[secThesKeys], sections[secThesVals] = compileThesaurus(src.Thesaurus, verbsOf(src))
	sections[secLexKeys], sections[secLexVals] = compileLexicon(src.Lexicon)
	out := []byte(magic)
	for _, s := range sections {
		out = binary.LittleEndian.AppendUint32(out, uint32(len(s)))
		out = append(out, s...)
	}
	return out, nil
}

// The weights of an archetype's parts in its word list, and BM25F's saturation.
const (
	wordsName, wordsDescription, wordsSaid = 2, 1, .6
	wordsK1, wordsB                        = 1.2, .75
	impactUnits                            = 12 // steps of a stored impact in one unit of score
)

// compileLists makes an inverted file of BM25F impacts over names, descriptions and what is said to the archetypes.
func compileLists(all []Archetype) (dict, lists []byte) {
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
	return encodeStrtab(stems), encodeStrtab(flat)
}

// groupSize is how many components of a vector share one scale.
const groupSize = 32

// compileVectors packs each archetype's document vector into 4 bits a component, with one byte of scale a group.
func compileVectors(all []Archetype, enc Encoder) []byte {
	v := make([]float32, enc.Dims)
	var out []byte
	for _, a := range all {
		enc.Document(a.Name+" "+a.Server, a.Description, strings.Join(a.Params, " "), v)
		out = appendInt4(out, v)
	}
	return out
}

func appendInt4(out []byte, v []float32) []byte {
	for g := 0; g < len(v); g += groupSize {
		part := v[g:min(g+groupSize, len(v))]
		var most float64
		for _, x := range part {
			most = max(most, math.Abs(float64(x)))
		}
		scale := math.Ceil(most * scaleSteps)
		out = append(out, byte(min(scale, 255)))
		for i := 0; i < len(part); i += 2 {
			lo, hi := nibble(part[i], scale), byte(8)
			if i+1 < len(part) {
				hi = nibble(part[i+1], scale)
			}
			out = append(out, lo|hi<<4)
		}
	}
	return out
}

// scaleSteps is how many steps of a group's scale make one: 255 of them reach the largest component that occurs.
const scaleSteps = 400

func nibble(x float32, scale float64) byte {
	if scale == 0 {
		return 8
	}
	return byte(8 + min(7, max(-7, math.Round(float64(x)*scaleSteps/scale*7))))
}

// unpackInt4 is the inverse of appendInt4 for one vector of len(v) components.
func unpackInt4(b []byte, v []float32) {
	for g := 0; g < len(v); g += groupSize {
		end := min(g+groupSize, len(v))
		step := float32(b[0]) / (7 * scaleSteps)
		b = b[1:]
		for i := g; i < end; i += 2 {
			v[i] = float32(int(b[0]&15)-8) * step
			if i+1 < end {
				v[i+1] = float32(int(b[0]>>4)-8) * step
			}
			b = b[1:]
		}
	}
}

// int4Size is the number of bytes of a vector of dims components.
func int4Size(dims int) int {
	groups := (dims + groupSize - 1) / groupSize
	return groups + (dims+1)/2
}

func compileTexts(all []Archetype) ([]byte, error) {
	var blocks []string
	for start := 0; start < len(all); start += perBlock {
		var plain []string
		for _, a := range all[start:min(start+perBlock, len(all))] {
			plain = append(plain, strings.Join([]string{a.Server, a.Name, a.Title, strings.Join(a.Synonyms, listSep), strings.Join(a.Utterances, listSep)}, fieldSep))
		}
		var b bytes.Buffer
		w, err := flate.NewWriter(&b, flate.BestCompression)
		if err != nil {
			return nil, fmt.Errorf("compress texts: %w", err)
		}
		if _, err := w.Write([]byte(strings.Join(plain, recordSep))); err != nil {
			return nil, fmt.Errorf("compress texts: %w", err)
		}
		if err := w.Close(); err != nil {
			return nil, fmt.Errorf("compress texts: %w", err)
		}
		blocks = append(blocks, b.String())
	}
	return encodeStrtab(blocks), nil
}
