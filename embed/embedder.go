package embed

import "context"

// Model identifies what made a vector. Two vectors are comparable exactly if their models' fingerprints are equal, so
// keep the fingerprint beside stored vectors and embed anew when it differs.
type Model struct {
	Name        string // for people: "tooldex-static", "nomic-embed-text"
	Dims        int    // length of every vector
	Fingerprint string // changes whenever the same text could give another vector
}

// Document is a tool as a model reads it. The fields are pooled separately by models that can, and empty ones leave no
// trace. The zero Document gives the zero vector.
type Document struct {
	Name        string // the tool's name and its server's, in any case style: "create_issue github"
	Description string
	Parameters  string // parameter names and what is said about them, as running text
}

// Embedder turns queries and documents into vectors that can be compared by their dot product.
//
// Results are in the order of the input, and the caller owns them. Both methods are safe for concurrent use and give
// either a vector for each input or an error, never fewer. An empty input gives an empty result without any work.
type Embedder interface {
	// Model returns whose vectors these are. For a remote model it can change after a call, when the model was replaced
	// there, and Dims may be 0 until the first vector has come.
	Model() Model
	// Queries embeds requests, in any language.
	Queries(ctx context.Context, texts []string) ([][]float32, error)
	// Documents embeds tools.
	Documents(ctx context.Context, docs []Document) ([][]float32, error)
}
