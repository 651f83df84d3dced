package tool

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"hash"
)

// Tool is one operation that one server offers. The zero value of every field but Server and Name is usable.
//
// Schemas and other JSON that came from a server are kept byte for byte. Note that json.Marshal compacts a RawMessage:
// code that stores a Tool keeps those fields apart.
type Tool struct {
	Server string `json:"server"`
	Name   string `json:"name"`
	Title  string `json:"title,omitempty"`
	// at most MaxSummary characters; derived from the description if none was declared
	Summary     string          `json:"summary,omitempty"`
	Description string          `json:"description,omitempty"`
	Category    string          `json:"category,omitempty"`
	Keywords    []string        `json:"keywords,omitempty"`
	Synonyms    []string        `json:"synonyms,omitempty"`
	Examples    []Example       `json:"examples,omitempty"`
	Utterances  []Utterance     `json:"utterances,omitempty"`
	InputSchema json.RawMessage `json:"inputSchema,omitempty"`
	// OutputSchema describes structured results; nil if the server declared none.
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Annotations  *Annotations    `json:"annotations,omitempty"`
	// Meta is the server's _meta of this tool and Icons its icons, unread.
	Meta       json.RawMessage `json:"_meta,omitempty"`
	Icons      json.RawMessage `json:"icons,omitempty"`
	Related    []ID            `json:"related,omitempty"`
	Disabled   bool            `json:"disabled,omitempty"`
	Deprecated string          `json:"deprecated,omitempty"` // what to use instead, or "deprecated"; "" if it is not
	Always     bool            `json:"alwaysInclude,omitempty"`
	// it is found by its own words alone: archetypes lend it none
	NoBorrow bool `json:"noBorrow,omitempty"`
	// CategoryDerived is set if Category is not declared, but derived from the kinds of tools that the tool resembles.
	CategoryDerived bool `json:"categoryDerived,omitempty"`
	// ServerText is what the tool's server says of itself, the same for all of its tools: title, description and
	// instructions. It is no part of the content.
	ServerText string `json:"-"`
	// Warning says in our own words that the tool looks suspicious; "" if it does not, or is approved. It is no part of
	// the content.
	Warning string `json:"-"`
}

// Example shows one use of a tool.
type Example struct {
	Description string          `json:"description"`
	Invocation  json.RawMessage `json:"invocation,omitempty"` // the arguments object
	Output      string          `json:"expectedOutput,omitempty"`
}

// Provenance says where an utterance came from.
type Provenance string

// The provenances of an utterance.
const (
	Declared  Provenance = "declared"  // by the tool's author or an overlay
	Borrowed  Provenance = "borrowed"  // from the archetypes most like the tool
	Learned   Provenance = "learned"   // from use
	Generated Provenance = "generated" // by a language model
)

// Utterance is a request, in a person's or an agent's words, that should find the tool. The zero Provenance means
// Declared.
type Utterance struct {
	Text string     `json:"text"`
	From Provenance `json:"from,omitempty"`
}

// Annotations are the hints a server gives about what a call does. A nil pointer means the server did not say.
type Annotations struct {
	Title           string `json:"title,omitempty"`
	ReadOnlyHint    *bool  `json:"readOnlyHint,omitempty"`
	DestructiveHint *bool  `json:"destructiveHint,omitempty"`
	IdempotentHint  *bool  `json:"idempotentHint,omitempty"`
	OpenWorldHint   *bool  `json:"openWorldHint,omitempty"`
}

// ID returns the tool's identity, "server/name".
func (t *Tool) ID() ID { return MakeID(t.Server, t.Name) }

// ReadOnly reports whether the server annotated the tool as one that changes nothing.
func (t *Tool) ReadOnly() bool {
	return t.Annotations != nil && t.Annotations.ReadOnlyHint != nil && *t.Annotations.ReadOnlyHint
}

// WithCaution puts the caution about a suspicious tool on a line of its own before text, which is what the tool says of
// itself or a part of it. So a model reads the caution first, and clients that shorten descriptions keep it. Either may
// be "": a warning of "" gives text alone.
func WithCaution(warning, text string) string {
	switch {
	case warning == "":
		return text
	case text == "":
		return "Warning: " + warning + "."
	}
	return "Warning: " + warning + ".\n" + text
}

// Hash is the SHA-256 of everything in a tool that a client or a search can see.
type Hash [sha256.Size]byte

// Hash returns the content hash: equal tools have equal hashes, and any change of a field that is content changes it.
func (t *Tool) Hash() Hash {
	h := sha256.New()
	category := t.Category
	if t.CategoryDerived { // no part of the content
		category = ""
	}
	for _, s := range []string{t.Server, t.Name, t.Title, t.Summary, t.Description, category, t.Deprecated} {
		hashBytes(h, []byte(s))
	}
	for _, raw := range [][]byte{t.InputSchema, t.OutputSchema, t.Meta, t.Icons} {
		hashBytes(h, raw)
	}
	hashStrings(h, t.Keywords)
	hashStrings(h, t.Synonyms)
	rest, err := json.Marshal(struct {
		E []Example
		U []Utterance
		A *Annotations
		R []ID
		D bool
		P bool
		// so that the hashes of tools stored before there was such a switch stay what they were
		N bool `json:",omitempty"`
	}{t.Examples, t.Utterances, t.Annotations, t.Related, t.Disabled, t.Always, t.NoBorrow})
	if err != nil { // an example's invocation that is not JSON: its bytes still count
		for _, e := range t.Examples {
			hashBytes(h, e.Invocation)
		}
	}
	hashBytes(h, rest)
	var out Hash
	h.Sum(out[:0])
	return out
}

// hashStrings writes a list with its length, so that moving a text between lists changes the hash.
func hashStrings(h hash.Hash, list []string) {
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], uint64(len(list)))
	h.Write(n[:])
	for _, s := range list {
		hashBytes(h, []byte(s))
	}
}

// hashBytes writes b behind its length, so that no two lists of fields run together to the same bytes.
func hashBytes(h hash.Hash, b []byte) {
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], uint64(len(b)))
	h.Write(n[:])
	h.Write(b)
}
