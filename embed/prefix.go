package embed

import "strings"

// Prefixes are what a model was trained to read before a query and before a document. A nil pointer in options means
// those that [PrefixesOf] returns for the model's name; a pointer to the zero Prefixes means none.
type Prefixes struct{ Query, Document string }

// PrefixesOf returns the prefixes that a model asks for, by the family that its name belongs to, and none for a model
// of no known family.
func PrefixesOf(model string) Prefixes {
	name := strings.ToLower(model)
	for _, i := range modelInstructions() {
		if strings.Contains(name, i.family) {
			return Prefixes{i.query, i.document}
		}
	}
	return Prefixes{}
}

// orDefault returns p, or the prefixes of a model where p is nil.
func (p *Prefixes) orDefault(model string) Prefixes {
	if p != nil {
		return *p
	}
	return PrefixesOf(model)
}

// instruction holds the prefixes of one family; family is a lower-case part of the model's name.
type instruction struct{ family, query, document string }

// modelInstructions lists the families. The first that occurs in a name counts, so exceptions come before the rule.
func modelInstructions() []instruction {
	const represent = "Represent this sentence for searching relevant passages: "
	return []instruction{
		{"nomic-embed-text", "search_query: ", "search_document: "},
		{"embeddinggemma", "task: search result | query: ", "title: none | text: "},
		{"qwen3-embedding", "Instruct: Given a request, find the tool that serves it\nQuery: ", ""},
		{"e5-mistral", "Instruct: Given a request, find the tool that serves it\nQuery: ", ""},
		{"bge-m3", "", ""},
		{"bge", represent, ""},
		{"mxbai-embed", represent, ""},
		{"arctic-embed2", "query: ", ""},
		{"arctic-embed-l-v2", "query: ", ""},
		{"arctic-embed-m-v2", "query: ", ""},
		{"arctic-embed", represent, ""},
		{"e5-", "query: ", "passage: "},
		{"-e5", "query: ", "passage: "},
	}
}
