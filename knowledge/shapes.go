package knowledge

import (
	"regexp"
	"strings"
)

// shapes lists what a word can be recognised as by its form alone, with the words that tools use for it.
// The first group of a form says more about the thing than its kind: the host, the extension.
var shapes = []struct {
	form  *regexp.Regexp
	words string
}{
	{regexp.MustCompile(`^(?i:https?://|www\.)([^/\s?#]+)\S*$`), "url web page"},
	{regexp.MustCompile(`^[\w.+-]+@[\w-]+\.[a-zA-Z.]+()$`), "email address"},
	{regexp.MustCompile(`^(?:~|\.{1,2})?(?:[\w.@-]*/)*[\w.@-]*[\w-]\.((?i:json|ya?ml|toml|md|txt|csv|tsv|xml|html?|css|jsx?|tsx?|mjs|py|go|rs|rb|java|kt|c|cc|cpp|h|hpp|cs|php|sh|sql|ini|cfg|conf|env|lock|log|pdf|docx?|xlsx?|pptx?|png|jpe?g|gif|svg|webp|mp[34]|wav|ipynb|zip|tar|gz))$`), "file"},
	{regexp.MustCompile(`^(?:~|\.{1,2})?(?:/[\w.@-]+){2,}/?()$`), "file directory path"},
}

// DescribeForms replaces what is an argument rather than a subject, as its form tells, by words for what it is: a web
// address by "url web page" and its host, a mail address, a file's name by "file" and its extension, a path. Other
// words stay.
func DescribeForms(text string) string {
	if !strings.ContainsAny(text, "./@") {
		return text
	}
	words := strings.Fields(text)
	for i, w := range words {
		bare := strings.TrimRight(strings.Trim(w, "\"'()[]{}<>,;:!?`"), ".")
		for _, s := range shapes {
			if m := s.form.FindStringSubmatch(bare); m != nil && !isProduct(bare) {
				words[i] = strings.Replace(w, bare, strings.TrimSpace(s.words+" "+m[1]), 1)
				break
			}
		}
	}
	return strings.Join(words, " ")
}

// isProduct reports whether a word with a dot is a product such as Node.js, and not a file.
func isProduct(w string) bool {
	name, ok := strings.CutSuffix(w, ".js")
	return ok && name != "" && name[0] >= 'A' && name[0] <= 'Z' && !strings.Contains(name, "/")
}
