package access

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"tooldex/internal/sanitize"
	"tooldex/tool"
)

// File is a file of tokens, in YAML or JSON: {"tokens": [{"name": …, "sha256": …, "profile": …, "readOnly": …,
// "expires": …, "callsPerMinute": …}]}. It holds no secrets. People may edit it too: comments and other members stay.
// Its methods are safe for concurrent use, also by several processes.
type File struct {
	Path string // "" means that there is no file
}

// maxFile is the size of the largest file that is read, in bytes.
const maxFile = 4 << 20

// Read returns the tokens of the file. For a file that does not exist the error is fs.ErrNotExist; other errors are of
// code Invalid and name the file.
func (f File) Read() ([]Token, error) {
	b, err := f.readBytes()
	if err != nil {
		return nil, err
	}
	tokens, err := ParseTokens(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	return tokens, nil
}

// readBytes reads the file, up to maxFile.
func (f File) readBytes() ([]byte, error) {
	in, err := os.Open(f.Path)
	if err != nil {
		return nil, f.readError(err)
	}
	defer func() { _ = in.Close() }() // it was only read
	b, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	switch {
	case err != nil:
		return nil, f.readError(err)
	case len(b) > maxFile:
		return nil, &tool.Error{Code: tool.Invalid, Op: "read tokens", Msg: f.Path +
			" is too large for a file of tokens"}
	}
	return b, nil
}

// readError turns an error of reading into an Invalid one that names the file.
func (f File) readError(err error) error {
	hint := "tooldex tokens add makes one"
	if !errors.Is(err, fs.ErrNotExist) {
		hint = "see who may read it"
	}
	return &tool.Error{Code: tool.Invalid, Op: "read tokens", Msg: f.Path + " cannot be read", Hint: hint, Err: err}
}

// Add adds a token, and creates the file if it does not exist. The error is of code Invalid if the name or the secret
// is taken.
func (f File) Add(t Token) error {
	if err := CheckName(t.Name); err != nil {
		return err
	}
	return f.editTokens(func(doc *yaml.Node, tokens []Token) error {
		if slices.ContainsFunc(tokens, func(have Token) bool { return have.Name == t.Name }) {
			return &tool.Error{
				Code: tool.Invalid, Op: "add token", Msg: fmt.Sprintf("there is a token %q", t.Name),
				Hint: "choose another name, or revoke it first",
			}
		}
		list, err := tokenList(doc)
		if err != nil {
			return err
		}
		var entry yaml.Node
		if err := entry.Encode(newEntry(t)); err != nil {
			return fmt.Errorf("encode token: %w", err)
		}
		list.Content = append(list.Content, &entry)
		return nil
	})
}

// Revoke removes all tokens of a name. The error is of code NotFound if there is none.
func (f File) Revoke(name string) error {
	return f.editTokens(func(doc *yaml.Node, tokens []Token) error {
		if !slices.ContainsFunc(tokens, func(have Token) bool { return have.Name == name }) {
			return &tool.Error{
				Code: tool.NotFound, Op: "revoke token", Msg: fmt.Sprintf("there is no token %q", name),
				Hint: "tooldex tokens list shows them",
			}
		}
		list, err := tokenList(doc)
		if err != nil {
			return err
		}
		kept := list.Content[:0]
		for i, entry := range list.Content {
			if tokens[i].Name != name {
				kept = append(kept, entry)
			}
		}
		list.Content = kept
		return nil
	})
}

// editTokens changes the file in one step, under the lock that keeps other processes from editing it. It edits the YAML
// document, so that comments stay, and parses the new content before it replaces the file, so that a mistake locks
// nobody out. tokens[i] belongs to the i-th entry of the document's list.
func (f File) editTokens(change func(doc *yaml.Node, tokens []Token) error) error {
	unlock, err := lockFile(f.Path)
	if err != nil {
		return err
	}
	defer unlock()
	// read under the lock, so that no other edit is lost
	before, err := f.readBytes()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	tokens, err := ParseTokens(before) // in the order of the list's entries
	if err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(before, &doc); err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	if err := change(&doc, tokens); err != nil {
		return err
	}
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(&doc), enc.Close()); err != nil {
		return fmt.Errorf("encode tokens: %w", err)
	}
	// New refuses a file that cannot be parsed, so none may be written.
	if _, err := ParseTokens(out.Bytes()); err != nil {
		return fmt.Errorf("%s would not be readable: %w", f.Path, err)
	}
	return replaceFile(f.Path, out.Bytes())
}

