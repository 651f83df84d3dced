package embed

import "strings"

// instruction is what a family of models was trained to read before a query and before a document.
type instruction struct{ family, query, document string }

// The first family that occurs in a model's name counts, so that exceptions come before the rule.
func instructions() []instruction {
	const represent = "Represent this sentence for searching relevant passages: "
	return []instruction{
		{"nomic-embed-text", "search_query: ", "search_document: "},
		{"embeddinggemma", "task: search result | query: ", "title: none | text: "},
		{"qwen3-embedding", "Instruct: Given a request, find the tool that serves it\nQuery: ", ""},
		{"bge-m3", "", ""},
		{"bge", represent, ""},
		{"mxbai-embed", represent, ""},
		{"arctic-embed2", "query: ", ""},
		{"arctic-embed", represent, ""},
		{"e5-", "query: ", "passage: "},
		{"-e5", "query: ", "passage: "},
	}
}

func (o OllamaOptions) instruction() instruction {
	name := strings.ToLower(o.Model)
	for _, i := range instructions() {
		if strings.Contains(name, i.family) {
			return i
		}
	}
	return instruction{}
}

func (o OllamaOptions) queryPrefix() string    { return o.instruction().query }
func (o OllamaOptions) documentPrefix() string { return o.instruction().document }
