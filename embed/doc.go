// Package embed turns text into vectors, with a model inside the binary or with another one.
//
// [Builtin] returns the model inside: a static table of 256-dimensional rows for words and pieces of words, trained on
// requests and the tools that answer them. It needs no network, no files and practically no memory beyond the binary
// itself, because rows are read in place; a request of a dozen words takes a few microseconds. No text is unknown to
// it: a word that is not in the table is spelled by its pieces, down to single characters of any script.
//
// [Model2Vec] reads a table of another make from its folder. [Ollama] and [OpenAI] ask a remote model instead;
// [Breaker] stops asking one that fails, for a while, and [Cache] remembers the vectors of recent queries of any.
//
// Every vector that an [Embedder] returns has unit length and as many components as its [Model] says, except that text
// without a single letter or digit gives the zero vector of that width. Vectors of two embedders can be compared only
// where their Model.Fingerprint is the same.
//
// The files: scan.go cuts text into runs of letters and digits, tokens.go turns runs into rows of the table, and
// static.go adds the rows up. table.go reads a table and encode.go writes one. tokenizer.go and the files of its parts
// (normalizer.go, pretokenizer.go, bpe.go, unigram.go, tokenmodel.go) follow a tokenizer.json for Model2Vec;
// safetensors.go reads its rows. remote.go holds what Ollama and OpenAI share.
//
// All embedders are safe for concurrent use. Errors of remote models are of type [Error], with a kind for errors.Is;
// those of tables wrap [ErrTable], and those of model files [ErrModelFile].
package embed
