package main

import (
	"math/rand/v2"
	"slices"
	"strings"

	"tooldex/knowledge"
)

// translator puts requests into other languages, word by word, by the lexicon.
type translator struct {
	langs []string
	forms map[string]map[string][]string // by the stem of a concept and the language
}

// leastForms is how many concepts of a language make it worth to translate into it.
const leastForms = 500

// newTranslator returns a translator into the languages that the lexicon knows well.
func newTranslator(src *knowledge.Source) *translator {
	t := &translator{forms: map[string]map[string][]string{}}
	count := map[string]int{}
	for _, e := range src.Lexicon {
		concept := knowledge.Terms(e["en"][0])
		if len(concept) != 1 {
			continue
		}
		if t.forms[concept[0]] == nil {
			t.forms[concept[0]] = map[string][]string{}
		}
		for lang, forms := range e {
			if lang != "en" && len(forms) > 0 {
				t.forms[concept[0]][lang] = append(t.forms[concept[0]][lang], forms...)
				count[lang]++
			}
		}
	}
	for lang, n := range count {
		if n >= leastForms {
			t.langs = append(t.langs, lang)
		}
	}
	slices.Sort(t.langs)
	return t
}

// translate returns the words of a request in another language, some of those that the lexicon does not have left as
// they are; "" if these are the most.
func (t *translator) translate(text string, r *rand.Rand) string {
	if len(t.langs) == 0 {
		return ""
	}
	lang := pick(t.langs, r)
	var out []string
	found, lost := 0, 0
	knowledge.Words(text, func(w string) {
		terms := knowledge.Terms(w)
		if len(terms) == 0 {
			return
		}
		if forms := t.forms[terms[0]][lang]; len(forms) > 0 {
			found++
			out = append(out, pick(forms, r))
		} else if lost++; r.Float64() < .4 {
			out = append(out, w)
		}
	})
	switch {
	case found < 2 || lost > found:
		return ""
	case lang == "zh" || lang == "ja":
		return strings.Join(out, "")
	}
	return strings.Join(out, " ")
}

// pick returns one of all at random.
func pick[T any](all []T, r *rand.Rand) T { return all[r.IntN(len(all))] }

// prefixes are what people put before a request.
func prefixes() []string {
	return strings.Split("hi, |hello! |hey, |thanks! now |ok great, now |please |could you |can you please |I need to |"+
		"I'd like to |would you mind, |good morning. |sorry, |perfect, thank you. next: |great job! |quick one: |"+
		"hey there, can you help me? ", "|")
}

// suffixes are what people put behind a request.
func suffixes() []string {
	return strings.Split(" please| thanks| thank you!|, would you?|, if you can|?| for me| asap| :)|, cheers", "|")
}

// dress says some of the requests in another way: in another language, politely, or together with a second one.
func dress(all []request, t *translator, r *rand.Rand) {
	for i := range all {
		q := &all[i]
		if q.of == nil {
			continue
		}
		switch x := r.Float64(); {
		case x < .12:
			if s := t.translate(q.text, r); s != "" {
				q.text = s
			}
		case x < .17:
			q.text = pick(prefixes(), r) + q.text
		case x < .20:
			q.text += pick(suffixes(), r)
		case x < .24 && i > 0 && q.kind == answerable && all[i-1].kind == answerable:
			q.text += " and then " + all[i-1].text
		}
	}
}
