// Package embed turns text into vectors with a model that ships inside the binary.
//
// [Builtin] returns that model: a static table of 256-dimensional rows for words and pieces of words, trained on
// requests and the tools that answer them. It needs no network, no files and practically no memory beyond the binary
// itself, because rows are read in place; a request of a dozen words takes a few microseconds. No text is unknown to
// it: what is not a word of the table is spelled by its pieces, down to single characters of any script.
//
// [Model2Vec] reads a table of another make from its folder. [Ollama] and [OpenAI] ask a remote model instead;
// [Breaker] leaves one that does not answer alone for a while, and [Cache] remembers the vectors of recent queries of
// any.
//
// Every vector that an [Embedder] returns has unit length and as many components as its [Model] says, except that text
// without a single letter or digit gives the zero vector of that width. Vectors of two embedders can be compared only
// where their Model.Fingerprint is the same.
package embed
