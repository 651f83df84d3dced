package knowledge

import (
	"regexp"
	"strings"
)

// shapes are what a word can be told to be by its form alone, and the words that tools use for it.
var shapes = []struct {
	form  *regexp.Regexp
	words string
}{
	{regexp.MustCompile(`^(?i:https?://|www\.)\S+`), "url web page"},
	{regexp.MustCompile(`^[\w.+-]+@[\w-]+\.[a-zA-Z.]+$`), "email address"},
	{regexp.MustCompile(`^(?:[\w.-]*/)*[\w-]+(?:\.[\w-]+)*\.(?i:json|ya?ml|toml|md|txt|csv|tsv|xml|html?|css|jsx?|tsx?|mjs|py|go|rs|rb|java|kt|c|cc|cpp|h|hpp|cs|php|sh|sql|ini|cfg|conf|env|lock|log|pdf|docx?|xlsx?|pptx?|ipynb|zip|tar|gz)$`), "file"},
	{regexp.MustCompile(`^(?:~|\.{1,2})?(?:/[\w.-]+){2,}/?$`), "file directory path"},
}

// Shapes returns the words for what the words of a request are by their form: a web address, a mail address, a file's
// name, a path. It returns "" where there is none.
func Shapes(text string) string {
	if !strings.ContainsAny(text, "./@") {
		return ""
	}
	var out []string
	for _, w := range strings.Fields(text) {
		w = strings.Trim(w, `"'()[]{}<>,;:!?`+"`")
		w = strings.TrimRight(w, ".")
		for _, s := range shapes {
			if s.form.MatchString(w) {
				out = appendNew(out, strings.Fields(s.words))
				break
			}
		}
	}
	return strings.Join(out, " ")
}