// tokenList returns the list of tokens in a document, after adding it if there is none.
func tokenList(doc *yaml.Node) (*yaml.Node, error) {
	if len(doc.Content) == 0 {
		doc.Kind, doc.Content = yaml.DocumentNode, []*yaml.Node{{Kind: yaml.MappingNode}}
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode { // null
		*root = yaml.Node{Kind: yaml.MappingNode, HeadComment: root.HeadComment}
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value != "tokens" {
			continue
		}
		list := root.Content[i+1]
		switch {
		case list.Kind == yaml.AliasNode:
			return nil, &tool.Error{
				Code: tool.Invalid, Op: "edit tokens", Msg: "the tokens are an alias",
				Hint: "write the list out",
			}
		case list.Kind != yaml.SequenceNode:
			*list = yaml.Node{Kind: yaml.SequenceNode}
		case len(list.Content) == 0:
			list.Style = 0 // "[]" would continue as one long line
		}
		return list, nil
	}
	list := &yaml.Node{Kind: yaml.SequenceNode}
	root.Content = append(root.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: "tokens"}, list)
	return list, nil
}

// entry is a token in the form of the file.
type entry struct {
	Name     string `yaml:"name"`
	SHA256   string `yaml:"sha256"`
	Profile  string `yaml:"profile,omitempty"`
	ReadOnly bool   `yaml:"readOnly,omitempty"`
	Expires  string `yaml:"expires,omitempty"`

	RequestsPerMinute int `yaml:"requestsPerMinute,omitempty"`
	CallsPerMinute    int `yaml:"callsPerMinute,omitempty"`
	ConcurrentCalls   int `yaml:"concurrentCalls,omitempty"`
}

// newEntry returns a token in the form of the file.
func newEntry(t Token) entry {
	e := entry{
		Name: t.Name, SHA256: hex.EncodeToString(t.Digest[:]), Profile: t.View.Profile,
		ReadOnly: t.View.ReadOnly, RequestsPerMinute: t.Limits.Requests, CallsPerMinute: t.Limits.Calls,
		ConcurrentCalls: t.Limits.Concurrent,
	}
	if !t.Expires.IsZero() {
		e.Expires = t.Expires.UTC().Format(time.RFC3339)
	}
	return e
}

// tokensHint goes with every error about the content of the file.
const tokensHint = "a token has a name and the sha256 of its secret, and may have a profile, readOnly: true, " +
	"expires: 2027-01-31, requestsPerMinute, callsPerMinute and concurrentCalls; tooldex tokens add writes it"

// ParseTokens parses the content of a file of tokens. Empty content has no tokens. Unknown members are refused, since a
// misspelled one might have limited the token. Its errors are of code Invalid.
func ParseTokens(b []byte) ([]Token, error) {
	var file struct {
		Tokens []entry `yaml:"tokens"`
	}
	dec := yaml.NewDecoder(bytes.NewReader(b))
	dec.KnownFields(true)
	if err := dec.Decode(&file); err != nil && !errors.Is(err, io.EOF) {
		return nil, invalidTokens("tokens cannot be read: %s", sanitize.YAMLMistake(err))
	}
	// an empty secret would let in requests without a token
	seen := map[[sha256.Size]byte]string{Digest(""): "no secret"}
	out := make([]Token, 0, len(file.Tokens))
	for i, e := range file.Tokens {
		t := Token{Name: cmp.Or(e.Name, fmt.Sprintf("number %d", i+1)), View: View{Profile: e.Profile, ReadOnly: e.ReadOnly}}
		t.Limits = Limits{e.RequestsPerMinute, e.CallsPerMinute, e.ConcurrentCalls}
		if err := t.Limits.Check(); err != nil {
			return nil, invalidTokens("token %q: its limits are not from 0 to %d", t.Name, maxLimit)
		}
		digest, err := hex.DecodeString(e.SHA256)
		if err != nil || len(digest) != sha256.Size {
			return nil, invalidTokens("token %q: sha256 is not 64 hexadecimal digits", t.Name)
		}
		copy(t.Digest[:], digest)
		if other, taken := seen[t.Digest]; taken {
			return nil, invalidTokens("token %q: its sha256 is that of %s", t.Name, other)
		}
		seen[t.Digest] = fmt.Sprintf("token %q", t.Name)
		if e.Expires != "" {
			if t.Expires, err = ParseExpiry(e.Expires); err != nil {
				return nil, invalidTokens("token %q: expires is neither a date nor a time as 2027-01-31T12:00:00Z",
					t.Name)
			}
		}
		out = append(out, t)
	}
	return out, nil
}

// invalidTokens returns an error about the content of a file of tokens.
func invalidTokens(format string, args ...any) error {
	return &tool.Error{Code: tool.Invalid, Op: "read tokens", Msg: fmt.Sprintf(format, args...), Hint: tokensHint}
}
